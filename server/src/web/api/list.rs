//! All endpoints of a service: its own, and those that the linked crates registered.

use std::collections::{BTreeMap, HashMap};

use entity_core::Registry;
use entity_core::endpoint::{Endpoint, EndpointRegistration, MOUNT};
use entity_core::engine::RegistryError;
use entity_formats::openapi::Document;
use matchit::{InsertError, Router};

/// All endpoints, and which of them has which path. It is made once, when the service starts.
#[derive(Debug)]
pub struct Endpoints {
    all: Vec<Listed>,
    /// The places in the list of those that have a path.
    router: Router<Vec<usize>>,
}

/// An endpoint in the list of the service.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    /// The name of the crate that it comes from.
    pub origin: &'static str,
    /// The declaration.
    pub endpoint: &'static Endpoint,
    pub(super) handler: Handler,
}

/// The function that runs an endpoint.
#[derive(Clone, Copy, Debug)]
pub(super) enum Handler {
    /// A part of the service: the one at this place of its list.
    Own(usize),
    /// The handler of its declaration.
    Registered,
}

impl Endpoints {
    /// Creates the list of `own`, the endpoints of the service itself, and of `registered`.
    ///
    /// # Errors
    /// Returns an error if a declaration is wrong or two contradict each other. The error names the crates.
    pub(super) fn of_both(
        own: impl Iterator<Item = &'static Endpoint>,
        registered: impl IntoIterator<Item = EndpointRegistration>,
    ) -> Result<Self, RegistryError> {
        let own = own.enumerate().map(|(index, endpoint)| Listed {
            origin: env!("CARGO_PKG_NAME"),
            endpoint,
            handler: Handler::Own(index),
        });
        let registered = registered.into_iter().map(Listed::registered);
        Self::new(own.chain(registered).collect())
    }

    fn new(all: Vec<Listed>) -> Result<Self, RegistryError> {
        let mut by_path: BTreeMap<&'static str, Vec<usize>> = BTreeMap::new();
        for (index, listed) in all.iter().enumerate() {
            listed.check()?;
            let earlier = all.iter().take(index);
            for other in earlier {
                listed.check_beside(other)?;
            }
            by_path.entry(listed.endpoint.path).or_default().push(index);
        }
        let mut router = Router::new();
        for (path, indices) in by_path {
            let inserted = router.insert(path, indices);
            inserted.map_err(|error| unroutable(&all, path, &error))?;
        }
        Ok(Self { all, router })
    }

    /// All of them: those of the service, then the others by their paths.
    pub fn iter(&self) -> impl Iterator<Item = &'static Endpoint> {
        self.all.iter().map(|it| it.endpoint)
    }

    /// Refuses an operation id that two operations of `document` have, which describes these endpoints and all types.
    ///
    /// # Errors
    /// An id is claimed twice. The error names the crates.
    pub(crate) fn check_beside(
        &self,
        registry: &Registry,
        document: &Document,
    ) -> Result<(), RegistryError> {
        let mut paths = HashMap::new();
        for (_, path, operation) in document.operations() {
            let id = operation.operation_id.as_str();
            if let Some(other) = paths.insert(id, path) {
                let what = format!("the operation id `{id}`");
                let mut origins = [other, path].map(|it| self.origin(registry, it));
                origins.sort_unstable();
                let [one, other] = origins;
                return Err(conflict(&what, one, other));
            }
        }
        Ok(())
    }

    /// Returns the name of the crate that serves `path`.
    fn origin(&self, registry: &Registry, path: &str) -> &'static str {
        let own = self.all.iter().find(|it| it.endpoint.path == path);
        let of_type = || {
            let prefix = path.split('/').nth(2)?;
            registry.route(prefix).map(|it| it.origin.0)
        };
        let found = own.map(|it| it.origin).or_else(of_type);
        found.unwrap_or(env!("CARGO_PKG_NAME"))
    }

    /// Returns the endpoints at the path of these segments, whatever their verbs.
    pub(super) fn at(&self, segments: &[String]) -> Vec<Listed> {
        let path = path_of(segments);
        let indices = self.router.at(&path).map(|it| it.value.as_slice());
        let indices = indices.unwrap_or_default().iter();
        indices
            .filter_map(|it| self.all.get(*it).copied())
            .collect()
    }
}

/// The path of `segments`, encoded so that each stays one.
fn path_of(segments: &[String]) -> String {
    let encoded = segments.iter().map(|it| entity_core::encode_segment(it));
    encoded.fold(MOUNT.to_owned(), |path, it| path + "/" + &it)
}

impl Listed {
    fn registered(it: EndpointRegistration) -> Self {
        Self {
            origin: it.origin,
            endpoint: it.endpoint,
            handler: Handler::Registered,
        }
    }

    /// Returns the name of the endpoint for people.
    fn name(&self) -> String {
        format!("`{} {}`", self.endpoint.verb.name(), self.endpoint.path)
    }

    fn check(&self) -> Result<(), RegistryError> {
        let has_none = matches!(self.handler, Handler::Registered) && !self.endpoint.has_handler();
        let fault = has_none.then(|| "declares no handler: `.answers(&…)`".to_owned());
        match fault.or_else(|| self.endpoint.fault()) {
            None => Ok(()),
            Some(fault) => Err(RegistryError(format!(
                "the endpoint {} of the crate `{}` {fault}",
                self.name(),
                self.origin
            ))),
        }
    }

