//! Settings that a crate of entity types declares, and that an operator sets like those of the service.
//!
//! ```
//! use entity_core::{Context, Result};
//!
//! entity_core::register_setting! {
//!     /// The maximum number of days that a loan takes.
//!     pub static DAYS: u32 = "days", "14";
//! }
//!
//! fn most_days(cx: &Context) -> Result<u32> {
//!     cx.setting(&DAYS)
//! }
//! ```
//!
//! The key is `ext.`, the name of the crate and the name of the setting; here, in a crate `loans`, `ext.loans.days`. The
//! environment's variable is `LECTERN_` and the key in upper case with `_` for whatever is no letter and no digit:
//! `LECTERN_EXT_LOANS_DAYS`. A value that can't be parsed stops the service at the start, as does a key that no linked
//! crate declares.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use crate::primitives::error::{Error, Result};

/// A setting whose values are of type `T`; declared by [`register_setting!`](crate::register_setting).
#[derive(derive_more::Debug)]
#[debug("Setting({})", self.key)]
pub struct Setting<T> {
    key: &'static str,
    default: &'static str,
    value: PhantomData<fn() -> T>,
}

impl<T> Setting<T> {
    #[doc(hidden)]
    pub const fn new(key: &'static str, default: &'static str) -> Self {
        Self {
            key,
            default,
            value: PhantomData,
        }
    }

    /// Returns the key, such as `ext.loans.days`.
    pub const fn key(&self) -> &'static str {
        self.key
    }
}

/// The texts that were set, by key. A setting that is not among them has its default.
#[derive(Clone, Default)]
pub struct Settings(BTreeMap<&'static str, String>);

impl Settings {
    /// Sets the setting `key` to `text`.
    pub fn set(&mut self, key: &'static str, text: String) {
        self.0.insert(key, text);
    }

    /// Returns the value of `setting`.
    ///
    /// # Errors
    /// Returns an error if the text can't be parsed, which the service checks when it starts.
    pub fn get<T: FromStr>(&self, setting: &Setting<T>) -> Result<T>
    where
        T::Err: fmt::Display,
    {
        let text = self.0.get(setting.key).map(String::as_str);
        let parsed = text.unwrap_or(setting.default).parse();
        parsed.map_err(|error: T::Err| Error::internal(format!("`{}`: {error}", setting.key)))
    }
}

/// Values may be secret.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// The registration of a setting; created by [`register_setting!`](crate::register_setting).
#[derive(Clone, Copy, Debug)]
pub struct SettingRegistration {
    /// The key, such as `ext.loans.days`.
    pub key: &'static str,
    /// The text when nobody sets one.
    pub default: &'static str,
    /// The description.
    pub doc: &'static str,
    /// Parses a text, and returns the message if it is no value of the setting.
    pub check: fn(&str) -> std::result::Result<(), String>,
}

inventory::collect!(SettingRegistration);

impl SettingRegistration {
    /// Returns the settings that the linked crates registered, in the order of their keys.
    pub fn all() -> Vec<Self> {
        let mut all: Vec<Self> = inventory::iter::<Self>.into_iter().copied().collect();
        all.sort_by_key(|it| it.key);
        all
    }

    /// Returns the name of the environment's variable.
    pub fn variable(&self) -> String {
        let letter = |it: char| match it.is_ascii_alphanumeric() {
            true => it.to_ascii_uppercase(),
            false => '_',
        };
        format!(
            "LECTERN_{}",
            self.key.chars().map(letter).collect::<String>()
        )
    }

    /// Returns whether the value must not be shown: the key ends with `password`, `secret`, `token` or `key`.
    pub fn is_secret(&self) -> bool {
        let key = self.key.to_ascii_lowercase();
        ["password", "secret", "token", "key"]
            .iter()
            .any(|it| key.ends_with(it))
    }
}

#[doc(hidden)]
pub fn check<T: FromStr>(text: &str) -> std::result::Result<(), String>
where
    T::Err: fmt::Display,
{
    let parsed = text.parse::<T>().map(drop);
    parsed.map_err(|error| error.to_string())
}

/// Declares a [`Setting`] of the crate that calls it: a documented `static` with the type of its values, its name in the
/// crate, and the text of its default. The type implements [`FromStr`], and its errors `Display`.
///
/// ```
/// entity_core::register_setting! {
///     /// The maximum number of days that a loan takes.
///     pub static DAYS: u32 = "days", "14";
/// }
/// ```
#[macro_export]
macro_rules! register_setting {
    (
        $(#[doc = $doc:literal])+
        $visibility:vis static $constant:ident: $type:ty = $name:literal, $default:literal;
    ) => {
        $(#[doc = $doc])+
        $visibility static $constant: $crate::setting::Setting<$type> = $crate::setting::Setting::new(
            concat!("ext.", env!("CARGO_PKG_NAME"), ".", $name),
            $default,
        );
        $crate::inventory::submit! {
            $crate::setting::SettingRegistration {
                key: concat!("ext.", env!("CARGO_PKG_NAME"), ".", $name),
                default: $default,
                doc: concat!($($doc),+),
                check: $crate::setting::check::<$type>,
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::register_setting! {
        /// The maximum number of days that a loan takes.
        static DAYS: u32 = "loans.mostDays", "14";
    }

    #[test]
    fn a_setting_has_its_default_until_it_is_set() {
        let mut settings = Settings::default();
        assert_eq!(settings.get(&DAYS).unwrap(), 14);
        settings.set(DAYS.key(), "7".to_owned());
        assert_eq!(settings.get(&DAYS).unwrap(), 7);
        settings.set(DAYS.key(), "many".to_owned());
        assert!(settings.get(&DAYS).is_err());
    }

    #[test]
    fn a_setting_is_registered_with_its_key_and_its_variable() {
        let all = SettingRegistration::all();
        let found = all.iter().find(|it| it.key == DAYS.key()).unwrap();
        assert_eq!(found.key, "ext.entity-core.loans.mostDays");
        assert_eq!(found.variable(), "LECTERN_EXT_ENTITY_CORE_LOANS_MOSTDAYS");
        assert_eq!(
            found.doc.trim(),
            "The maximum number of days that a loan takes."
        );
        assert!((found.check)("3").is_ok() && (found.check)("").is_err());
        assert!(!found.is_secret());
        assert_eq!(format!("{:?}", Settings::default()), "{}");
    }
}
