//! The conversion of HTML to the text that people read in it and search for.

use std::cell::RefCell;

use html5ever::tokenizer::{
    BufferQueue, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

/// The elements that do not end a word: `<b>Z</b>ebra` is one.
const INLINE: [&str; 30] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strike", "strong",
    "sub", "sup", "tt", "u", "wbr",
];

/// Returns the text of `html`: without tags and comments, with character references resolved, and with one space
/// wherever there is white space or another block begins.
pub fn plain_text(html: &str) -> String {
    text_of(html)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the text of `html` as [`plain_text`] does, but with a line for each block.
pub(crate) fn plain_lines(html: &str) -> String {
    let text = text_of(html);
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines = text.split('\n').map(words).filter(|it| !it.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the text between the tags of `html`, in which a line ends only where a block does.
fn text_of(html: &str) -> String {
    let tokenizer = Tokenizer::new(Reader::default(), TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(html.into());
    // There are no scripts that could stop it.
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.0.into_inner()
}

/// A token sink that collects the text that was read so far.
#[derive(Default)]
struct Reader(RefCell<String>);

impl TokenSink for Reader {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        match token {
            Token::CharacterTokens(text) => {
                self.0
                    .borrow_mut()
                    .push_str(&text.replace(['\n', '\r'], " "));
            }
            Token::TagToken(tag) if !INLINE.contains(&&*tag.name) => self.0.borrow_mut().push('\n'),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_what_people_read() {
        for (html, text) in [
            ("", ""),
            ("plain", "plain"),
            ("<p>R&amp;D …</p>", "R&D …"),
            ("<p>one</p><p>two<br>three</p>", "one two three"),
            ("<em>Z</em>ebra<!-- no --> <b>x</b>", "Zebra x"),
            (
                "<a href=\"https://example.org/?a=1&amp;b=2\" rel=\"noopener\" title=\"a > b\">here</a>",
                "here",
            ),
            ("a\u{a0}&nbsp; b\n\tc", "a b c"),
            (
                "1 &lt; 2 &gt; 0 &quot;&#39;&auml;&quot;",
                "1 < 2 > 0 \"'ä\"",
            ),
            ("&lt;em&gt; is a tag", "<em> is a tag"),
            ("<ul><li>a</li><li>b</li></ul><img alt=\"c\">d", "a b d"),
            ("a < b & c", "a < b & c"),
            ("&amp;amp;", "&amp;"),
        ] {
            assert_eq!(plain_text(html), text, "{html}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_comes_back_from_html(text in "\\PC{0,80}") {
            let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let expected = text.split_whitespace().collect::<Vec<_>>().join(" ");
            proptest::prop_assert_eq!(plain_text(&format!("<p class=\"x\">{html}</p>")), expected);
        }
    }
}
