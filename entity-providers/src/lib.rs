//! The types of entity that every Lectern service has, their tables, and who may do what with them.

pub mod announcement;
pub mod authorizer;
pub mod db;
pub mod demo;
pub mod membership;
pub mod migration;

#[cfg(test)]
mod testbed;
