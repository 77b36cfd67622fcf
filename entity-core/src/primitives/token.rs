//! Tokens: random text that is a credential by itself.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::TryRng as _;
use rand::rngs::SysRng;
use sha2::{Digest as _, Sha256};

use crate::primitives::error::{Error, Result};

/// The bytes of a token that nobody guesses: 256 bits.
const BYTES: usize = 32;

/// Returns a new token of 256 random bits: 43 characters of base64url, the form of the id of a session. What has this
/// form in a path stands in no log.
///
/// # Errors
/// The operating system has no randomness to give.
pub fn new_token() -> Result<String> {
    random_text::<BYTES>()
}

/// Returns `N` random bytes as base64url without padding.
///
/// # Errors
/// The operating system has no randomness to give.
pub fn random_text<const N: usize>() -> Result<String> {
    let mut bytes = [0; N];
    SysRng.try_fill_bytes(&mut bytes).map_err(Error::internal)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Returns what a table keeps of a token: its SHA-256 as 64 hexadecimal digits. A token has so many bits that nobody finds
/// it from this.
pub fn hash(token: &str) -> String {
    hex::encode(Sha256::digest(token.as_bytes()))
}
