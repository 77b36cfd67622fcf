//! The sanitiser takes time proportional to the size of a text, whatever its shape.

use std::time::{Duration, Instant};

use entity_providers::base::html::HtmlRules;

/// The texts that take a parser long, as long as they are wanted: the beginning, and the part that is repeated, where
/// `#` stands for a number that is another one each time.
const SHAPES: &[(&str, &str)] = &[
    ("", "<dl><dd>"),
    ("", "<dd><dl>"),
    ("", "<li>"),
    ("", "<ul><li>"),
    ("", "<div>"),
    ("", "<div><p>"),
    ("", "<p><button>"),
    ("<button>", "<p>"),
    ("", "</p>"),
    ("", "</br>"),
    ("", "<table>"),
    ("", "<table><tr><td>"),
    ("<table>", "<b>x"),
    ("<table>", "x<tr>"),
    ("<table>", "<p>x</p>"),
    ("<table>", "<a href=#>x<td>"),
    ("", "<p>x</p><table>y</table>"),
    ("", "<b><i>x<p>"),
    ("", "<b a=#><p>"),
    ("", "<b a=#>"),
    (
        "<b a=1><b a=2><b a=3><b a=4><b a=5><i a=1><i a=2><i a=3><i a=4>",
        "<p>x",
    ),
    (
        "<p><a href=1><b><i><u><s><em><code><font color=a><font color=b>",
        "</p><p>x",
    ),
    ("", "<a><a>"),
    ("", "<a href=#><p>"),
    ("", "<a><div></a>"),
    ("", "<b><p></b>"),
    ("<b>", "<p></b>"),
    ("", "<b><div></b></div>"),
    ("", "<nobr><p>"),
    ("", "<font size=# color=#>"),
    ("<p", " a#=1"),
    ("", "<p a#=1 b#=2 c#=3 d#=4 e#=5 f#=6>"),
    ("<b", " a# <b c#='"),
    ("</p", " a#"),
    ("<p title=\"", "x "),
    ("<a href=\"http://", "\u{e4}\u{df}."),
    ("<a href=\"http://", "\u{e4}"),
    ("<a href=\"http://", "a."),
    ("<a href=\"", "../"),
    ("", "<a href=\"../x#\">y</a>"),
    ("", "<html a#>"),
    ("", "<body a#>"),
    ("", "&"),
    ("", "&amp;"),
    ("&", "a"),
    ("", "&notit;"),
    ("", "&#38;"),
    ("", "&nbsp;\u{a0}"),
    ("", "<select>"),
    ("", "<select><option>"),
    ("<select>", "<option><selectedcontent>"),
    ("<select>", "<selectedcontent></selectedcontent>"),
    ("", "<template>"),
    ("<template>", "<td></td>"),
    ("", "<template></template>"),
    ("", "<!--"),
    ("", "<!-- -->"),
    ("<!--", "--!"),
    ("", "<![CDATA["),
    ("", "<?x"),
    ("", "<!doctype "),
    ("", "<p"),
    ("", "<"),
    ("", "</"),
    ("", "<p a='"),
    ("<p a='", "<p>"),
    ("<plaintext>", "<p>"),
    ("", "<plaintext>"),
    ("", "<script>"),
    ("<script><!--", "<script>"),
    ("<style>", "</styl"),
    ("", "<svg>"),
    ("", "<svg><p>"),
    ("", "<svg><desc>"),
    ("", "<math><mi>"),
    ("<svg>", "</p>"),
    ("", "<math><annotation-xml encoding=text/html>"),
    ("", "<svg><foreignObject><svg><title>"),
    ("", "<form>"),
    ("", "<h1>"),
    ("", "<option><optgroup>"),
    ("", "<ruby><rb><rt>"),
    ("", "<applet><b>"),
    ("", "<marquee><a href=#>"),
    ("<textarea>", "</textare"),
    ("", "<frameset>"),
    ("", "<p>plain text</p>"),
    ("", "x\n"),
    ("", "<b>x</b>"),
    ("<p>", "x<br>"),
    ("", "<img src=a alt=b>"),
    ("<p>", "<b>one <i>two</b> three</i> "),
];

fn text(shape: (&str, &str), size: usize) -> String {
    let (mut text, repeated) = (shape.0.to_owned(), shape.1);
    for number in 1000.. {
        if text.len() >= size {
            break;
        }
        text.push_str(&repeated.replace('#', &number.to_string()));
    }
    text
}

fn time(rules: &HtmlRules, html: &str) -> Duration {
    let begun = Instant::now();
    let done = rules.sanitize(html);
    let time = begun.elapsed();
    drop(done);
    time
}

/// Four times the text takes four times as long: eight times, if the machine is busy or memory is slow, but not the
/// sixteen times of what is quadratic.
#[test]
fn sec_time_is_proportional_to_size_whatever_the_shape() {
    let rules = HtmlRules::default();
    let mut slow = Vec::new();
    for shape in SHAPES {
        let (small, large) = (text(*shape, 3_000), text(*shape, 12_000));
        let is_proportional = (0..6).any(|_attempt| {
            let least = Duration::from_millis(10);
            time(&rules, &large) <= 8 * time(&rules, &small).max(least)
        });
        if !is_proportional {
            slow.push(shape);
        }
    }
    assert!(slow.is_empty(), "{slow:?}");
}

/// The stored text is no longer than the sent one justifies, and sanitising it again changes nothing.
#[test]
fn sec_what_comes_out_is_bounded_and_comes_out_again() {
    let rules = HtmlRules::default();
    for shape in SHAPES {
        for size in [200, 2_000, 20_000] {
            let html = text(*shape, size);
            if let Ok(clean) = rules.sanitize(&html) {
                assert!(
                    clean.len() <= 16 * html.len() + 1_000,
                    "{shape:?}: {}",
                    clean.len()
                );
                let again = rules.sanitize(&clean);
                assert!(again.is_ok(), "{shape:?}: {again:?}");
            }
        }
    }
}
