//! Addresses in sanitised HTML: relative to the root when they are stored, absolute when they are sent elsewhere.

use std::cell::RefCell;

use ammonia::Url;
use html5ever::tokenizer::{
    BufferQueue, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use proptest::prelude::*;

use super::*;

const BASE: &str = "https://lms.example/direct/note/a.html";

fn link(address: &str) -> String {
    format!("<a href=\"{address}\" rel=\"noopener noreferrer nofollow\">x</a>")
}

#[test]
fn addresses_are_stored_relative_to_the_root() {
    for (written, stored) in [
        ("pic.png?a=1&amp;b=2", "/direct/note/pic.png?a=1&amp;b=2"),
        ("/rel", "/rel"),
        ("#part", "#part"),
        ("https://example.org", "https://example.org"),
        ("mailto:a@b.example", "mailto:a@b.example"),
    ] {
        assert_eq!(sanitize(&link(written)), link(stored));
        assert_eq!(sanitize(&link(stored)), link(stored));
    }
}

#[test]
fn addresses_are_absolute_for_readers_elsewhere() {
    for (stored, read) in [
        ("/rel?a=1&amp;b=2", "https://lms.example/rel?a=1&amp;b=2"),
        ("pic.png", "https://lms.example/direct/note/pic.png"),
        ("//other.example/x", "https://other.example/x"),
        ("#part", "https://lms.example/direct/note/a.html#part"),
        ("mailto:a@b.example", "mailto:a@b.example"),
        ("https://example.org", "https://example.org"),
        (
            "/&quot;&lt;&gt;&amp;quot;&nbsp;",
            "https://lms.example/%22%3C%3E&amp;quot;%C2%A0",
        ),
    ] {
        assert_eq!(absolute(&link(stored), BASE), link(read));
    }
    for (stored, read) in [
        (
            "<p><img src=\"/pic.png\" alt=\"href=&quot;/x&quot;\"> &lt; href=\"/x\" &gt;</p>",
            "<p><img src=\"https://lms.example/pic.png\" alt=\"href=&quot;/x&quot;\"> &lt; href=\"/x\" &gt;</p>",
        ),
        (
            "<q cite=\"/x\">y</q>",
            "<q cite=\"https://lms.example/x\">y</q>",
        ),
        (
            "<p title=\" src=\">\"/x\"</p>",
            "<p title=\" src=\">\"/x\"</p>",
        ),
        // It was not written by the sanitiser, and stays as it is.
        ("<a href=/x>\" href=\"/x\"", "<a href=/x>\" href=\"/x\""),
        ("<a href=\"/x", "<a href=\"/x"),
    ] {
        assert_eq!(absolute(stored, BASE), read);
    }
    assert_eq!(absolute("<p>x</p>", "nowhere"), "<p>x</p>");
}

/// The texts and tags that a tokenizer finds in HTML, in its own words.
#[derive(Default)]
struct Found(RefCell<Vec<String>>);

impl TokenSink for Found {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut found = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => match found.last_mut() {
                Some(last) if last.starts_with('"') => last.push_str(&text),
                _ => found.push(format!("\"{text}")),
            },
            Token::TagToken(tag) => {
                found.push(format!("{:?} {}", tag.kind, tag.name));
                for attribute in tag.attrs {
                    let (name, value) = (&*attribute.name.local, &*attribute.value);
                    found.push(format!("{name}={value}"));
                }
            }
            Token::ParseError(_) | Token::EOFToken => {}
            other => found.push(format!("{other:?}")),
        }
        TokenSinkResult::Continue
    }
}

fn found_in(html: &str) -> Vec<String> {
    let tokenizer = Tokenizer::new(Found::default(), TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(html.into());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.0.into_inner()
}

/// The finding in HTML with absolute addresses, if `found` is the one without.
fn expected(found: &str, base: &Url) -> String {
    let address = ["href", "src", "cite"].into_iter().find_map(|name| {
        let address = found.strip_prefix(name)?.strip_prefix('=')?;
        Url::parse(address)
            .is_err()
            .then(|| base.join(address).ok())??;
        Some(format!("{name}={}", base.join(address).ok()?))
    });
    address.unwrap_or_else(|| found.to_owned())
}

/// HTML of pieces that matter to whoever takes HTML apart.
fn any_html() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => proptest::sample::select(vec![
            "<a href=\"", "<img src=\"", "<q cite='", "<a href=", "<p title=\"", "\"", "'", "=\"", " href=\"",
            " src=\"/x\"", ">", "<", "</a>", "</p>", "&", "&amp;", "&quot;", "&lt;", "&#34;", "\u{a0}", "&nbsp;",
            " ", "/", "//", "../", "#", "?", ":", "\\", "\t", "\n", "x", "\u{e4}", "<b>", "<i>", "</b>", "<table>",
            "<td>", "<div>", "<p>", "<svg>", "<style>", "<!--", "-->", "<select>", "<textarea>", "http://", "%22",
            "<a href=\"/rel?a=1&amp;b=2\">", "<ul><li>", "</ul>", "<br>", "<math><mi>", "<template>", "</table>",
        ]).prop_map(ToOwned::to_owned),
        1 => "\\PC{0,4}",
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|it| it.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// A tokenizer finds in both the same texts, tags and attributes, and the same values but for addresses.
    #[test]
    fn nothing_but_addresses_becomes_absolute(html in any_html()) {
        let stored = sanitize(&html);
        let base = Url::parse(BASE).unwrap();
        let wanted: Vec<_> = found_in(&stored).iter().map(|it| expected(it, &base)).collect();
        prop_assert_eq!(found_in(&absolute(&stored, BASE)), wanted);
    }

    /// Text that was not written by the sanitiser may come out in any way, but nothing is lost or found in its texts.
    #[test]
    fn what_is_made_absolute_is_so_once_and_for_all(html in any_html()) {
        let read = absolute(&sanitize(&html), BASE);
        prop_assert_eq!(absolute(&read, "https://other.example/"), read);
    }

    #[test]
    fn what_was_sanitised_is_taken_again_and_stays(html in any_html()) {
        let stored = sanitize(&html);
        prop_assert_eq!(sanitize(&stored), stored);
    }
}
