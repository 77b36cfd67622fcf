//! The sanitiser of HTML from clients.

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::contract::access::Caller;
use crate::primitives::error::Result;

/// The sanitised text, or the reason why it is refused, as a message about its field.
pub type Sanitized = std::result::Result<String, String>;

/// The header that names the elements of a text of which only the address or the text was kept, as in `iframe math`.
pub const REPLACED: &str = "x-replaced-elements";

/// Makes HTML from clients harmless. A service has one sanitiser.
#[async_trait]
pub trait Sanitizer: Send + Sync {
    /// Returns whether sanitising `text` would keep others waiting who share this thread or the unit of work.
    fn takes_long(&self, text: &str) -> bool;

    /// Sanitises `html` on this thread. Only called for texts that do not take long.
    fn sanitize(&self, html: &str) -> Sanitized;

    /// Sanitises `html` away from this thread, on behalf of `caller`.
    ///
    /// # Errors
    /// Returns an error if too many texts are waiting to be sanitised.
    async fn sanitize_apart(&self, caller: &Caller, html: &str) -> Result<Sanitized>;
}

/// The long texts of one request, each with what the sanitiser makes of it.
pub(crate) type LongTexts = BTreeMap<String, Sanitized>;
