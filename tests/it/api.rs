//! `/api`, as the portal sees it.

mod agreement;
mod alerts;
mod announcements;
mod calendar;
mod conversations;
mod dashboard;
mod endpoint;
mod envelope;
mod forums;
mod grades;
mod invited;
mod lessons;
mod login;
mod logout;
mod notifications;
mod openapi;
mod permissions;
mod profile;
mod replies;
mod roles;
mod sites;
mod specification;
mod tasks;
