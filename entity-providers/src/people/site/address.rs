//! The addresses of the places of the portal, without the address of the service.

use entity_core::encode_segment;

/// Returns the path of the site `site`.
pub(crate) fn of_site(site: &str) -> String {
    format!("/portal/site/{}", encode_segment(site))
}

/// Returns the path of the page `page` of a site.
pub(super) fn of_page(site: &str, page: &str) -> String {
    format!("{}/page/{}", of_site(site), encode_segment(page))
}

/// Returns the path of the tool with the placement `tool` in a site.
pub(crate) fn of_tool(site: &str, tool: &str) -> String {
    format!("{}/tool/{}", of_site(site), encode_segment(tool))
}
