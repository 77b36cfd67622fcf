//! Attacks that once succeeded, one file for each. Those that need load or time are in the other target of tests.

mod abandoned_batch;
mod enrolment;
mod nested_batch;
mod quota;
mod rate;
mod script;
