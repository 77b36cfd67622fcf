//! Who may do what: every case of the policy, asked in every way that there is to ask, on both databases.
//!
//! The policy is data ([`policy`]). What is asked is made from it: [`world`] and [`subject`] hold what it speaks of,
//! [`requests`] the ways to ask, [`answers`] what is expected, [`digest`] sees whether anything changed.

mod answers;
mod assignment;
mod coverage;
mod digest;
mod events;
mod gradebook;
mod matrix;
mod policy;
mod requests;
mod subject;
mod syllabus;
mod users;
mod world;
