//! The seams that formats fill: data → bytes, and bytes → data.

use std::collections::BTreeMap;

use crate::error::{Error, ErrorKind, FieldError, Result};
use crate::input::Input;
use crate::registry::{Registry, RegistryError};
use crate::reply::{Abilities, Body};

/// A format's name and media type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The extension in a URL: `json`.
    pub name: &'static str,
    /// The media type of an answer, with its parameters.
    pub media_type: &'static str,
    /// Further media types that an `Accept` header may ask for it by.
    pub aliases: &'static [&'static str],
    /// Whether programs subscribe to answers in it, so that they say when they last changed and may be had
    /// at private addresses.
    pub is_feed: bool,
}

impl Format {
    /// The media type without its parameters.
    pub fn essence(&self) -> &'static str {
        self.media_type
            .split(';')
            .next()
            .unwrap_or(self.media_type)
            .trim_end()
    }
}

/// What a renderer may know of the request besides the answer itself.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// The public address of the service, without a slash at the end.
    pub base_url: &'a str,
    /// The request's path behind `/direct`, without the format, percent-encoded, beginning with a slash.
    pub path: &'a str,
    /// The request's query as it was sent, without the question mark. Empty if there is none.
    pub query: &'a str,
    /// The address of what is shown, where it is not the path below `/direct`.
    pub own_address: Option<OwnAddress<'a>>,
    /// What else the caller may do here.
    pub abilities: Abilities,
    /// The formats that the service speaks: what the same is also there in.
    pub formats: &'a Formats,
    /// The registered types: what references lead to.
    pub registry: &'a Registry,
    /// Makes the addresses in sanitised HTML absolute, as they are seen from the address behind it.
    pub absolute: fn(&str, &str) -> String,
    /// The display name of the caller, if somebody is logged in.
    pub user: Option<&'a str>,
    /// The token that forms must carry, if the session has one.
    pub csrf_token: Option<&'a str>,
    /// Most bytes that a list may be written with.
    pub most_bytes: usize,
}

impl View<'_> {
    /// Ends the writing of a list that takes too many bytes: `written` are there behind the entity at `index`.
    ///
    /// # Errors
    /// These are too many, and it was not the first entity, which is written whatever it takes.
    pub fn check_list(&self, written: usize, index: usize) -> Result<()> {
        match written > self.most_bytes && index > 0 {
            true => Err(Error::list_too_large(index)),
            false => Ok(()),
        }
    }
}

/// An address that stands for a path below `/direct` and its query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnAddress<'a> {
    /// The absolute address, without format and query.
    pub url: &'a str,
    /// The name of the format that it ends with: what programs read there, and pages lead to.
    pub format: &'a str,
    /// What it is called.
    pub title: &'a str,
    /// For how many minutes a reader may keep what it read there.
    pub minutes: u32,
    /// What was sent as its query. The rest of [`View::query`] is known to the address.
    pub query: &'a str,
}

/// An error as clients are told about it.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The status.
    pub status: u16,
    /// The kind it came from.
    pub kind: ErrorKind,
    /// What is wrong and what to do.
    pub message: String,
    /// When, ISO 8601.
    pub timestamp: String,
    /// The request's id, to find it in the log.
    pub request_id: String,
    /// The fields of the input that were refused.
    pub fields: Vec<FieldError>,
    /// Which operation of a batch failed, counted from 0.
    pub operation: Option<usize>,
    /// The word by which programs tell this error from others with its status.
    pub code: Option<&'static str>,
}

/// Writes answers in one format.
pub trait Renderer: Send + Sync {
    /// The format.
    fn format(&self) -> Format;

    /// Whether `body` can be written in this format at all.
    fn accepts(&self, _body: &Body) -> bool {
        true
    }

    /// Writes `body`.
    ///
    /// # Errors
    /// The body can't be written: it is too deep or too large, or serialising it failed.
    fn render(&self, body: &Body, view: &View<'_>) -> Result<Vec<u8>>;

    /// Writes an error, or `None` if errors of this format are told in JSON.
    fn render_problem(&self, _problem: &Problem, _view: &View<'_>) -> Option<Vec<u8>> {
        None
    }
}

/// Reads bodies of one kind.
pub trait Parser: Send + Sync {
    /// The media type that it reads, without parameters.
    fn media_type(&self) -> &'static str;

    /// The format name by which a URL may ask for it.
    fn name(&self) -> &'static str;

