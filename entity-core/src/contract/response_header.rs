//! Headers that a reply names.

/// A header that is sent beside the body, such as the number of accepted rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHeader {
    /// The name of the header: lower case letters, digits and `-`.
    pub name: &'static str,
    /// The value of the header. It must be visible ASCII, otherwise the header is left out.
    pub value: String,
}
