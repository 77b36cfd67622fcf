//! Tests of the line between text and markup, and of the way back.

use super::*;

fn html(text: &str) -> String {
    to_html(text).html
}

#[test]
fn y1_what_is_no_element_is_text_and_comes_back_as_it_was_typed() {
    for text in [
        "plain",
        "",
        "if x<y then swap x and y",
        "ask Ada <ada@example.org> about it",
        "a<b and c>d",
        "x < 3 && y > 4",
        "Vec<Option<T>> and List<Object>, Map<K, V>",
        "fn f<P>(p: P) -> Vec<A>",
        "std::vector<std::string> v;",
        "<b",
        "</b> and <i>",
        "<a href=\"x> no end",
        "<!-- never closed",
        "<!-- closed -->",
        "<?php echo 1; ?>",
        "see <https://example.org/a?b=1&c=2>",
        "AT&T &amp; R&D &lt;b&gt; &copy;",
        "one\ntwo\n\nthree\n\n\nfour\n\n\n\nfive",
        "\n\n  indented\n",
        "a\u{a0}b",
        "x<br y",
        "List<Input> of Vec<Img>",
        "(https://example.org/a_(b)). ada@example.org, \"bob@example.org\"",
    ] {
        let typed = to_html(text);
        assert!(typed.is_plain && typed.replaced.is_empty(), "{text}");
        assert_eq!(
            to_typed(&typed.html),
            text.trim_end_matches('\n'),
            "{}",
            typed.html
        );
        assert_eq!(
            html(&typed.html),
            typed.html,
            "what was read can be sent back"
        );
    }
}

#[test]
fn y1_markup_stays_and_what_stands_beside_it_is_text() {
    for (text, expected) in [
        (
            "<b>x<y</b> & <ada@example.org>",
            "<b>x&lt;y</b> & &lt;ada@example.org>",
        ),
        ("<P class=x>one<p>two", "<P class=x>one&lt;p>two"),
        ("<ul><li>one <li>two</ul>", "<ul><li>one <li>two</ul>"),
        ("a<br>b<BR/>c", "a<br>b<BR/>c"),
        ("<i>x</i></b>", "<i>x</i>&lt;/b>"),
        (
            "<!DOCTYPE html><!-- <b> --><p title='a>b'>x</p>",
            "<p title='a>b'>x</p>",
        ),
        ("<img src=a.png alt>", "<img src=a.png alt>"),
        ("<p>x<o:p></o:p></p>", "<p>x<o:p></o:p></p>"),
        ("<p>&lt;b&gt;x&lt;/b&gt;</p>", "<p>&lt;b&gt;x&lt;/b&gt;</p>"),
    ] {
        assert_eq!(html(text), expected, "{text}");
        assert_eq!(to_typed(expected), expected, "markup is edited as markup");
    }
}

#[test]
fn y1_what_no_page_shows_leaves_its_address_or_its_text() {
    for (text, expected, replaced) in [
        (
            "<p><iframe src=\"//v.example/1?a=1&amp;b=2\" allowfullscreen>no frames</iframe></p>",
            "<p><a href=\"https://v.example/1?a=1&amp;b=2\">https://v.example/1?a=1&amp;b=2</a></p>",
            "iframe",
        ),
        (
            "<video controls><source src=\"/a.mp4\">no film</video>",
            "<a href=\"/a.mp4\">/a.mp4</a>no film",
            "source video",
        ),
        ("<embed src=javascript:alert(1)>", "", "embed"),
        ("<svg/onload=x>kept", "kept", "svg"),
        (
            "<object data=a.swf>x</object>",
            "<a href=\"a.swf\">a.swf</a>x",
            "object",
        ),
        (
            "<math><mi>x</mi><annotation encoding=\"application/x-tex\">x^2 &lt; 1</annotation></math>",
            "x^2 &lt; 1",
            "math",
        ),
        ("a <math><mi>x</mi><mo>&lt;</mo></math>", "a x &lt;", "math"),
        ("<svg><text>one</text></svg> two", "one two", "svg"),
        ("x<script>if (a<b) c()</script>y", "xy", "script"),
        ("<style>p { color: red }</style><p>x</p>", "<p>x</p>", ""),
        (
            "<img alt=x src=data:image/png;base64,AA==>",
            "<img alt=x src=data:image/png;base64,AA==>",
            "img",
        ),
    ] {
        let typed = to_html(text);
        assert_eq!(typed.html, expected, "{text}");
        let names: Vec<_> = typed.replaced.into_iter().collect();
        assert_eq!(names.join(" "), replaced, "{text}");
    }
}

#[test]
fn y2_lines_of_plain_text_are_kept() {
    for (text, expected) in [
        ("one", "one"),
        ("one\r\ntwo", "<p>one<br>two</p>"),
        ("one\n\ntwo\n", "<p>one</p><p>two</p>"),
        ("1 < 2", "<p>1 &lt; 2</p>"),
        ("a & b", "<p>a &amp; b</p>"),
    ] {
        assert_eq!(html(text), expected);
    }
}

#[test]
fn texts_of_earlier_versions_are_edited_as_they_are_read() {
    for (stored, typed) in [
        ("a &amp; b", "a & b"),
        ("one\ntwo", "one\ntwo"),
        ("&lt;b&gt;x&lt;/b&gt;", "&lt;b&gt;x&lt;/b&gt;"),
        ("<p>x <b>y</b></p>", "<p>x <b>y</b></p>"),
    ] {
        assert_eq!(to_typed(stored), typed);
    }
}
