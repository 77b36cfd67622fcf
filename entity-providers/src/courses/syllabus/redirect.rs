//! `/direct/syllabus-redirect`: the address of a syllabus elsewhere, which takes the place of that of the site.

use entity_core::primitives::is_web_address;
use entity_core::wire::Millis;
use entity_core::{Context, Entity, Error, Result, Search, gate, standard};
use serde::Serialize;

use super::ACCESS;

/// The address of the syllabus of a site, where that is kept elsewhere.
#[standard(version)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "syllabus-redirect", table = "syllabus_redirect", access = ACCESS)]
#[entity(check = Self::check, plural = "Syllabi elsewhere")]
#[entity(verbs(read, list, create, update, delete))]
pub struct SyllabusRedirect {
    /// The id.
    #[entity(id)]
    pub id: String,
    /// The site, which has one such address at most.
    #[entity(site, references = "site", unique)]
    pub site_id: String,
    /// The address, which begins with `https://` or `http://`.
    #[entity(address, max = 2000, label = "Address")]
    pub redirect_url: String,
    /// When it last changed.
    #[entity(updated, column = "modified", label = "Last changed")]
    pub modified_on: Millis,
}

entity_core::register!(SyllabusRedirect);

impl SyllabusRedirect {
    fn check(&mut self, _cx: &Context, _before: Option<&Self>) -> Result<()> {
        match is_web_address(&self.redirect_url) {
            true => Ok(()),
            false => Err(Error::field("redirectUrl", "must be an address of the web")),
        }
    }

    /// Returns the address of the syllabus of `site`, if the caller sees one.
    pub(super) async fn of_site(cx: &Context, site: &str) -> Result<Option<String>> {
        let mut search = Search::all();
        search.narrow_to_site::<Self>(site)?;
        let page = gate::list::<Self>(cx, search).await?;
        Ok(page.items.into_iter().next().map(|it| it.redirect_url))
    }
}
