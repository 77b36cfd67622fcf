//! The interfaces that formats implement: a renderer writes answers as bytes, a parser reads bodies from bytes.

use std::collections::BTreeMap;

use crate::DateTimeUtc;
use crate::contract::input::Input;
use crate::contract::registry::{Registry, RegistryError};
use crate::contract::reply::{AllowedActions, Body};
use crate::primitives::error::{Error, ErrorKind, FieldError, Result};

/// The description of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The name, which is the extension in a URL, such as `json`.
    pub name: &'static str,
    /// The media type of an answer, with its parameters.
    pub media_type: &'static str,
    /// Further media types by which an `Accept` header may ask for this format.
    pub aliases: &'static [&'static str],
    /// True if programs subscribe to answers in this format. An answer with one entity then carries the date of its
    /// entry in feeds or calendars, and the format is offered at private addresses.
    pub is_feed: bool,
}

impl Format {
    /// Returns the media type without its parameters.
    pub fn essence(&self) -> &'static str {
        self.media_type
            .split(';')
            .next()
            .unwrap_or(self.media_type)
            .trim_end()
    }
}

/// The facts about a request that a renderer may use besides the answer itself.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// The public URL of the service, without a trailing slash.
    pub base_url: &'a str,
    /// The path of the request behind `/direct`, percent-encoded, with a leading slash and without the format.
    pub path: &'a str,
    /// The query of the request as it was sent, without the question mark; empty if there is none.
    pub query: &'a str,
    /// The instant of the request.
    pub now: DateTimeUtc,
    /// The address of the answer, if it is another one than the path below `/direct`.
    pub own_address: Option<OwnAddress<'a>>,
    /// The operations that the caller may do from here.
    pub allowed_actions: AllowedActions,
    /// The formats of the service, in which the same content may also be offered.
    pub formats: &'a Formats,
    /// The registered types, which references lead to.
    pub registry: &'a Registry,
    /// Returns sanitised HTML (the first argument) with its URLs made absolute, relative to a base URL (the second
    /// one).
    pub absolute: fn(&str, &str) -> String,
    /// The display name of the caller, if the caller is logged in.
    pub user: Option<&'a str>,
    /// The CSRF token that forms must carry, if there is a session.
    pub csrf_token: Option<&'a str>,
    /// The maximum number of bytes of a rendered list.
    pub most_bytes: usize,
}

impl View<'_> {
    /// Checks the size of a list while it is rendered; `written` is the number of bytes so far, up to and including the
    /// entity at `index`.
    ///
    /// # Errors
    /// Returns an error if these are more than the limit, except for the first entity, which is rendered whatever its
    /// size.
    pub fn check_list(&self, written: usize, index: usize) -> Result<()> {
        match written > self.most_bytes && index > 0 {
            true => Err(Error::list_too_large(index)),
            false => Ok(()),
        }
    }
}

/// An address that stands for a path below `/direct` and its query, such as that of a private feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnAddress<'a> {
    /// The absolute URL, without format and query.
    pub url: &'a str,
    /// The name of the format at the end of the address, which programs read and pages link to.
    pub format: &'a str,
    /// The title of the content.
    pub title: &'a str,
    /// The number of minutes for which a reader may cache the content.
    pub minutes: u32,
    /// The query as it was sent to this address. The rest of [`View::query`] is stored with the address.
    pub query: &'a str,
}

/// An error as it is reported to clients.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The HTTP status code.
    pub status: u16,
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The message: what is wrong and what to do.
    pub message: String,
    /// The time of the error, as ISO 8601.
    pub timestamp: String,
    /// The id of the request, by which it is found in the log.
    pub request_id: String,
    /// The fields of the input that were refused.
    pub fields: Vec<FieldError>,
    /// The index of the operation of a batch that failed, counted from 0.
    pub operation: Option<usize>,
    /// The code by which programs tell this error from others with its status.
    pub code: Option<&'static str>,
}

/// Writes answers in one format.
pub trait Renderer: Send + Sync {
    /// Returns the format.
    fn format(&self) -> Format;

    /// Returns whether `body` can be rendered in this format at all.
    fn accepts(&self, _body: &Body) -> bool {
        true
    }