    /// Reads `body`.
    ///
    /// # Errors
    /// The body is not well-formed.
    fn parse(&self, body: &[u8]) -> Result<Input>;
}

/// A format as it was submitted; made by [`register_format!`](crate::register_format).
#[derive(Clone, Copy, Debug)]
pub struct FormatRegistration {
    /// The crate that it comes from.
    pub origin: &'static str,
    /// Makes what writes it.
    pub renderer: fn() -> Box<dyn Renderer>,
    /// Makes what reads it, if bodies can be sent in it.
    pub parser: Option<fn() -> Box<dyn Parser>>,
}

inventory::collect!(FormatRegistration);

/// Registers a format: `register_format!(Csv);`, or `register_format!(Csv, CsvParser);` if bodies can be sent
/// in it. Each is an expression that makes the renderer or the parser.
#[macro_export]
macro_rules! register_format {
    ($renderer:expr $(, $parser:expr)? $(,)?) => {
        $crate::inventory::submit! {
            $crate::format::FormatRegistration {
                origin: env!("CARGO_PKG_NAME"),
                renderer: || ::std::boxed::Box::new($renderer),
                parser: $crate::register_format!(@parser $($parser)?),
            }
        }
    };
    (@parser) => { ::std::option::Option::None };
    (@parser $parser:expr) => { ::std::option::Option::Some(|| ::std::boxed::Box::new($parser)) };
}

/// The formats that a service speaks.
pub struct Formats {
    renderers: Vec<Box<dyn Renderer>>,
    parsers: Vec<Box<dyn Parser>>,
}

impl Formats {
    /// These formats. The first one is the default.
    pub fn new(renderers: Vec<Box<dyn Renderer>>, parsers: Vec<Box<dyn Parser>>) -> Self {
        Self { renderers, parsers }
    }

    /// These formats, which come from the crate `origin`, and behind them those that the linked crates
    /// registered, in the order of their names.
    ///
    /// # Errors
    /// A name is claimed twice, or can't stand at the end of a URL.
    pub fn with_registered(mut self, origin: &'static str) -> Result<Self, RegistryError> {
        let mut origins: BTreeMap<_, _> = self.all().map(|it| (it.name, origin)).collect();
        let mut registered: Vec<_> = inventory::iter::<FormatRegistration>
            .into_iter()
            .map(|it| ((it.renderer)(), it))
            .collect();
        registered.sort_by_key(|(renderer, it)| (renderer.format().name, it.origin));
        for (renderer, registration) in registered {
            let name = renderer.format().name;
            check_name(name, registration.origin)?;
            if let Some(other) = origins.insert(name, registration.origin) {
                return Err(RegistryError(format!(
                    "the format `{name}` is claimed by the crates `{other}` and `{}`: rename one of them or leave one out",
                    registration.origin
                )));
            }
            self.renderers.push(renderer);
            self.parsers.extend(registration.parser.map(|it| it()));
        }
        Ok(self)
    }

    /// All formats, the default first.
    pub fn all(&self) -> impl Iterator<Item = Format> {
        self.renderers.iter().map(|it| it.format())
    }

    /// The names of the formats that bodies are read in.
    pub fn inputs(&self) -> impl Iterator<Item = &'static str> {
        self.parsers.iter().map(|it| it.name())
    }

    /// Whether `name` is a format.
    pub fn is_format(&self, name: &str) -> bool {
        self.renderer(name).is_some()
    }

    /// The renderer of the format `name`.
    pub fn renderer(&self, name: &str) -> Option<&dyn Renderer> {
        self.renderers
            .iter()
            .find(|it| it.format().name == name)
            .map(|it| &**it)
    }

    /// The parser of the media type `essence`.
    pub fn parser(&self, essence: &str) -> Option<&dyn Parser> {
        let is_suffixed =
            |suffix: &str| essence.starts_with("application/") && essence.ends_with(suffix);
        self.parsers
            .iter()
            .find(|it| {
                it.media_type().eq_ignore_ascii_case(essence)
                    || (it.name() == "json" && is_suffixed("+json"))
                    || (it.name() == "xml"
                        && (essence.eq_ignore_ascii_case("text/xml") || is_suffixed("+xml")))
            })
            .map(|it| &**it)
    }

    /// The parser of the format `name`.
    pub fn parser_named(&self, name: &str) -> Option<&dyn Parser> {
        self.parsers
            .iter()
            .find(|it| it.name() == name)
            .map(|it| &**it)
    }

    /// The names of the formats in which `body` can be written.
    pub fn offered(&self, body: &Body) -> Vec<&'static str> {
        self.renderers
            .iter()
            .filter(|it| it.accepts(body))
            .map(|it| it.format().name)
            .collect()
    }

    /// The names of the formats in which programs can subscribe to `body`.
    pub fn offered_feeds(&self, body: &Body) -> Vec<&'static str> {
        self.renderers
            .iter()
            .filter(|it| it.format().is_feed && it.accepts(body))
            .map(|it| it.format().name)
            .collect()
    }

    /// The renderer of `name`, if it can write `body`.
    ///
    /// # Errors
    /// It can't; the error lists those that can.
    pub fn renderer_for(&self, name: &str, body: &Body) -> Result<&dyn Renderer> {
        self.renderer(name)
            .filter(|it| it.accepts(body))
            .ok_or_else(|| Error::not_acceptable(&self.offered(body)))
    }
}

/// A name is what follows the last dot of a URL.
fn check_name(name: &str, origin: &str) -> Result<(), RegistryError> {
    let is_legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    match name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_legal) {
        true => Ok(()),
        false => Err(RegistryError(format!(
            "the format `{name}` of the crate `{origin}` has an illegal name: use lower case letters and digits, a letter first"
        ))),
    }
}

impl std::fmt::Debug for Formats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.all().map(|it| it.name))
            .finish()
    }
}
