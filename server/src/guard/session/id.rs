//! The id of a session: the credential itself, its hash for the table, and names that are no credentials.

use entity_core::Result;
use entity_core::token::{new_token, random_text};
use sha2::{Digest as _, Sha256};

/// 256 bits as base64url without padding.
const LENGTH: usize = 43;
/// Enough bits that nobody meets the name of somebody else's session by chance.
const HANDLE_BYTES: usize = 15;

/// The id of a session. It is a bearer credential, so it is shown to nobody but its owner and is never written to the
/// table or to a log.
#[derive(derive_more::Debug, Clone, PartialEq, Eq)]
#[debug("SessionId(…)")]
pub struct SessionId(String);

/// The SHA-256 of a [`SessionId`]: all that the service keeps of it.
#[derive(derive_more::Debug, Clone, Copy, PartialEq, Eq, Hash)]
// Shows the beginning only: enough to follow one session through a log.
#[debug("IdHash({:.8}…)", self.to_hex())]
pub struct IdHash([u8; 32]);

impl SessionId {
    /// A new id, from the random source of the operating system. There is no other way to make one.
    ///
    /// # Errors
    /// The operating system has no randomness to give.
    pub fn generate() -> Result<Self> {
        new_token().map(Self)
    }

    /// The id that a client presents, if it has the form of one. It need not be the id of any session.
    pub fn parse(text: &str) -> Option<Self> {
        let is_legal = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_');
        (text.len() == LENGTH && text.bytes().all(is_legal)).then(|| Self(text.to_owned()))
    }

    /// The id itself, for the cookie and for the answer to a login.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the hash under which the table has it.
    pub fn hash(&self) -> IdHash {
        IdHash(Sha256::digest(self.0.as_bytes()).into())
    }
}

impl IdHash {
    /// The hash as the table has it: 64 hexadecimal digits.
    pub fn to_hex(self) -> String {
        hex::encode(self.0)
    }

    /// The hash that the table has as `text`.
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut hash = [0; 32];
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
            return None;
        };
        if pairs.len() != hash.len() {
            return None;
        }
        for (byte, pair) in hash.iter_mut().zip(pairs) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(hash))
    }
}

/// A new public name of a session. It is random on its own: it tells nothing about the id.
///
/// # Errors
/// The operating system has no randomness to give.
pub fn new_handle() -> Result<String> {
    random_text::<HANDLE_BYTES>()
}

/// A new token against forged requests.
///
/// # Errors
/// The operating system has no randomness to give.
pub fn new_csrf_token() -> Result<String> {
    new_token()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;

    #[test]
    fn sess_1_ids_have_256_random_bits_without_a_dot() {
        let ids: HashSet<String> = (0..10_000)
            .map(|_| SessionId::generate().unwrap().0)
            .collect();
        assert_eq!(ids.len(), 10_000);
        // Every position but the last, which holds four bits only, takes each of the 64 letters.
        for position in 0..LENGTH - 1 {
            let letters: HashSet<u8> = ids.iter().map(|it| it.as_bytes()[position]).collect();
            assert_eq!(letters.len(), 64, "position {position}");
        }
        assert!(ids.iter().all(|it| it.len() == 43 && !it.contains('.')));
        let decoded = URL_SAFE_NO_PAD.decode(ids.iter().next().unwrap()).unwrap();
        assert_eq!(decoded.len() * 8, 256);
    }

    #[test]
    fn an_id_is_never_printed() {
        let id = SessionId::generate().unwrap();
        assert_eq!(format!("{id:?}"), "SessionId(…)");
        assert!(!id.hash().to_hex().contains(id.expose()));
    }

    #[test]
    fn the_hash_is_sha_256() {
        // The digest was computed with `sha256sum`.
        let id = SessionId::parse(&"A".repeat(43)).unwrap();
        let hex = "0f007385b6f9d4b7eeb2748605afe1a984a0a3bfa3f014d09e2a784ce9e5cd1a";
        assert_eq!(id.hash().to_hex(), hex);
        assert_eq!(IdHash::from_hex(hex), Some(id.hash()));
        for wrong in [
            "",
            "0",
            "zz",
            &"0".repeat(63),
            &"g".repeat(64),
            &format!("{hex}00"),
        ] {
            assert_eq!(IdHash::from_hex(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn only_the_form_of_an_id_is_read() {
        let id = SessionId::generate().unwrap();
        assert_eq!(SessionId::parse(id.expose()), Some(id.clone()));
        for wrong in [
            String::new(),
            "A".repeat(42),
            "A".repeat(44),
            "A".repeat(42) + ".",
            "A".repeat(41) + "é",
            "A".repeat(42) + "+",
        ] {
            assert_eq!(SessionId::parse(&wrong), None, "{wrong}");
        }
    }
}
