//! The members of a site, at the address that existing clients ask.

use entity_core::search::Grammar;
use entity_core::{
    Action, Actions, Answers, Arguments, Context, List, Need, Outcome, Result, Search, Verb, Window,
};

use super::query::{self, Wanted};
use super::{Memberships, rules};

impl Actions for Memberships {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::on_collection(Verb::Get, "site", Need::Session, |cx, arguments| {
                Box::pin(of_site(cx, arguments))
            })
            .doc("The members of a site, by name; for those who hold its roster.")
            .parameters(&[
                ("_start", "how many to leave out at the beginning"),
                ("_limit", "how many at most"),
            ])
            .argument("siteId", "The site.")
            .answers(Answers::Collection),
        ]
    }
}

async fn of_site(cx: &Context, arguments: Arguments) -> Result<Outcome<Memberships>> {
    let site = arguments.argument("siteId")?;
    rules::demand_roster(cx, site).await?;
    let wanted = Wanted::OfSite { site, user: None };
    let window = Window::parse(&arguments.query, Memberships::MAX)?;
    let mut search = Search {
        start: window.start,
        limit: window.limit,
        ..Search::default()
    };
    Grammar::of::<Memberships>()?.complete(&mut search);
    let page = query::list(cx, &search, &wanted).await?;
    Ok(Outcome::Collection {
        page,
        window,
        history: None,
    })
}
