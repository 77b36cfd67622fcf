//! The types of entity that every Lectern service has, their tables, and who may do what with them.

pub mod db;
pub mod migration;
