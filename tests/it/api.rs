//! `/api`, as the portal sees it.

mod announcements;
mod calendar;
mod dashboard;
mod endpoint;
mod envelope;
mod grades;
mod login;
mod logout;
mod openapi;
mod permissions;
mod roles;
mod sites;
