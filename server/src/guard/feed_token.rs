//! The token in the address of a private feed.

use entity_core::Result;

use crate::base::mount::FEEDS;
use crate::guard::session::SessionId;

/// The text in logs that replaces a token.
const REPLACEMENT: &str = "[token]";

/// A bearer token of 256 random bits: its holder reads the feed, so it is told once and kept nowhere.
///
/// It has the form of the id of a session, and is made and hashed in the same way.
pub(crate) struct Token(SessionId);

impl Token {
    /// A new token.
    pub(crate) fn generate() -> Result<Self> {
        SessionId::generate().map(Self)
    }

    /// The token that a client presents, if it has the form of one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        SessionId::parse(text).map(Self)
    }

    /// The token itself, for the address.
    pub(crate) fn expose(&self) -> &str {
        self.0.expose()
    }

    /// Returns the hash under which the table has it.
    pub(crate) fn to_hash(&self) -> String {
        self.0.hash().to_hex()
    }
}

/// The path of a request as logs may have it: below `/feeds` nothing is left but a name behind a token,
/// whatever form the token was sent in.
pub(crate) fn without_token(path: &str) -> Option<String> {
    let rest = path.strip_prefix(FEEDS)?.strip_prefix('/')?;
    let is_name = |it: &str| {
        let stem = it.rsplit_once('.').map_or(it, |(stem, _)| stem);
        !it.contains('/') && Token::parse(stem).is_none()
    };
    Some(match rest.split_once('/') {
        Some((token, name)) if !token.is_empty() && is_name(name) => {
            format!("{FEEDS}/{REPLACEMENT}/{name}")
        }
        _ => format!("{FEEDS}/{REPLACEMENT}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_stands_in_no_log() {
        let token = Token::generate().unwrap();
        let token = token.expose();
        for (path, expected) in [
            (
                format!("/feeds/{token}/news.atom"),
                Some("/feeds/[token]/news.atom"),
            ),
            (format!("/feeds//{token}/news.atom"), Some("/feeds/[token]")),
            (format!("/feeds//{token}"), Some("/feeds/[token]")),
            (format!("/feeds/x/{token}.atom"), Some("/feeds/[token]")),
            (
                "/feeds/%41%42/news.atom".to_owned(),
                Some("/feeds/[token]/news.atom"),
            ),
            (format!("/feeds/{token}"), Some("/feeds/[token]")),
            ("/feeds".to_owned(), None),
            ("/direct/feed/1".to_owned(), None),
        ] {
            assert_eq!(without_token(&path).as_deref(), expected, "{path}");
        }
    }
}
