//! The `Prefer` header (RFC 7240): how the client would like the request to be carried out and answered.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

const PREFER: HeaderName = HeaderName::from_static("prefer");
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// The preferences of a client, as far as it is known here. Anything else is left alone, as the header's rules want it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Preferences {
    /// `return=representation` or `return=minimal`.
    pub(crate) returned: Option<Returned>,
    /// `handling=strict`: what would be left out in silence is refused.
    pub(crate) is_strict: bool,
    /// `tx=rollback`: everything is done, answered, and given up.
    pub(crate) is_dry_run: bool,
}

/// The part of the result that a client wants to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returned {
    /// The entity.
    Representation,
    /// As little as possible.
    Minimal,
}

impl Preferences {
    /// The preferences in `headers`. Of one that is given twice, the first counts.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let (mut returned, mut handling, mut transaction) = (None, None, None);
        for (name, value) in pairs(headers) {
            let place = match name.as_str() {
                "return" => &mut returned,
                "handling" => &mut handling,
                "tx" => &mut transaction,
                _ => continue,
            };
            place.get_or_insert(value);
        }
        Self {
            returned: match returned.as_deref() {
                Some("representation") => Some(Returned::Representation),
                Some("minimal") => Some(Returned::Minimal),
                _ => None,
            },
            is_strict: handling.as_deref() == Some("strict"),
            is_dry_run: transaction.as_deref() == Some("rollback"),
        }
    }

    /// Tells in the answer to a request that writes which of them were followed.
    pub(crate) fn tell(self, headers: &mut HeaderMap) {
        let applied = [
            (self.is_dry_run, "tx=rollback"),
            (self.is_strict, "handling=strict"),
            (
                self.returned == Some(Returned::Representation),
                "return=representation",
            ),
            (self.returned == Some(Returned::Minimal), "return=minimal"),
        ];
        for (_, name) in applied.into_iter().filter(|it| it.0) {
            headers.append(PREFERENCE_APPLIED, HeaderValue::from_static(name));
        }
    }
}

/// The preferences with their values, in small letters and without their parameters.
fn pairs(headers: &HeaderMap) -> impl Iterator<Item = (String, String)> {
    headers
        .get_all(PREFER)
        .iter()
        .filter_map(|it| it.to_str().ok())
        .flat_map(|it| it.split(','))
        .filter_map(|it| it.split(';').next()?.split_once('='))
        .map(|(name, value)| {
            let value = value.trim().trim_matches('"');
            (name.trim().to_ascii_lowercase(), value.to_ascii_lowercase())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferences_are_read_as_the_header_spells_them() {
        let of = |lines: &[&'static str]| {
            let lines = lines
                .iter()
                .map(|it| (PREFER, HeaderValue::from_static(it)));
            Preferences::of(&lines.collect())
        };
        assert_eq!(of(&[]), Preferences::default());
        assert_eq!(
            of(&["respond-async, wait=10, nonsense"]),
            Preferences::default()
        );
        let all = of(&[
            "return=minimal; foo=bar, Handling=\"strict\"",
            "tx = rollback",
        ]);
        assert_eq!(all.returned, Some(Returned::Minimal));
        assert!(all.is_strict && all.is_dry_run);
        assert!(!of(&["tx=commit, tx=rollback"]).is_dry_run);
        assert!(!of(&["handling=lenient"]).is_strict);
    }
}
