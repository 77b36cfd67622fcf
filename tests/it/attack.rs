//! What an attacker once achieved, one file for each attack.

mod disk;
mod nested_batch;
mod search;
mod write_hold;
mod enrolment;