    /// Renders `body`.
    ///
    /// # Errors
    /// Returns an error if the body can't be rendered: it is too deep or too large, or its serialisation fails.
    fn render(&self, body: &Body, view: &View<'_>) -> Result<Vec<u8>>;

    /// Renders an error, or returns `None` if errors in this format are reported as JSON.
    fn render_problem(&self, _problem: &Problem, _view: &View<'_>) -> Option<Vec<u8>> {
        None
    }
}

/// Parses request bodies of one media type.
pub trait Parser: Send + Sync {
    /// Returns the media type that this parser reads, without parameters.
    fn media_type(&self) -> &'static str;

    /// Returns the name of the format, by which a URL may ask for this parser.
    fn name(&self) -> &'static str;

    /// Parses `body`.
    ///
    /// # Errors
    /// Returns an error if the body is not well-formed.
    fn parse(&self, body: &[u8]) -> Result<Input>;
}

/// The registration of a format; created by [`register_format!`](crate::register_format).
#[derive(Clone, Copy, Debug)]
pub struct FormatRegistration {
    /// The name of the crate that registers the format.
    pub origin: &'static str,
    /// The constructor of the renderer.
    pub renderer: fn() -> Box<dyn Renderer>,
    /// The constructor of the parser, if bodies can be sent in this format.
    pub parser: Option<fn() -> Box<dyn Parser>>,
}

inventory::collect!(FormatRegistration);

/// Registers a format: `register_format!(Csv);`, or `register_format!(Csv, CsvParser);` if bodies can be sent in it.
/// Each argument is an expression that creates the renderer or the parser.
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

/// The formats that a service supports.
pub struct Formats {
    renderers: Vec<Box<dyn Renderer>>,
    parsers: Vec<Box<dyn Parser>>,
}

impl Formats {
    /// Creates the set of these formats. The first renderer is the default.
    pub fn new(renderers: Vec<Box<dyn Renderer>>, parsers: Vec<Box<dyn Parser>>) -> Self {
        Self { renderers, parsers }
    }

    /// Appends the formats that the linked crates registered, in the order of their names. The formats so far come from
    /// the crate `origin`.
    ///
    /// # Errors
    /// Returns an error if a name is claimed twice, or can't stand at the end of a URL.
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

    /// Returns all formats, the default first.
    pub fn all(&self) -> impl Iterator<Item = Format> {
        self.renderers.iter().map(|it| it.format())
    }

    /// Returns the names of the formats in which bodies can be sent.
    pub fn inputs(&self) -> impl Iterator<Item = &'static str> {
        self.parsers.iter().map(|it| it.name())
    }

    /// Returns whether `name` is the name of a format.
    pub fn is_format(&self, name: &str) -> bool {
        self.renderer(name).is_some()
    }

    /// Returns the renderer of the format `name`.
    pub fn renderer(&self, name: &str) -> Option<&dyn Renderer> {
        self.renderers
            .iter()
            .find(|it| it.format().name == name)
            .map(|it| &**it)
    }

    /// Returns the parser for the media type `essence`. The parser `json` also reads `application/…+json`; the parser
    /// `xml` also reads `text/xml` and `application/…+xml`.
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

    /// Returns the parser of the format `name`.
    pub fn parser_named(&self, name: &str) -> Option<&dyn Parser> {
        self.parsers
            .iter()
            .find(|it| it.name() == name)
            .map(|it| &**it)
    }

    /// Returns the names of the formats in which `body` can be rendered.
    pub fn offered(&self, body: &Body) -> Vec<&'static str> {
        self.renderers
            .iter()
            .filter(|it| it.accepts(body))
            .map(|it| it.format().name)
            .collect()
    }

    /// Returns the names of the formats in which programs can subscribe to `body`.
    pub fn offered_feeds(&self, body: &Body) -> Vec<&'static str> {
        self.renderers
            .iter()
            .filter(|it| it.format().is_feed && it.accepts(body))
            .map(|it| it.format().name)
            .collect()
    }

    /// Returns the renderer of the format `name`, if it can render `body`.
    ///
    /// # Errors
    /// Returns an error if it can't; the error lists the formats that can.
    pub fn renderer_for(&self, name: &str, body: &Body) -> Result<&dyn Renderer> {
        self.renderer(name)
            .filter(|it| it.accepts(body))
            .ok_or_else(|| Error::not_acceptable(&self.offered(body)))
    }
}

/// Checks that `name` is legal behind the last dot of a URL: lower case letters and digits, a letter first.
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
