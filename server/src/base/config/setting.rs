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

/// Declares the configuration's struct, with a field for each section, and the table of all settings.
///
/// Rows in braces before a section are fields of the configuration itself.
macro_rules! settings {
    (
        $(#[$about:meta])*
        pub struct $name:ident;
        $(
            $({
                $($(#[$doc:meta])* $field:ident: $type:ty = $key:literal, $variable:literal, $default:literal;)*
            })?
            $(#[$summary:meta])*
            $section:ident: $Section:ident $rows:tt
        )*
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub struct $name {
            $(
                $($(
                    $(#[$doc])*
                    #[doc = concat!("\n\nKey `", $key, "`, variable `", $variable, "`, default `\"", $default, "\"`.")]
                    pub $field: $type,
                )*)?
                $(#[$summary])*
                pub $section: $Section,
            )*
            /// The settings of the linked crates: `ext.<crate>.<name>`.
            pub extensions: entity_core::setting::Settings,
            /// Every setting with its value as it may be shown, and its source.
            pub effective: Vec<(&'static str, String, Source)>,
        }

        $(section! { $(#[$summary])* pub struct $Section $rows })*

        /// All settings, in the order in which `lectern doctor` lists them.
        pub static SETTINGS: LazyLock<Vec<Setting>> = LazyLock::new(|| {
            let sections: &[&[Setting]] = &[$(
                $(&[$(Setting::of::<$type>($key, $variable, $default)),*],)?
                $Section::SETTINGS,
            )*];
            sections.concat()
        });

        impl $name {
            /// Reads every value, so that all problems are told at once.
            fn read(sheet: &ConfigLayers, problems: &mut Vec<Problem>) -> Option<Self> {
                $(
                    $($(let $field = sheet.read::<$type>($key, problems);)*)?
                    let $section = $Section::read(sheet, problems);
                )*
                let extensions = sheet.extensions(problems);
                let effective = sheet.effective();
                Some(Self { $($($($field: $field?,)*)? $section: $section?,)* extensions, effective })
            }
        }
    };
}
pub(super) use settings;

/// Declares the struct of a section, the table of its settings, and how one becomes the other.
///
/// A section that is declared elsewhere has a semicolon in place of its rows.
macro_rules! section {
    ($(#[$about:meta])* pub struct $name:ident ;) => {};
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
        }

        impl $name {
            pub(in crate::base::config) const SETTINGS: &[Setting] = &[$(Setting::of::<$type>($key, $variable, $default)),*];

            pub(in crate::base::config) fn read(sheet: &ConfigLayers, problems: &mut Vec<Problem>) -> Option<Self> {
                $(let $field = sheet.read::<$type>($key, problems);)*
                Some(Self { $($field: $field?,)* })
            }
        }
    };
}
pub(super) use section;
