//! What an attacker once achieved, one file for each attack.

mod disk;
mod enrolment;
mod html;
mod large_answers;
mod login_flood;
mod nested_batch;
mod overload;
mod quota;
mod rate;
mod search;
mod write_hold;
mod write_turns;
