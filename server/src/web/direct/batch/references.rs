//! A batch by references: one method for many addresses.

use std::collections::HashSet;

use axum::body::Bytes;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::response::Response;
use entity_core::{Error, Result, Verb};
use serde::ser::{SerializeMap as _, Serializer as _};

use super::result::{Outcome, Told};
use super::room::{self, SizeBudget};
use super::{Part, REFERENCES};
use crate::base::media;
use crate::guard::admission::Units;
use crate::guard::admission::rate::MAX_PARTS;
use crate::web::app::App;
use crate::web::direct::body::form_pairs;
use crate::web::direct::idempotency::Key;
use crate::web::request_context::RequestContext;

/// The parameter with the separator of the references in `_refs`.
const SEPARATOR: &str = "separator";

/// A batch by references, read.
pub(super) struct References {
    parts: Vec<Reference>,
    method: Method,
    is_xml: bool,
}

/// One address.
struct Reference {
    /// Its place in the list, which its result is named after.
    index: usize,
    /// The address as the client gave it.
    given: String,
    /// The address that is requested.
    address: String,
    form: Vec<(String, String)>,
}

type Pairs = [(String, String)];

impl References {
    /// Reads the batch. Parameters named `refN.name` go to that reference only, as `name`; all others to each.
    ///
    /// # Errors
    /// There are no references, or too many; one of them leads elsewhere.
    pub(super) fn read(
        (app, context): (&App, &RequestContext),
        body: &[u8],
        query: &Pairs,
        verb: Verb,
        is_xml: bool,
    ) -> Result<Self> {
        let takes_body = matches!(verb, Verb::Post | Verb::Put);
        let sent = match takes_body {
            true => form_pairs(&context.parts.headers, body)?,
            false => Vec::new(),
        };
        let all: Vec<_> = query.iter().chain(&sent).collect();
        let listed = list(&all)?;
        if listed.is_empty() || listed.len() > MAX_PARTS {
            return Err(super::too_many());
        }
        let mut seen = HashSet::new();
        let mut parts = Vec::with_capacity(listed.len());
        for (index, given) in listed {
            let address = super::address(&given)?;
            if verb != Verb::Post && !seen.insert(address.clone()) {
                continue;
            }
            let parameters = parameters(&all, index);
            let (address, form) = match takes_body {
                true => (address, parameters),
                false => (with_parameters(address, &parameters), Vec::new()),
            };
            let address = match verb {
                Verb::Get => with_format(app, &address, if is_xml { "xml" } else { "json" }),
                _ => address,
            };
            parts.push(Reference {
                index,
                given,
                address,
                form,
            });
        }
        Ok(Self {
            parts,
            method: context.parts.method.clone(),
            is_xml,
        })
    }

    /// Counts the reads and the writes of the batch.
    pub(super) fn units(&self) -> Units {
        let parts = self.parts.len();
        match self.method.is_safe() {
            true => Units {
                reads: parts,
                writes: 0,
            },
            false => Units {
                reads: 0,
                writes: parts,
            },
        }
    }

    /// Sends them one after the other.
    pub(super) async fn run(
        &self,
        app: &App,
        outer: &RequestContext,
        key: Option<&Key>,
    ) -> Result<Response> {
        let mut outcomes = Vec::with_capacity(self.parts.len());
        let mut room = SizeBudget::of(app, self.is_xml);
        for reference in &self.parts {
            let part = self.part(reference);
            let send = async |part: Part| part.send(app, outer, key, reference.index).await;
            outcomes.push(room::fill(&mut room, outer, part, send).await?);
        }
        super::keep_apart(key, app, outer, &outcomes, |it| self.answer(outer, it)).await?;
        app.answers
            .aside(&outer.origin, || self.answer(outer, &outcomes))
    }

    fn answer(&self, outer: &RequestContext, outcomes: &[Outcome]) -> Result<Response> {
        let base_url = &outer.base_url;
        let results: Vec<_> = self
            .parts
            .iter()
            .zip(outcomes)
            .map(|(part, outcome)| (part, format!("{base_url}{}", part.address), outcome))
            .collect();
        let body = match self.is_xml {
            true => write_xml(&results)?,
            false => write_json(&results)?,
        };
        let mut response = super::respond_with(outcomes, body, self.is_xml);
        self.name(response.headers_mut(), &results);
        Ok(response)
    }

    fn part(&self, reference: &Reference) -> Result<Part> {
        let mut headers = HeaderMap::new();
        let accept = if self.is_xml {
            "application/xml"
        } else {
            "application/json"
        };
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        let form = write_form(&reference.form);
        if !form.is_empty() {
            let media_type = HeaderValue::from_static(media::FORM);
            headers.insert(CONTENT_TYPE, media_type);
        }
        Ok(Part {
            method: self.method.clone(),
            uri: reference
                .address
                .parse()
                .map_err(|error| malformed(&reference.given).with_source(error))?,
            headers,
            body: Bytes::from(form),
            answer_bytes: None,
        })
    }

