//! The rate limit of attempts by one account that would tell something if there were no end of them.

use std::fmt;
use std::sync::Arc;

use entity_core::{DateTimeUtc, Result};

/// The thing that is guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Guess {
    /// The present password, by somebody who has a session and may have found it.
    Password,
    /// The account of an e-mail address: a change to the address is refused if there is one.
    Address,
}

/// Counts tries. What counts is that there was one: a rehearsal, and one that is given up, is a try as well.
pub trait Tries: fmt::Debug + Send + Sync {
    /// Counts a try of `account` at `now`.
    ///
    /// # Errors
    /// It is one too many; the error says for how many seconds.
    fn ask(&self, guess: Guess, account: &str, now: DateTimeUtc) -> Result<()>;
}

/// The way of the service to count tries.
#[derive(Clone, Debug)]
pub struct TryService(pub Arc<dyn Tries>);
