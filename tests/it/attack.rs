//! What an attacker once achieved, one file for each attack.

mod search;
