//! The members of a site, at the address that existing clients ask.

use entity_core::{Action, Actions, Arguments, Context, Need, Outcome, Result, Search, Verb};

use super::query::{self, Wanted};
use super::{Memberships, rules};

impl Actions for Memberships {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::on_collection(Verb::Get, "site", Need::Session, |cx, arguments| {
                Box::pin(of_site(cx, arguments))
            })
            .doc("The members of a site, by name; for those who hold its roster.")
            .arguments(1..=1),
        ]
    }
}

async fn of_site(cx: &Context, arguments: Arguments) -> Result<Outcome<Memberships>> {
    let site = arguments.segment(0, "a site")?;
    rules::demand_roster(cx, site).await?;
    let wanted = Wanted::OfSite { site, user: None };
    let page = query::list(cx, &Search::all(), &wanted).await?;
    Ok(Outcome::Collection(page))
}
