//! The stored text is the typed one: the text that people see is the same, and what was read can be sent back.

use entity_core::primitives::typed::{to_html, to_typed};
use html5ever::tokenizer::{
    BufferQueue, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use proptest::prelude::*;
use std::cell::RefCell;

use super::sanitize;

/// Text without markup, as people and their programs write it.
const TEXTS: &[&str] = &[
    "if x<y then swap x and y",
    "for (i = 0; i<n && a[i]>b; i++) { s<<=1; }",
    "a<b and c>d",
    "x<-3, 1<2>0, a <= b >= c, p->q, i<3",
    "ask Ada <ada@example.org> about it",
    "<https://example.org/?a=1&b=2>",
    "https://example.org/a_(b), or bob@example.org.",
    "Vec<Option<T>>",
    "List<Object> and Map<K, List<Table>>",
    "fn f<P>(p: P) -> Result<A>",
    "std::vector<std::string> v;",
    "a<b<c, x_1<x_2, f: A->B",
    "p<0.05 & n>30",
    "<my-element>",
    "<b",
    "</em>",
    "<i>",
    "<a href=",
    "<div",
    "<!-- ",
    "<?php echo 1; ?>",
    "<",
    ">",
    "&",
    "AT&T",
    "\"'`",
    "word",
    " ",
    "\n",
    "\r\n",
    "\n\n",
    "\u{e9}\u{df}\u{1f98a}",
];
/// Text that has references in HTML.
const REFERENCES: &[&str] = &["&amp;", "&lt;b&gt;", "&copy 1", "&#65;", "&unknown;"];
const MARKUP: &[&str] = &[
    "<b>bold</b>",
    "<p>paragraph</p>",
    "<ul><li>one</li><li>two</li></ul>",
    "<a href=\"https://example.org\">link</a>",
    "<br>",
    "<code class='x'>x &lt; y</code>",
    "<sub>2</sub>",
    "<table><tbody><tr><td>cell</td></tr></tbody></table>",
    "<blockquote cite=https://example.org>quoted</blockquote>",
];

/// Collects what people see: text, and where lines and paragraphs end.
#[derive(Default)]
struct Seen(RefCell<String>);

impl TokenSink for Seen {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut seen = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => seen.push_str(&text),
            Token::TagToken(tag) if &*tag.name == "br" => seen.push('\n'),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

fn seen(html: &str) -> String {
    let tokenizer = Tokenizer::new(Seen::default(), TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(html.replace("</p><p>", "\n\n").into());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.0.into_inner()
}

/// A piece of text: what it is, and whether it is markup.
fn piece() -> impl Strategy<Value = (String, bool)> {
    let of = |texts: &'static [&'static str], is_markup: bool| {
        proptest::sample::select(texts).prop_map(move |it| (it.to_owned(), is_markup))
    };
    prop_oneof![
        6 => of(TEXTS, false),
        1 => of(REFERENCES, false),
        2 => "[xyz<>&=\"'/ \n]{0,12}".prop_map(|it| (it, false)),
        1 => of(MARKUP, true),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100_000))]

    #[test]
    fn y1_the_text_that_is_seen_is_the_text_that_was_typed(
        pieces in prop::collection::vec(piece(), 0..8),
    ) {
        let typed: String = pieces.iter().map(|it| it.0.as_str()).collect();
        let stored = sanitize(&to_html(&typed).html);
        let is_markup = pieces.iter().any(|it| it.1);
        // The oracle knows which pieces are markup, and neither looks for tags nor cleans.
        let expected = match is_markup {
            false => typed.replace("\r\n", "\n").trim_end_matches('\n').to_owned(),
            true => seen(&pieces.iter().map(|(text, is_markup)| match is_markup {
                true => text.clone(),
                false => text.replace('<', "&lt;"),
            }).collect::<String>()),
        };
        prop_assert_eq!(&seen(&stored), &expected, "{} became {}", typed, stored);
        if !is_markup {
            prop_assert_eq!(to_typed(&stored), expected.as_str());
        }
        prop_assert_eq!(sanitize(&to_html(&stored).html), stored);
    }
}
