//! Classes of requests by the work that they cause, as far as their head tells.

use http::Method;
use http::request::Parts;

use crate::base::mount;

/// A kind of work. Each has places and a queue of its own, so that one kind never keeps another waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Reads that find their rows by a key or an index.
    Read,
    /// Reads that may look at many rows: searches, filters, batches, private feeds.
    Scan,
    /// May change something.
    Write,
    /// Logins.
    Login,
    /// Reads with large answers, which no head tells.
    Large,
    /// Sends files: so as long as these come, and writes then.
    Upload,
    /// Holds the right to write to a SQLite file, which one unit of work has at a time; no head tells.
    Turn,
    /// Has long HTML sanitised.
    Text,
    /// Follows events.
    Stream,
}

/// The paths of logins.
const LOGINS: [&str; 4] = [
    "/api/login",
    "/direct/session",
    "/portal/xlogin",
    "/portal/relogin",
];

impl Class {
    /// Returns whether its requests may change something.
    pub(crate) fn may_write(self) -> bool {
        matches!(self, Self::Write | Self::Login | Self::Upload)
    }

    /// The class of the request with this head.
    pub(crate) fn of(parts: &Parts) -> Self {
        let path = parts.uri.path();
        if !parts.method.is_safe() {
            let is_login = parts.method == Method::POST && LOGINS.contains(&path);
            return if is_login { Self::Login } else { Self::Write };
        }
        let is_scan = path.contains('%')
            || path.starts_with("/direct/batch")
            || path.starts_with(mount::FEEDS)
            || parts.uri.query().is_some_and(searches);
        if is_scan { Self::Scan } else { Self::Read }
    }
}

/// The parameters of queries that may look at many rows: words, counts, and days of recurring events.
const SCANNING: [&str; 6] = ["_search", "_count", "firstDate", "lastDate", "from", "to"];

/// Returns whether a query may search, filter, count or compute. An encoded query counts as one that may.
fn searches(query: &str) -> bool {
    query
        .split('&')
        .filter_map(|it| it.split('=').next())
        .any(|name| name.contains(['%', '[', '+']) || SCANNING.contains(&name))
}

macro_rules! per_class {
    ($($field:ident: $class:ident),*) => {
        /// One thing for each class.
        #[derive(Clone, Debug)]
        pub(crate) struct PerClass<T> {
            $($field: T),*
        }

        impl<T> PerClass<T> {
            /// Makes a value for each class.
            pub(crate) fn of(make: impl Fn(Class) -> T) -> Self {
                Self {
                    $($field: make(Class::$class)),*
                }
            }

            /// The value for `class`.
            pub(crate) fn get(&self, class: Class) -> &T {
                match class {
                    $(Class::$class => &self.$field),*
                }
            }
        }

        impl Class {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$class),*];

            /// Returns the name of the class.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$class => stringify!($field)),*
                }
            }
        }
    };
}

per_class!(
    read: Read, scan: Scan, write: Write, login: Login, large: Large, upload: Upload, turn: Turn,
    text: Text, stream: Stream
);

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    #[test]
    fn the_head_of_a_request_tells_its_class() {
        for (method, target, expected) in [
            (
                "GET",
                "/direct/site.json?_limit=5&_order=title",
                Class::Read,
            ),
            ("HEAD", "/direct/site/a", Class::Read),
            ("OPTIONS", "/direct/site", Class::Read),
            ("GET", "/direct/site.json?_search=x", Class::Scan),
            ("GET", "/direct/site.json?a=1&%5fsearch=x", Class::Scan),
            ("GET", "/direct/site.json?title[like]=x", Class::Scan),
            ("GET", "/direct/site.json?_count=exact", Class::Scan),
            (
                "GET",
                "/direct/calendar/my?lastDate=2027-01-01",
                Class::Scan,
            ),
            ("GET", "/api/users/me/calendar?from=2027-01-01", Class::Scan),
            ("GET", "/direct/batch.json?_refs=a", Class::Scan),
            ("GET", "/direct/%62atch.json?_refs=a", Class::Scan),
            ("GET", "/feeds/x/y.atom", Class::Scan),
            ("POST", "/direct/batch", Class::Write),
            ("DELETE", "/direct/session", Class::Write),
            ("POST", "/api/login", Class::Login),
            ("POST", "/direct/session", Class::Login),
            ("POST", "/portal/xlogin", Class::Login),
            ("POST", "/portal/relogin", Class::Login),
            ("GET", "/portal/xlogin", Class::Read),
        ] {
            let request = Request::builder().method(method).uri(target).body(());
            let (parts, ()) = request.unwrap().into_parts();
            assert_eq!(Class::of(&parts), expected, "{method} {target}");
        }
    }
}
