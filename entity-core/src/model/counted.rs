//! The tables that count towards the usage of accounts and sites, as types declare them.

use std::borrow::Cow;

/// A table whose rows count towards the usage of an account and a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The name of the table.
    pub table: &'static str,
    /// The column with the internal id of the account for which a row counts, if there is one.
    pub owner: Option<&'static str>,
    /// The column with the id of the site for which a row counts, if there is one.
    pub site: Option<&'static str>,
    /// The text before the id in the site column; rows without this prefix count for no site.
    pub prefix: &'static str,
    /// The columns with text that clients write, whose bytes count. Folded text, indexes, ids and dates, which the
    /// service adds itself, don't count.
    pub texts: Cow<'static, [&'static str]>,
    /// The column with the number of bytes that the rows of other tables have which belong to a row, if there is one.
    pub size: Option<&'static str>,
}

impl Counted {
    /// Declares that the rows of `table` count, with the bytes of `texts`.
    pub const fn new(table: &'static str, texts: &'static [&'static str]) -> Self {
        Self {
            table,
            owner: None,
            site: None,
            prefix: "",
            texts: Cow::Borrowed(texts),
            size: None,
        }
    }

    /// Lets the rows count for the account that `column` names.
    #[must_use]
    pub const fn owned_by(mut self, column: &'static str) -> Self {
        self.owner = Some(column);
        self
    }

    /// Lets the rows count for the site that `column` names.
    #[must_use]
    pub const fn within(mut self, column: &'static str) -> Self {
        self.site = Some(column);
        self
    }

    /// Lets the rows count for the site that `column` names after `prefix`, which must have no quotes and no wildcards.
    #[must_use]
    pub const fn within_path(mut self, column: &'static str, prefix: &'static str) -> Self {
        self.site = Some(column);
        self.prefix = prefix;
        self
    }
}
