//! `/direct/webcontent` and `/direct/news`: pages and news feeds elsewhere to which a site leads its members.
//!
//! The service keeps addresses. It never fetches what is there.

use entity_core::primitives::is_web_address;
use entity_core::{
    Access, Action, Actions, Arguments, Context, Entity, Error, Need, Provider as _, Result,
    Search, standard,
};
use serde::Serialize;

/// Members read; whoever looks after the site writes.
const ACCESS: Access = Access::new(Need::Site("site.visit"), Need::Site("site.upd"));

/// Declares a type of entries that have a title and an address.
macro_rules! entries {
    (
        $Entry:ident, $prefix:tt, $tool:tt, $table:tt, $singular:tt, $plural:tt, $doc:tt, $of_site:tt
    ) => {
        #[doc = $doc]
        #[standard(version)]
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
        #[serde(rename_all = "camelCase")]
        #[entity(prefix = $prefix, tool = $tool, table = $table, access = ACCESS, check = Self::check)]
        #[entity(singular = $singular, plural = $plural, icon = "page", maker_pays)]
        #[entity(
            verbs(read, list, create, update, delete),
            order = "title,id",
            max = 200
        )]
        pub struct $Entry {
            /// The id.
            #[entity(id)]
            pub id: String,
            /// The site.
            #[entity(site, references = "site")]
            pub site_id: String,
            /// The title.
            #[entity(title, search)]
            pub title: String,
            /// The address, which begins with `https://` or `http://`.
            #[entity(address, max = 2000)]
            pub url: String,
        }

        entity_core::register!($Entry, demo = include_str!(concat!("../../demo/", $prefix, ".json")));

        impl $Entry {
            fn check(&mut self, _cx: &Context, _before: Option<&Self>) -> Result<()> {
                match is_web_address(&self.url) {
                    true => Ok(()),
                    false => Err(Error::field("url", "must be an address of the web")),
                }
            }

            async fn of_site(_cx: &Context, arguments: Arguments) -> Result<Search> {
                let search = arguments.search_in_site::<Self>(arguments.argument("siteId")?)?;
                Ok(search)
            }
        }

        impl Actions for $Entry {
            fn actions() -> Vec<Action<Self>> {
                vec![
                    Action::list("site", Self::ACCESS.read, Self::of_site)
                        .doc($of_site)
                        .argument("siteId", "The site."),
                ]
            }
        }
    };
}

entries!(
    WebContent,
    "webcontent",
    "sakai.iframe",
    "web_content",
    "Web page",
    "Web pages",
    "A page elsewhere, to which a site leads its members.",
    "The pages to which a site leads."
);

entries!(
    NewsFeed,
    "news",
    "sakai.news",
    "news_feed",
    "News feed",
    "News feeds",
    "The address of a feed elsewhere, whose news a site recommends. Programs fetch it by themselves.",
    "The feeds that a site recommends."
);
