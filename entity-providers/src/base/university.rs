//! The names by which the data of the demo university find each other.

/// The first course: everybody but the second instructor is in it.
pub const BIOLOGY: &str = "biology-101";
/// The second course, with an instructor of its own and half of the students.
pub const HISTORY: &str = "history-210";
/// The project.
pub const FIELD_TRIP: &str = "field-trip";
/// The site with news for the public.
pub const NEWS: &str = "university-news";
/// The group of the first half of the first course's students.
pub const LAB_A: &str = "Lab A";
/// The group of the second half.
pub const LAB_B: &str = "Lab B";
/// The password of everybody in it, unless somebody chooses another.
pub const PASSWORD: &str = "lectern-demo";
