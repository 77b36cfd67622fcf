//! The checks that every type has to pass: types of a third party and one of our own pass them, faulty ones do not.

#[expect(unreachable_pub, reason = "it is a crate elsewhere")]
#[path = "../../../third-party/src/lib.rs"]
mod library_shelf;

mod faults;

mod announcement {
    use entity_providers::announcement::Announcement;

    lectern_testing::conformance!(Announcement);
}
