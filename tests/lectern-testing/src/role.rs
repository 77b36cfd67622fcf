//! The roles of those who ask, and the users of the demo university who have them.

use std::fmt;

/// The course that most users of the demo university are members of. It has two groups of students.
pub const SITE: &str = entity_providers::base::university::BIOLOGY;
/// The course of which only [`Role::Outsider`] and [`Role::OtherStudent`] are members.
pub const OTHER_SITE: &str = entity_providers::base::university::HISTORY;

/// The role of somebody who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An administrator of the service.
    Superuser,
    /// The instructor of [`SITE`].
    Instructor,
    /// The teaching assistant of [`SITE`].
    Assistant,
    /// A student in the first group of [`SITE`].
    Student,
    /// A student in the second group of [`SITE`], and in [`OTHER_SITE`].
    OtherStudent,
    /// The instructor of [`OTHER_SITE`], who is no member of [`SITE`].
    Outsider,
    /// A client that is not logged in.
    Stranger,
}

impl Role {
    /// All roles, the superuser first and the stranger last.
    pub const ALL: [Self; 7] = [
        Self::Superuser,
        Self::Instructor,
        Self::Assistant,
        Self::Student,
        Self::OtherStudent,
        Self::Outsider,
        Self::Stranger,
    ];

    /// Returns the name by which the user with this role logs in; `None` for a stranger.
    pub fn eid(self) -> Option<&'static str> {
        match self {
            Self::Superuser => Some("admin"),
            Self::Instructor => Some("instructor1"),
            Self::Assistant => Some("ta1"),
            Self::Student => Some("student1"),
            Self::OtherStudent => Some("student12"),
            Self::Outsider => Some("instructor2"),
            Self::Stranger => None,
        }
    }
}

/// Writes the role as sentences have it.
impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Superuser => "the superuser",
            Self::Instructor => "the instructor",
            Self::Assistant => "the assistant",
            Self::Student => "a student",
            Self::OtherStudent => "a student of another group",
            Self::Outsider => "the instructor of another site",
            Self::Stranger => "a stranger",
        })
    }
}
