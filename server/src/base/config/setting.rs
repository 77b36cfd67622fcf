//! The table of settings: one line gives a field its key, its variable, its default and its type.

use super::value::Value;

/// One setting, as data.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The key in the file.
    pub key: &'static str,
    /// The variable in the environment.
    pub variable: &'static str,
    /// The value when nobody sets one, as text.
    pub default: &'static str,
    /// Writes a value as it may be shown to a person: a secret is left out.
    pub show: fn(&str) -> String,
}

impl Setting {
    pub(super) const fn of<T: Value>(
        key: &'static str,
        variable: &'static str,
        default: &'static str,
    ) -> Self {
        Self {
            key,
            variable,
            default,
            show: T::show,
        }
    }
}

/// Declares the configuration's struct, the table of its settings, and how one becomes the other.
macro_rules! settings {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $($(#[$doc:meta])* $field:ident: $type:ty = $key:literal, $variable:literal, $default:literal;)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub struct $name {
            $(
                $(#[$doc])*
                #[doc = concat!("\n\nKey `", $key, "`, variable `", $variable, "`, default `\"", $default, "\"`.")]
                pub $field: $type,
            )*
            /// The settings of the linked crates: `ext.<crate>.<name>`.
            pub extensions: entity_core::setting::Settings,
        }

        /// All settings, in the order in which `lectern doctor` lists them.
        pub const SETTINGS: &[Setting] = &[$(Setting::of::<$type>($key, $variable, $default)),*];

        impl $name {
            /// Reads every value, so that all problems are told at once.
            fn read(sheet: &Sheet, problems: &mut Vec<Problem>) -> Option<Self> {
                $(let $field = sheet.read::<$type>($key, problems);)*
                let extensions = sheet.extensions(problems);
                Some(Self { $($field: $field?,)* extensions })
            }
        }
    };
}
pub(super) use settings;
