//! The types of entity that every Lectern service has, their tables, and who may do what with them.

pub mod announcement;
pub mod assignment;
pub mod authorizer;
pub mod calendar;
mod dashboard;
pub mod db;
pub mod demo;
mod fields;
pub mod gradebook;
mod group;
pub mod html;
pub mod invitation;
pub mod limits;
pub mod membership;
pub mod migration;
mod parameters;
pub mod portal;
mod search;
pub mod server_config;
pub mod site;
pub mod syllabus;
pub mod term;
pub mod user;

#[cfg(test)]
mod testbed;
