//! Tests of the sanitiser's output: nothing hostile, everything that people write, and the same again.

mod addresses;
mod shapes;
mod typed;

use super::*;

fn sanitize(html: &str) -> String {
    let clean = HtmlRules::default().sanitize(html);
    let clean = clean.unwrap_or_else(|refusal| panic!("{html} {refusal}"));
    entity_core::html::in_type(&clean, "note")
}

/// Each of them runs a script, or takes over the page, in some browser.
const HOSTILE: &[&str] = &[
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg onload=alert(1)>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
    "<a href=\"javascript:alert(1)\">x</a>",
    "<a href=\"&#x6A;avascript:alert(1)\">x</a>",
    "<a href=\"java\nscript:alert(1)\">x</a>",
    "<a href=\"data:text/html,<script>alert(1)</script>\">x</a>",
    "<a href=\"vbscript:x\">x</a>",
    "<iframe src=https://example.org></iframe>",
    "<form action=/api/logout method=post><button>x</button></form>",
    "<style>body{display:none}</style>",
    "<p style=\"position:fixed;inset:0\">x</p>",
    "<object data=x></object><embed src=x>",
    "<meta http-equiv=refresh content=\"0;url=https://example.org\">",
    "<base href=https://example.org/>",
    "<link rel=stylesheet href=https://example.org/x.css>",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
    "<p id=current class=x>x</p>",
    "<input onfocus=alert(1) autofocus>",
    "<template><img src=x onerror=alert(1)></template>",
    "<scr<script>ipt>alert(1)</script>",
];

const FORBIDDEN: &[&str] = &[
    "<script",
    "onerror=",
    "onload=",
    "onfocus=",
    "<svg",
    "<math",
    "<style",
    "style=",
    "<iframe",
    "<form",
    "<object",
    "<embed",
    "<meta",
    "<base",
    "<link",
    "<input",
    "<button",
    "<template",
    "script:",
    "data:",
    "id=\"",
];

#[test]
fn nothing_hostile_survives() {
    for html in HOSTILE {
        let clean = sanitize(html).to_lowercase();
        // What is left of it as escaped text or in a quoted attribute is harmless.
        let tags: String = clean.split("&lt;").next().unwrap_or_default().to_owned();
        for word in FORBIDDEN {
            assert!(!tags.contains(word), "{html} → {clean} holds {word}");
        }
    }
}

#[test]
fn what_people_write_stays() {
    for html in [
        "<p>Read <b>chapter 3</b> &amp; the <i>notes</i>.</p>",
        "<ul><li>one</li><li>two</li></ul>",
        "<table><tbody><tr><td>1</td></tr></tbody></table>",
        "<img src=\"https://example.org/a.png\" alt=\"A map\">",
    ] {
        assert_eq!(sanitize(html), html);
    }
    assert_eq!(
        sanitize("<a href=\"https://example.org\">x</a>"),
        "<a href=\"https://example.org\" rel=\"noopener noreferrer nofollow\">x</a>"
    );
}

#[test]
fn sanitising_again_changes_nothing() {
    for html in HOSTILE {
        let once = sanitize(html);
        assert_eq!(sanitize(&once), once);
    }
}
