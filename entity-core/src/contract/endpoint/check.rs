//! The checks of a single declaration.

use super::{Endpoint, JSON, JSON_PATCH, MAX_PARAMETERS, MOUNT, ParameterKind};
use crate::primitives::verb::Verb;

/// The maximum number of segments of a declared path behind the mount point.
const MAX_SEGMENTS: usize = 8;

/// A segment of a declared path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Segment<'a> {
    /// A segment that must be equal.
    Literal(&'a str),
    /// A variable.
    Variable(&'a str),
}

impl Endpoint {
    /// Returns the variables of the path, each with the index of its segment behind the mount point.
    pub fn variables(&self) -> impl Iterator<Item = (usize, &'static str)> {
        let segments = segments(self.path).enumerate();
        segments.filter_map(|(index, it)| match it {
            Segment::Variable(name) => Some((index, name)),
            Segment::Literal(_) => None,
        })
    }

    /// Returns the reason why a service can't have this endpoint, if there is one.
    pub fn fault(&self) -> Option<String> {
        if self.success.is_none() {
            return Some("declares no answer".to_owned());
        }
        if !is_word(self.id) {
            return Some("needs an operation id of letters and digits".to_owned());
        }
        if self.has_too_many {
            return Some(format!("declares more than {MAX_PARAMETERS} parameters"));
        }
        if self.verb.is_safe() && self.body.is_some() {
            return Some("reads, and must not take a body".to_owned());
        }
        let media_type = match self.verb {
            Verb::Patch => JSON_PATCH,
            _ => JSON,
        };
        if self.has_handler() && self.body.is_some_and(|it| it.media_types != [media_type]) {
            return Some(format!("takes a body that is not sent as `{media_type}`"));
        }
        self.fault_of_path().or_else(|| self.fault_of_variables())
    }

    fn fault_of_path(&self) -> Option<String> {
        let rest = self.path.strip_prefix(MOUNT);
        if !rest.is_some_and(|it| it.starts_with('/')) {
            return Some(format!("must have a path below `{MOUNT}`"));
        }
        if segments(self.path).count() > MAX_SEGMENTS {
            return Some(format!(
                "must not have more than {MAX_SEGMENTS} segments behind `{MOUNT}`"
            ));
        }
        let wrong = segments(self.path).find(|it| match it {
            Segment::Literal(text) => !is_literal(text),
            Segment::Variable(name) => !is_word(name),
        })?;
        let (Segment::Literal(text) | Segment::Variable(text)) = wrong;
        Some(format!(
            "has the segment `{text}` in its path: write letters, digits, `.`, `-` and `_`, or a variable as `{{name}}`"
        ))
    }

    fn fault_of_variables(&self) -> Option<String> {
        let described: Vec<_> = self.parameters_of(ParameterKind::Variable).collect();
        let missing = described
            .iter()
            .find(|it| self.variables().all(|(_, name)| name != it.0));
        if let Some((name, _)) = missing {
            return Some(format!(
                "describes the variable `{name}`, which its path lacks"
            ));
        }
        let undescribed = self
            .variables()
            .find(|(_, name)| described.iter().all(|it| it.0 != *name));
        if let Some((_, name)) = undescribed {
            return Some(format!(
                "must describe the variable `{name}` of its path: `.variable(\"{name}\", \"…\")`"
            ));
        }
        let mut names: Vec<_> = self.parameters().map(|it| it.name).collect();
        names.extend(self.variables().map(|it| it.1));
        let is_doubled = |name: &&str| {
            let declared = self.parameters().filter(|it| it.name == *name).count();
            let in_path = self.variables().filter(|it| it.1 == *name).count();
            declared > 1 || in_path > 1
        };
        let doubled = names.into_iter().find(is_doubled)?;
        Some(format!("has the parameter `{doubled}` twice"))
    }
}

/// Returns the segments of `path` behind the mount point.
pub(super) fn segments(path: &'static str) -> impl Iterator<Item = Segment<'static>> {
    path.split('/').skip(2).map(|it| {
        let name = it.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
        name.map_or(Segment::Literal(it), Segment::Variable)
    })
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|it| it.is_ascii_alphanumeric())
}

fn is_literal(text: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || ".-_".contains(it);
    !text.is_empty() && text != "." && text != ".." && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::super::{Call, RequestBody, Success};
    use super::*;
    use crate::contract::context::Context;
    use crate::primitives::error::Result;

    async fn nothing(_cx: &Context, _call: Call) -> Result<()> {
        Ok(())
    }

    const FINE: Endpoint = Endpoint::post("/api/sites/{siteId}/loans", "lend")
        .variable("siteId", "The site.")
        .takes::<String>()
        .answers::<()>(&nothing);

    #[test]
    fn a_declaration_is_checked() {
        let at = |path, id| Endpoint::get(path, id).answers::<()>(&nothing);
        let full = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
        let full = full
            .into_iter()
            .fold(at("/api/x", "x"), |it, name| it.text(name, ""));
        for (endpoint, expected) in [
            (FINE, None),
            (Endpoint::get("/api/x", "x"), Some("declares no answer")),
            (
                Endpoint {
                    body: FINE.body,
                    ..at("/api/x", "x")
                },
                Some("must not take a body"),
            ),
            (
                FINE.body(RequestBody {
                    media_types: &["text/csv"],
                    ..FINE.body.unwrap()
                }),
                Some("not sent as"),
            ),
            (full, Some("more than 8 parameters")),
            (at("/api/x", ""), Some("operation id")),
            (at("/direct/x", "x"), Some("below `/api`")),
            (at("/apix", "x"), Some("below `/api`")),
            (at("/api/", "x"), Some("the segment ``")),
            (at("/api/a b", "x"), Some("the segment `a b`")),
            (at("/api/{*rest}", "x"), Some("the segment `*rest`")),
            (at("/api/x{y}", "x"), Some("the segment `x{y}`")),
            (
                at("/api/1/2/3/4/5/6/7/8/9", "x"),
                Some("more than 8 segments"),
            ),
            (
                at("/api/{id}", "x"),
                Some("must describe the variable `id`"),
            ),
            (
                at("/api/x", "x").variable("id", ""),
                Some("which its path lacks"),
            ),
            (
                at("/api/{id}/{id}", "x").variable("id", ""),
                Some("`id` twice"),
            ),
            (
                at("/api/x", "x").text("a", "").flag("a", ""),
                Some("`a` twice"),
            ),
        ] {
            let fault = endpoint.fault();
            let is_expected = match (&fault, expected) {
                (Some(fault), Some(expected)) => fault.contains(expected),
                (fault, expected) => fault.is_none() && expected.is_none(),
            };
            assert!(is_expected, "{endpoint:?}: {fault:?}");
        }
    }

    #[test]
    fn another_address_answers_the_same() {
        let other = FINE.also("/api/loans/sites/{siteId}", "lendInSite");
        assert_eq!((other.fault(), other.verb), (None, FINE.verb));
        assert_eq!(
            other.description(),
            "The same as `/api/sites/{siteId}/loans`."
        );
        let lost = FINE.also("/api/loans", "lendNowhere").fault().unwrap();
        assert!(lost.contains("which its path lacks"), "{lost}");
    }

    #[test]
    fn a_declaration_says_what_its_handler_answers() {
        assert!(matches!(FINE.success, Some(Success::Data(_))));
        assert!(FINE.has_handler());
        assert_eq!(FINE.variables().collect::<Vec<_>>(), [(1, "siteId")]);
    }
}
