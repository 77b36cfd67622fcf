//! The types of entity that every Lectern service has, their tables, and their permissions.
//!
//! The input are calls of the [gate](entity_core::gate), by way of the [`Provider`](entity_core::Provider) that each
//! type registers; the output are entities, stored in the tables of [`storage`]. The modules below are floors, from
//! the bottom up: a file imports from its own floor and from those below it.

/// The parts that all types share.
pub mod base {
    pub(crate) mod fields;
    pub mod html;
    pub(crate) mod letter;
    pub mod limits;
    pub(crate) mod parameters;
    pub(crate) mod personal;
    pub(crate) mod place;
    pub(crate) mod search;
    pub mod university;
    pub(crate) mod when;
}

/// The tables and their migrations.
pub mod storage {
    pub mod db;
    pub mod migration;
}

/// People, sites, and permissions there.
pub mod people {
    pub mod authorizer;
    pub(crate) mod group;
    pub mod invitation;
    pub mod membership;
    pub mod preference;
    pub mod profile;
    pub mod session_event;
    pub mod site;
    pub mod term;
    pub mod user;
}

/// Teaching in a site.
pub mod courses {
    pub mod announcement;
    pub mod assignment;
    pub mod calendar;
    pub mod content;
    pub mod gradebook;
    pub mod lessons;
    pub mod poll;
    pub mod quiz;
    pub mod syllabus;
    pub mod task;
    pub mod webcontent;
}

/// The communication of people, and notifications.
pub mod talk {
    pub mod chat;
    pub mod conversations;
    pub mod forums;
    pub mod notification;
}

/// The parts that use all types: the portal, the dashboard, the data of the demo.
pub mod face {
    pub(crate) mod dashboard;
    pub mod demo;
    pub(crate) mod offered;
    pub mod portal;
    pub mod server_config;
    pub(crate) mod sites;
    pub mod webhook;
}

#[cfg(test)]
mod testbed;
