//! Attacks that once succeeded by load or by time, one file for each.

mod disk;
mod held;
mod html;
mod large_answers;
mod login_flood;
mod overload;
mod search;
mod write_hold;
mod write_turns;
