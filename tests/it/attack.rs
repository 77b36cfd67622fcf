//! What an attacker once achieved, one file for each attack.

mod disk;
mod enrolment;
mod nested_batch;
mod search;
mod write_hold;