    fn check_beside(&self, earlier: &Self) -> Result<(), RegistryError> {
        let (own, other) = (self.endpoint, earlier.endpoint);
        if (own.verb, own.path) == (other.verb, other.path) {
            return Err(conflict(&self.name(), earlier.origin, self.origin));
        }
        if own.id == other.id {
            let what = format!("the operation id `{}`", own.id);
            return Err(conflict(&what, earlier.origin, self.origin));
        }
        Ok(())
    }
}

fn conflict(what: &str, one: &str, other: &str) -> RegistryError {
    RegistryError(format!(
        "{what} is claimed by the crates `{one}` and `{other}`: rename one of them or leave one out"
    ))
}

/// Why `path` can't be told from those before it.
fn unroutable(all: &[Listed], path: &str, error: &InsertError) -> RegistryError {
    let origin = |path: &str| {
        let found = all.iter().find(|it| it.endpoint.path == path);
        found.map_or("?", |it| it.origin)
    };
    match error {
        InsertError::Conflict { with } => {
            let what = format!("the same address, as `{with}` and as `{path}`,");
            conflict(&what, origin(with), origin(path))
        }
        other => RegistryError(format!(
            "the path `{path}` of the crate `{}` can't be matched: {other}",
            origin(path)
        )),
    }
}

#[cfg(test)]
mod tests {
    use entity_core::endpoint::Call;
    use entity_core::{Context, Verb};

    use super::*;

    async fn nothing(_cx: &Context, _call: Call) -> entity_core::Result<()> {
        Ok(())
    }

    fn listed(origin: &'static str, endpoint: &Endpoint) -> Listed {
        let endpoint = endpoint.clone().answers::<()>(&nothing);
        Listed {
            origin,
            endpoint: Box::leak(Box::new(endpoint)),
            handler: Handler::Registered,
        }
    }

    fn loans(variable: &'static str, id: &'static str) -> Endpoint {
        let path = match variable {
            "siteId" => "/api/sites/{siteId}/loans",
            _ => "/api/sites/{id}/loans",
        };
        Endpoint::get(path, id).variable(variable, "The site.")
    }

    #[test]
    fn endpoints_that_contradict_each_other_are_refused_by_the_names_of_their_crates() {
        let one = || listed("shelf", &loans("siteId", "listLoans"));
        let post = Endpoint::post("/api/sites/{id}/loans", "lend").variable("id", "");
        for (other, expected) in [
            (
                loans("siteId", "listOthers"),
                "`GET /api/sites/{siteId}/loans` is claimed",
            ),
            (loans("id", "listOthers"), "`/api/sites/{siteId}/loans`"),
            (post, "`/api/sites/{id}/loans`"),
            (
                Endpoint::get("/api/loans", "listLoans"),
                "the operation id `listLoans`",
            ),
        ] {
            let error = Endpoints::new(vec![one(), listed("desk", &other)]);
            let error = error.expect_err("a contradiction").to_string();
            for part in [expected, "`shelf`", "`desk`"] {
                assert!(error.contains(part), "{error}");
            }
        }
        let wrong = listed("desk", &loans("siteId", "listLoans").variable("day", ""));
        let error = Endpoints::new(vec![wrong]).expect_err("a wrong declaration");
        let expected = "the endpoint `GET /api/sites/{siteId}/loans` of the crate `desk` describes the variable `day`, \
            which its path lacks";
        assert_eq!(error.to_string(), expected);
        let mute = Listed {
            endpoint: Box::leak(Box::new(loans("siteId", "listLoans"))),
            ..one()
        };
        let error = Endpoints::new(vec![mute]).expect_err("no handler");
        assert!(error.to_string().contains("no handler"), "{error}");
    }

    #[test]
    fn the_more_special_path_is_matched_first_and_each_segment_by_itself() {
        let mine = Endpoint::get("/api/users/me/news", "listMyNews");
        let of_user = |path, id| Endpoint::get(path, id).variable("userId", "");
        let lend = Endpoint::post("/api/users/me/news", "tell");
        let endpoints = Endpoints::new(vec![
            listed("a", &mine),
            listed("a", &lend),
            listed("a", &of_user("/api/users/{userId}/sites", "listSites")),
            listed("a", &of_user("/api/users/{userId}/news", "listNews")),
        ])
        .expect("endpoints that go together");
        for (path, expected) in [
            (&["users", "me", "news"][..], &["listMyNews", "tell"][..]),
            (&["users", "me", "sites"], &["listSites"]),
            (&["users", "x/y", "sites"], &["listSites"]),
            (&["users", "{userId}", "news"], &["listNews"]),
            (&["users", "me/news"], &[]),
            (&["users"], &[]),
            (&[], &[]),
        ] {
            let segments: Vec<String> = path.iter().map(|it| (*it).to_owned()).collect();
            let found = endpoints.at(&segments);
            let ids: Vec<_> = found.iter().map(|it| it.endpoint.id).collect();
            assert_eq!(ids, expected, "{path:?}");
        }
        let verbs: Vec<_> = endpoints.iter().map(|it| it.verb).collect();
        assert_eq!(verbs, [Verb::Get, Verb::Post, Verb::Get, Verb::Get]);
    }
}
