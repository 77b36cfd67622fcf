//! Two crates that register a format of the same name can't be in one service.

use entity_core::Result;
use entity_core::format::{Format, Formats, Renderer, View};
use entity_core::reply::Body;

/// Claims the same name each time that it is registered.
struct Again;

entity_core::register_format!(Again);
entity_core::register_format!(Again);

impl Renderer for Again {
    fn format(&self) -> Format {
        Format {
            name: "again",
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
    let formats = Formats::new(Vec::new(), Vec::new()).with_registered("entity-core");
    let error = formats.err().map(|it| it.to_string());
    // This test is one crate, so both have one name.
    let expected = "the format `again` is claimed by the crates `entity-core` and `entity-core`: \
                    rename one of them or leave one out";
    assert_eq!(error.as_deref(), Some(expected));
}
