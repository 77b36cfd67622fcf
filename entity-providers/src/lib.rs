//! The types of entity that every Lectern service has, their tables, and who may do what with them.

pub mod announcement;
pub mod assignment;
pub mod authorizer;
pub mod calendar;
pub mod chat;
pub mod content;
pub mod conversations;
mod dashboard;
pub mod db;
pub mod demo;
mod fields;
pub mod forums;
pub mod gradebook;
mod group;
pub mod html;
pub mod invitation;
pub mod lessons;
mod letter;
pub mod limits;
pub mod membership;
pub mod migration;
pub mod notification;
mod parameters;
pub mod poll;
pub mod portal;
pub mod preference;
pub mod profile;
pub mod quiz;
mod search;
pub mod server_config;
pub mod session_event;
pub mod site;
pub mod syllabus;
pub mod task;
pub mod term;
pub mod user;
pub mod webcontent;
pub mod webhook;
mod when;

#[cfg(test)]
mod testbed;
