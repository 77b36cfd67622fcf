//! `/api`, as the portal sees it.

mod announcements;
mod endpoint;
mod envelope;
mod login;
mod logout;
mod openapi;
mod roles;
mod sites;
