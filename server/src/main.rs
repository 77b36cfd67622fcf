//! The program `lectern`.
fn main() {}
