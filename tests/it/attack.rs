//! What an attacker once achieved, one file for each attack.

mod search;
mod nested_batch;
mod write_hold;
mod disk;
