//! The commands of the program that people and other programs read the output of.

mod audit;
mod doctor;
mod mistakes;
mod user;
