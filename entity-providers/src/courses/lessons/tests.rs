//! The numbers of kinds, and the references of items.

use super::item::{prefix_of, target_of};

#[test]
fn references_and_ids_name_the_same() {
    for text in ["a1", "/assignment/a1"] {
        assert_eq!(target_of("assignment", text), "a1");
    }
    assert_eq!(target_of("assignment", "/poll/a1"), "/poll/a1");
    assert_eq!(prefix_of("text"), None);
    assert_eq!(prefix_of("quiz"), Some("sam_pub"));
}
