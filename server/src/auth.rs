//! Who somebody is: evidence, passwords, throttling, login and logout.

pub mod password;
