//! Access: every case of the policy, asked in every way that there is to ask, on both databases.
//!
//! The policy is data ([`policy`]). The requests are made from it: [`world`] and [`subject`] hold what it speaks of,
//! [`requests`] the ways to ask, [`answers`] what is expected, [`digest`] sees whether anything changed.

mod answers;
mod assignment;
mod behind;
mod canary;
mod chat;
mod content;
mod conversations;
mod coverage;
mod digest;
mod encoded;
mod enrolment;
mod events;
mod forums;
mod gradebook;
mod lessons;
mod matrix;
mod notification;
mod policy;
mod poll;
mod profile;
mod quiz;
mod rehearsed;
mod requests;
mod rows;
mod sent_back;
mod subject;
mod syllabus;
mod users;
mod webhook;
mod world;
