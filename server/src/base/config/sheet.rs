//! The source of each setting's text: the default, the file, the environment or the arguments.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;

use entity_core::primitives::nearest;
use entity_core::setting::{SettingRegistration, Settings};

use super::orchestrator;
use super::problem::Problem;
use super::setting::Setting;
use super::value::Value;

/// The source of a setting's value. The later one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Nobody set it.
    Default,
    /// The file.
    File,
    /// The environment.
    Environment,
    /// The arguments.
    Argument,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Environment => "environment",
            Self::Argument => "argument",
        })
    }
}

/// The file, the environment and the arguments, before anything is read from them.
#[derive(derive_more::Debug, Clone, Default)]
#[debug("ConfigSources")]
pub struct ConfigSources {
    /// The name and the text of the file.
    pub file: Option<(String, String)>,
    /// The environment: those of its variables that begin with `LECTERN_`.
    pub environment: Vec<(OsString, OsString)>,
    /// Keys and values from the arguments.
    pub arguments: Vec<(String, String)>,
}

/// Variables that begin like settings and are read elsewhere.
pub const OTHER_VARIABLES: [&str; 3] = [
    "LECTERN_CONFIG",
    "LECTERN_PASSWORD",
    "LECTERN_DEMO_PASSWORD",
];

const VARIABLE_PREFIX: &str = "LECTERN_";

/// The text of every setting and where it came from.
pub(super) struct ConfigLayers {
    settings: &'static [Setting],
    /// The settings of the linked crates.
    extensions: Vec<SettingRegistration>,
    texts: BTreeMap<&'static str, (String, Source)>,
    /// Things that were ignored and are worth a look.
    pub(super) warnings: Vec<Problem>,
}

impl ConfigLayers {
    pub(super) fn new(
        settings: &'static [Setting],
        given: &ConfigSources,
        problems: &mut Vec<Problem>,
    ) -> Self {
        let extensions = SettingRegistration::all();
        let own = settings.iter().map(|it| (it.key, it.default));
        let defaults = own.chain(extensions.iter().map(|it| (it.key, it.default)));
        let texts = defaults
            .map(|(key, default)| (key, (default.to_owned(), Source::Default)))
            .collect();
        let mut sheet = Self {
            settings,
            extensions,
            texts,
            warnings: Vec::new(),
        };
        if let Some((name, text)) = &given.file {
            sheet.add_file(name, text, problems);
        }
        sheet.add_environment(&given.environment, problems);
        for (key, text) in &given.arguments {
            sheet.set(key, text.clone(), Source::Argument, problems);
        }
        sheet
    }

    /// Reads the value of `key`, which is a key of the table.
    pub(super) fn read<T: Value>(&self, key: &str, problems: &mut Vec<Problem>) -> Option<T> {
        let (text, source) = self.texts.get(key)?;
        match T::parse(text) {
            Ok(value) => Some(value),
            Err(message) => {
                problems.push(Problem::new(key, format!("{message} (from the {source})")));
                None
            }
        }
    }

    /// The settings of the linked crates, as far as somebody set them.
    pub(super) fn extensions(&self, problems: &mut Vec<Problem>) -> Settings {
        let mut settings = Settings::default();
        for extension in &self.extensions {
            let Some((text, source)) = self.texts.get(extension.key) else {
                continue;
            };
            if let Err(message) = (extension.check)(text) {
                let message = format!("{message} (from the {source})");
                problems.push(Problem::new(extension.key, message));
            }
            settings.set(extension.key, text.clone());
        }
        settings
    }

    /// Every setting with its value as it may be shown, and its source.
    pub(super) fn effective(&self) -> Vec<(&'static str, String, Source)> {
        self.settings
            .iter()
            .filter_map(|it| {
                let (text, source) = self.texts.get(it.key)?;
                Some((it.key, (it.show)(text), *source))
            })
            .chain(self.extensions.iter().filter_map(|it| {
                let (text, source) = self.texts.get(it.key)?;
                let shown = match it.is_secret() && !text.is_empty() {
                    true => "(not shown)".to_owned(),
                    false => text.clone(),
                };
                Some((it.key, shown, *source))
            }))
            .collect()
    }

    fn add_file(&mut self, name: &str, text: &str, problems: &mut Vec<Problem>) {
        match text.parse::<toml::Table>() {
            Ok(table) => self.add_table("", &table, problems),
            // The error's own text quotes the line, which may hold a password.
            Err(error) => problems.push(Problem::new(
                name,
                format!(
                    "is not TOML: {}{}",
                    error.message(),
                    line(text, error.span())
                ),
            )),
        }
    }

