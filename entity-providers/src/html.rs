//! HTML from clients, made harmless.

use std::sync::LazyLock;

use ammonia::{Builder, Url, UrlRelative};

/// What HTML may hold: text, lists, tables, links, pictures. No scripts, styles, frames, forms, SVG or `MathML`.
static RULES: LazyLock<Builder<'static>> = LazyLock::new(rules);

fn rules() -> Builder<'static> {
    let mut rules = Builder::default();
    rules
        .url_schemes(["http", "https", "mailto", "tel"].into())
        .link_rel(Some("noopener noreferrer nofollow"))
        .strip_comments(true);
    rules
}

/// `html` without anything that could run, load a frame, send a form or restyle the page.
/// What was sanitised stays as it is when it is sanitised again.
pub fn sanitize(html: &str) -> String {
    RULES.clean(html).to_string()
}

/// `html`, which was sanitised, for readers elsewhere: with addresses as they are seen from `base`, all absolute.
pub fn absolute(html: &str, base: &str) -> String {
    match Url::parse(base) {
        Ok(base) => rules()
            .url_relative(UrlRelative::RewriteWithBase(base))
            .clean(html)
            .to_string(),
        Err(_no_address) => html.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_absolute_for_readers_elsewhere() {
        let base = "https://lms.example/direct/announcement/a.html";
        let link =
            |it: &str| format!("<a href=\"{it}\" rel=\"noopener noreferrer nofollow\">x</a>");
        for (written, read) in [
            ("/rel?a=1&amp;b=2", "https://lms.example/rel?a=1&amp;b=2"),
            ("pic.png", "https://lms.example/direct/announcement/pic.png"),
            ("//other.example/x", "https://other.example/x"),
            (
                "#part",
                "https://lms.example/direct/announcement/a.html#part",
            ),
            ("mailto:a@b.example", "mailto:a@b.example"),
        ] {
            assert_eq!(absolute(&link(written), base), link(read));
        }
        assert_eq!(
            absolute("<p><img src=\"pic.png\"> &lt;</p>", base),
            "<p><img src=\"https://lms.example/direct/announcement/pic.png\"> &lt;</p>"
        );
        assert_eq!(absolute("<p>x</p>", "nowhere"), "<p>x</p>");
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
}
