//! What an attacker once achieved, one file for each attack. What needs load or time is in the other target of tests.

mod abandoned_batch;
mod enrolment;
mod nested_batch;
mod quota;
mod rate;
