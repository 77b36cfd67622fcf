//! The sanitiser refuses deeply nested text, and takes text that is only long.

use super::*;

/// As many levels of `tag` as are asked for, with something in the innermost.
fn nested(tag: &str, levels: usize) -> String {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    format!("{}x{}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn sec_nesting_is_bounded_and_the_refusal_says_so() {
    for tag in ["div", "dl><dd", "ul><li", "blockquote", "b", "span"] {
        let tag = tag.split("><").next().unwrap_or_default();
        assert_eq!(sanitize(&nested(tag, 100)), nested(tag, 100));
        let refused = HtmlRules::default().sanitize(&nested(tag, 101));
        assert!(refused.unwrap_err().contains("deeper than 100 levels"));
    }
    let attributes: Vec<_> = (1000..1300).map(|it| format!("a{it}=1")).collect();
    for (html, words) in [
        ("<dl><dd>".repeat(25_000), "deeper than"),
        (format!("<p {}", attributes.join(" ")), "attributes"),
    ] {
        let refused = HtmlRules::default().sanitize(&html);
        assert!(refused.unwrap_err().contains(words));
    }
}

/// Text from people and their word processors is nowhere near a limit, however long it is.
#[test]
fn what_is_long_and_well_formed_stays() {
    let rows = "<tr><td><p><b>one</b></p></td><td><ul><li>two</li></ul></td></tr>".repeat(3_000);
    let html = format!("<table><tbody>{rows}</tbody></table>");
    assert_eq!(sanitize(&html), html);
    let word = "<p class=\"MsoNormal\" style=\"margin:0cm\"><span lang=\"EN-US\"><font face=\"Arial\" size=\"2\">text<o:p></o:p></font></span></p>\n";
    let clean = sanitize(&word.repeat(1_500));
    assert_eq!(
        clean,
        "<p><span lang=\"EN-US\">text</span></p>\n".repeat(1_500)
    );
    // Elements that are closed in the wrong order, or not at all, in each of many paragraphs.
    let wrong = "<p>a <b>b <i>c</b> d</i></p>\n";
    let right = "<p>a <b>b <i>c</i></b><i> d</i></p>\n";
    assert_eq!(sanitize(&wrong.repeat(2_000)), right.repeat(2_000));
    assert_eq!(sanitize(&"<li>a".repeat(2_000)), "<li>a</li>".repeat(2_000));
    let picture = format!(
        "<p><img src=\"data:image/png;base64,{}\" alt=\"x\"></p>",
        "a/b+".repeat(50_000)
    );
    assert_eq!(sanitize(&picture), "<p><img alt=\"x\"></p>");
}
