//! The terms that every author meets: contexts, scopes, searches, errors and statuses.
//!
//! # Context
//!
//! A [`Context`](crate::Context) is one unit of work on behalf of one caller. A request that reads has a session that
//! can only read; a request that writes has a transaction, which the dispatcher commits after the last check. No
//! provider commits anything, and everything is undone when the request fails.
//!
//! | method | result |
//! |---|---|
//! | [`now`](crate::Context::now) | the instant at which the unit of work began, the same throughout it; providers ask no other clock |
//! | [`new_id`](crate::Context::new_id) | a new unique id, which sorts after earlier ones |
//! | [`caller`](crate::Context::caller), [`user_id`](crate::Context::user_id) | the caller; `user_id` fails with 401 for an anonymous one |
//! | [`authorizer`](crate::Context::authorizer) | decides about functions, where code asks beyond `access` |
//! | [`db`](crate::Context::db) | the database session: [`select`](crate::db::Session::select) for queries of sea-orm by an index; it also implements the trait `ConnectionTrait` of sea-orm. For SQL as text, [`sql`](crate::db::Session::sql) with [`rows`](crate::db::Session::rows) for short statements and [`scan`](crate::db::Session::scan) for all others |
//! | [`emit`](crate::Context::emit) | adds an event, which is stored in the same transaction |
//! | [`add_header`](crate::Context::add_header) | adds a header to the answer |
//! | [`service`](crate::Context::service) | a value that the service shares, such as the [`Registry`](crate::Registry) |
//!
//! A unit of work that loses a race against another transaction runs again from the beginning, up to four times in all.
//! Work that takes long, such as hashing a password, is done before the transaction opens: see
//! [`Edge`](crate::engine::Edge).
//!
//! # Scope
//!
//! A [`Scope`](crate::Scope) is the set of sites whose entities a list may show. The gate sets it in
//! [`Search::scope`](crate::Search::scope): the site that the search names, if the caller holds the function there;
//! otherwise all sites in which the caller holds it; [`Scope::Everything`](crate::Scope::Everything) for super users
//! and for types whose `access` asks for nothing in a site. The default is no site, so that a search that has not
//! passed the gate finds nothing. A provider applies the scope and never widens it; the functions of [`db`](crate::db)
//! for records do so.
//!
//! # Search
//!
//! A [`Search`](crate::Search) is a parsed and checked query of a list: filters, words, order, window or cursor, and
//! the scope. Providers get it complete: its order ends with a field that has another value for each entity. Code
//! narrows a search by [`narrow`](crate::Search::narrow), [`narrow_to_site`](crate::Search::narrow_to_site),
//! [`narrow_to_sites`](crate::Search::narrow_to_sites) and [`cut`](crate::Search::cut), by the names of fields on the
//! wire, and begins one by [`Search::all`](crate::Search::all). Instants are [`Cell::Integer`](crate::search::Cell), in
//! milliseconds since 1970.
//!
//! # Errors and statuses
//!
//! An [`Error`](crate::Error) has a kind, a public message that says what to do, and a private source for the log. The
//! server maps each kind to one status.
//!
//! | status | created by | meaning |
//! |---|---|---|
//! | 400 | [`Error::field`](crate::Error::field), [`Error::fields`](crate::Error::fields), [`Error::bad_request`](crate::Error::bad_request) | the input is wrong |
//! | 401 | [`Error::unauthenticated`](crate::Error::unauthenticated) | nobody is logged in |
//! | 403 | [`Error::forbidden`](crate::Error::forbidden) | the caller may not do it |
//! | 403, `quota_exceeded` | [`Error::limit_reached`](crate::Error::limit_reached) | an account or a site has too much |
//! | 404 | [`Error::not_found`](crate::Error::not_found) | there is no such entity, or the caller may not know of it |
//! | 409 | [`Error::conflict`](crate::Error::conflict), [`Error::taken`](crate::Error::taken) | the request contradicts existing data |
//! | 412 | [`Error::precondition_failed`](crate::Error::precondition_failed) | the entity changed since it was read |
//! | 422 | [`Error::new`](crate::Error::new) with [`ErrorKind::Unprocessable`](crate::ErrorKind::Unprocessable) | the input is well-formed and contradicts itself |
//! | 429 | [`Error::too_many_requests`](crate::Error::too_many_requests) | the caller sends too many requests |
//! | 503 | [`Error::unavailable`](crate::Error::unavailable) | the service can't answer now |
//! | 507 | [`Error::insufficient_storage`](crate::Error::insufficient_storage) | the answer would exceed a limit |
//! | 500 | [`Error::internal`](crate::Error::internal) | a defect; clients learn nothing of the source |
//!
//! Errors of the database convert by `?`: a violated unique constraint or foreign key is 409, a busy or unreachable
//! database 503, and any other error 500. A message is in lower case and without a full stop; the message of
//! [`Error::field`](crate::Error::field) continues the name of the field, as in `must be in the future`.
//!
//! The gate answers for permissions, so that a provider seldom does:
//!
//! | caller | status |
//! |---|---|
//! | anonymous, and the operation is not public | 401 |
//! | lacks the function in the site | 403 |
//! | lacks the function, and the site does not exist | 404 |
//! | the rule or [`Permit::Hidden`](crate::Permit::Hidden) hides the entity | 404 |
//! | [`Permit::Forbidden`](crate::Permit::Forbidden) | 403 |
//! | a list: entities that the caller may not read | left out, with status 200 |
