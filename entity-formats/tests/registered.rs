//! Two crates that register a format of the same name can't be in one service.

use entity_core::format::{Format, Renderer, View};
use entity_core::{Body, Result};

/// Claims a name that is taken.
struct Other;

entity_core::register_format!(Other);

impl Renderer for Other {
    fn format(&self) -> Format {
        Format {
            name: "atom",
            media_type: "text/plain",
            aliases: &[],
            is_feed: false,
        }
    }

    fn render(&self, _body: &Body, _view: &View<'_>) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }
}

#[test]
fn a_name_that_is_claimed_twice_is_refused_naming_both_crates() {
    let error = entity_formats::standard().err().map(|it| it.to_string());
    // This test is part of the same package, so both crates have one name.
    let expected = "the format `atom` is claimed by the crates `entity-formats` and `entity-formats`: \
                    rename one of them or leave one out";
    assert_eq!(error.as_deref(), Some(expected));
}
