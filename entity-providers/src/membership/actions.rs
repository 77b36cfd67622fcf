//! The members of a site, at the address that existing clients ask.

use entity_core::{Action, Actions, Answers, Arguments, Context, Need, Outcome, Result, Verb};

use super::{Memberships, query, wanted};

impl Actions for Memberships {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::on_collection(Verb::Get, "site", Need::Session, |cx, arguments| {
                Box::pin(of_site(cx, arguments))
            })
            .doc("The members of a site, by name; for those who hold its roster.")
            .searched()
            .arguments(1..=1)
            .answers(Answers::Collection),
        ]
    }
}

async fn of_site(cx: &Context, arguments: Arguments) -> Result<Outcome<Memberships>> {
    let site = arguments.segment(0, "a site")?;
    let mut search = arguments.search()?.clone();
    search.insist("siteId", site)?;
    if search.parameter("locationReference").is_some() {
        search.insist("locationReference", &format!("/site/{site}"))?;
    }
    let wanted = wanted(cx, &search).await?;
    let page = query::list(cx, &search, &wanted).await?;
    let total = match search.is_counted {
        true => Some(query::count(cx, &search, &wanted).await?),
        false => None,
    };
    Ok(Outcome::Part {
        page,
        search,
        total,
    })
}