    /// The headers by which existing clients find their way through the results.
    fn name(&self, headers: &mut HeaderMap, results: &[(&Reference, String, &Outcome)]) {
        let mut append = |name: &'static str, value: String| {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.append(HeaderName::from_static(name), value);
            }
        };
        append("batchmethod", self.method.to_string());
        for (reference, url, outcome) in results {
            let key = reference.key();
            append("batchrefs", reference.given.clone());
            append("batchurls", url.clone());
            append("batchmapping", format!("{key}={}", reference.given));
            append("batchstatus", outcome.status.as_str().to_owned());
            if !super::is_good(outcome.status) {
                append("batcherrors", key.clone());
            }
            append("batchkeys", key);
        }
    }
}

impl Reference {
    fn key(&self) -> String {
        format!("ref{}", self.index)
    }
}

/// The references with their places: several parameters as they are, or one taken apart.
fn list(pairs: &[&(String, String)]) -> Result<Vec<(usize, String)>> {
    let value = |name: &str| pairs.iter().find(|it| it.0 == name).map(|it| it.1.as_str());
    let given: Vec<&str> = pairs
        .iter()
        .filter(|it| it.0 == REFERENCES)
        .map(|it| it.1.as_str())
        .collect();
    let separator = value(SEPARATOR).unwrap_or(",");
    if separator.is_empty() {
        return Err(Error::field(SEPARATOR, "must not be empty"));
    }
    let texts: Vec<&str> = match given.as_slice() {
        [one] => one.split(separator).collect(),
        several => several.to_vec(),
    };
    Ok(texts
        .into_iter()
        .map(str::trim)
        .enumerate()
        .filter(|(_, it)| !it.is_empty())
        .map(|(index, it)| (index, it.to_owned()))
        .collect())
}

fn parameters(pairs: &[&(String, String)], index: usize) -> Vec<(String, String)> {
    let own = format!("ref{index}.");
    pairs
        .iter()
        .filter(|(name, _)| name != REFERENCES && name != SEPARATOR)
        .filter_map(|(name, value)| match name.strip_prefix(&own) {
            Some(name) => Some((name.to_owned(), value.clone())),
            None if is_of_another(name) => None,
            None => Some((name.clone(), value.clone())),
        })
        .collect()
}

/// Returns whether a parameter is meant for one reference.
fn is_of_another(name: &str) -> bool {
    name.strip_prefix("ref")
        .and_then(|it| it.split_once('.'))
        .is_some_and(|(number, _)| number.parse::<usize>().is_ok())
}

fn with_parameters(address: String, parameters: &Pairs) -> String {
    let query = write_form(parameters);
    match (query.is_empty(), address.contains('?')) {
        (true, _) => address,
        (false, true) => format!("{address}&{query}"),
        (false, false) => format!("{address}?{query}"),
    }
}

/// The same address, asked in the batch's own format.
fn with_format(app: &App, address: &str, format: &str) -> String {
    let (path, query) = address
        .split_once('?')
        .map_or((address, None), |(path, query)| (path, Some(query)));
    let stem = match path.rsplit_once('.') {
        Some((stem, extension)) if app.formats.is_format(extension) => stem,
        _ => path,
    };
    let query = query.map(|it| format!("?{it}")).unwrap_or_default();
    format!("{stem}.{format}{query}")
}

fn write_form(pairs: &Pairs) -> String {
    entity_formats::write_pairs(pairs.iter().map(|(name, value)| (&**name, &**value)))
}

fn malformed(given: &str) -> Error {
    Error::bad_request(format!("`{given}` is no address"))
}

fn write_json(results: &[(&Reference, String, &Outcome)]) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(super::size(results.iter().map(|it| it.2))?);
    let mut serializer = serde_json::Serializer::new(&mut bytes);
    let mut map = serializer
        .serialize_map(Some(results.len()))
        .map_err(Error::internal)?;
    for (reference, url, outcome) in results {
        let told = Told::of(outcome, Some(url)).with_reference(&reference.given);
        map.serialize_entry(&reference.key(), &told)
            .map_err(Error::internal)?;
    }
    map.end().map_err(Error::internal)?;
    Ok(bytes)
}

fn write_xml(results: &[(&Reference, String, &Outcome)]) -> Result<Vec<u8>> {
    let elements: Vec<_> = results
        .iter()
        .map(|(reference, url, outcome)| {
            let given = Some(("reference", &*reference.given));
            outcome.to_element(reference.key(), given, Some(url))
        })
        .collect();
    entity_formats::batch::write("refs", &elements)
}
