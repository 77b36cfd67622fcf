//! Problems of a configuration, told by key.

use std::fmt;

/// One thing that is wrong with the configuration.
#[derive(derive_more::Display, Clone, Debug, PartialEq, Eq)]
#[display("`{}`: {}", self.key, self.message)]
pub struct Problem {
    /// The key, the variable or the file that it is about.
    pub key: String,
    /// The mistake, and what to do.
    pub message: String,
}

impl Problem {
    /// `key` is wrong because of `message`.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            message: message.into(),
        }
    }

    /// Those of the rules that are broken: each with its key, and with what is wrong then.
    pub fn of_broken<const N: usize>(rules: [(bool, &str, &str); N]) -> Vec<Self> {
        rules
            .into_iter()
            .filter(|(is_broken, ..)| *is_broken)
            .map(|(_, key, message)| Self::new(key, message))
            .collect()
    }
}

/// Why the service does not start. The process ends with exit code 2.
#[derive(Clone, Debug)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the configuration is wrong")?;
        self.0.iter().try_for_each(|it| write!(f, "\n  {it}"))
    }
}

impl std::error::Error for Problems {}