    fn add_table(&mut self, above: &str, table: &toml::Table, problems: &mut Vec<Problem>) {
        for (name, value) in table {
            let key = match above {
                "" => name.clone(),
                above => format!("{above}.{name}"),
            };
            match value {
                toml::Value::Table(table) => self.add_table(&key, table, problems),
                value => match text_of(value) {
                    Some(text) => self.set(&key, text, Source::File, problems),
                    None => {
                        problems.push(Problem::new(key, "must be text, a number or true or false"));
                    }
                },
            }
        }
    }

    fn add_environment(&mut self, variables: &[(OsString, OsString)], problems: &mut Vec<Problem>) {
        for (name, value) in variables {
            let name = name.to_string_lossy();
            if !name.starts_with(VARIABLE_PREFIX) || OTHER_VARIABLES.contains(&&*name) {
                continue;
            }
            match (self.key_of(&name), value.to_str()) {
                (Some(key), Some(value)) => {
                    self.set(key, value.to_owned(), Source::Environment, problems);
                }
                (Some(_), None) => problems.push(Problem::new(name, "must be UTF-8")),
                (None, value) if orchestrator::sets(&name, value.unwrap_or_default()) => {
                    let text = "is ignored: an orchestrator sets it for a service of this name";
                    self.warnings.push(Problem::new(name, text));
                }
                (None, _) => {
                    let message = self.unknown_variable(&name);
                    problems.push(Problem::new(name, message));
                }
            }
        }
    }

    /// The key of the setting that this variable of the environment sets.
    fn key_of(&self, variable: &str) -> Option<&'static str> {
        let own = self.settings.iter().find(|it| it.variable == variable);
        let other = || self.extensions.iter().find(|it| it.variable() == variable);
        own.map(|it| it.key).or_else(|| Some(other()?.key))
    }

    fn set(&mut self, key: &str, text: String, source: Source, problems: &mut Vec<Problem>) {
        match self.texts.get_mut(key) {
            Some(entry) => *entry = (text, source),
            None => problems.push(Problem::new(key, self.unknown(key, source))),
        }
    }

    fn unknown(&self, key: &str, source: Source) -> String {
        let whose = match key.starts_with("ext.") {
            true => " of a linked crate",
            false => "",
        };
        let advice = match nearest(key, self.texts.keys().copied()) {
            // Only letters are large that should not be, or the other way round.
            Some(meant) if meant.eq_ignore_ascii_case(key) => format!("write `{meant}`"),
            Some(meant) => format!("perhaps you mean `{meant}`"),
            None => "`lectern doctor --all` shows the settings".to_owned(),
        };
        format!("is not a setting{whose} (from the {source}): {advice}")
    }

    fn unknown_variable(&self, name: &str) -> String {
        let own = self.settings.iter().map(|it| it.variable.to_owned());
        let others = self.extensions.iter().map(SettingRegistration::variable);
        let variables: Vec<String> = own
            .chain(others)
            .chain(OTHER_VARIABLES.map(ToOwned::to_owned))
            .collect();
        match nearest(name, variables.iter().map(String::as_str)) {
            Some(meant) => format!("is not the variable of a setting: perhaps you mean `{meant}`"),
            None => "is not the variable of a setting: remove it from the environment; the key of a setting in upper \
                     case, with `_` for each dot, is its variable"
                .to_owned(),
        }
    }
}

/// A value as the text that the environment would hold. A list of lists has none.
fn text_of(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(it) => Some(it.clone()),
        toml::Value::Integer(it) => Some(it.to_string()),
        toml::Value::Boolean(it) => Some(it.to_string()),
        toml::Value::Array(items) => {
            let texts = items
                .iter()
                .map(|it| if it.is_array() { None } else { text_of(it) });
            Some(texts.collect::<Option<Vec<_>>>()?.join(","))
        }
        toml::Value::Float(_) | toml::Value::Datetime(_) | toml::Value::Table(_) => None,
    }
}

fn line(text: &str, span: Option<std::ops::Range<usize>>) -> String {
    span.and_then(|it| text.get(..it.start))
        .map(|before| {
            format!(
                " in line {}",
                before.matches('\n').count().saturating_add(1)
            )
        })
        .unwrap_or_default()
}
