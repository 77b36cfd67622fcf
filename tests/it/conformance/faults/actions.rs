//! The actions and the views of the type that is written by hand, and the faults that are planted in them.

use entity_core::db::{self, Sql};
use entity_core::endpoint::{Call, Endpoint};
use entity_core::reply::Bytes;
use entity_core::schemars::{self, JsonSchema};
use entity_core::{
    Action, ActionResult, Actions, Answers, Arguments, Context, Data, Error, Need, Provider as _,
    Result, Scope, Search, Verb, gate,
};
use sea_orm::ConnectionTrait as _;
use serde::Serialize;

use super::specimen::{
    ACTION_FOR_ALL, ACTION_KEEPS_VERSION, ACTION_OF_ALL_SITES, FAILING_ACTION, FAILING_VIEW,
    FAILING_WRITE, Flawed, LEAK_IN_ACTION, LEAK_IN_VIEW, Specimen, TITLES_IN_VIEW,
    VEILED_IN_ACTION, VEILED_IN_VIEW, VIEW_OF_ALL_SITES, WRONG_MEDIA_TYPE,
};

/// A specimen on the board of a site.
#[derive(Serialize, JsonSchema)]
pub(super) struct Shown {
    /// The id.
    id: String,
    /// The remark, for those who read it.
    remark: Option<String>,
}

impl<const FAULT: u8> Actions for Flawed<FAULT> {
    fn actions() -> Vec<Action<Self>> {
        let read = Self::ACCESS.read;
        let revise = match FAULT {
            ACTION_FOR_ALL => Need::Session,
            _ => Need::Site("specimen.revise.any"),
        };
        vec![
            Action::list("all", read, Self::all)
                .doc("The specimens of a site.")
                .argument("siteId", "The site."),
            Action::entity(Verb::Get, "card", read, Self::card)
                .doc("The remark on the card of the specimen."),
            Action::entity(Verb::Get, "picture", read, Self::picture)
                .doc("A picture of it.")
                .answers(Answers::Bytes(&["image/png"])),
            Action::entity(Verb::Post, "weigh", revise, Self::weigh)
                .answers(Answers::Entity)
                .doc("Notes that it has become heavier."),
        ]
    }
}

impl<const FAULT: u8> Flawed<FAULT> {
    async fn all(cx: &Context, arguments: Arguments) -> Result<ActionResult<Self>> {
        let mut search = arguments.search()?.clone();
        if FAULT != ACTION_OF_ALL_SITES {
            search.narrow_to_site::<Specimen>(arguments.argument("siteId")?)?;
        }
        match FAULT {
            FAILING_ACTION => Err(Error::internal("there is no such table")),
            LEAK_IN_ACTION => {
                let mut search = search.clone();
                search.scope = Scope::Everything;
                let (page, window) = (db::list(cx, &search).await?, search.window());
                Ok(ActionResult::Collection { page, window })
            }
            _ => Ok(ActionResult::List(search)),
        }
    }

    async fn card(cx: &Context, specimen: Specimen, _: Arguments) -> Result<Data<Option<String>>> {
        match FAULT {
            VEILED_IN_ACTION => Ok(Data(column(cx, "remark", &specimen).await?)),
            _ => Ok(Data(specimen.remark)),
        }
    }

    async fn picture(cx: &Context, specimen: Specimen, _: Arguments) -> Result<ActionResult<Self>> {
        let seen: Specimen = gate::read::<Self>(cx, &specimen.id).await?;
        let media_type = match FAULT {
            WRONG_MEDIA_TYPE => "text/plain",
            _ => "image/png",
        };
        Ok(ActionResult::Bytes(Bytes {
            media_type: media_type.into(),
            bytes: seen.id.into_bytes(),
            name: None,
        }))
    }

    async fn weigh(cx: &Context, specimen: Specimen, _: Arguments) -> Result<ActionResult<Self>> {
        let heavier = Specimen {
            weight: Some(specimen.weight.unwrap_or_default().saturating_add(1)),
            ..specimen.clone()
        };
        match FAULT {
            FAILING_WRITE => Err(Error::internal("there is no such table")),
            ACTION_KEEPS_VERSION => {
                let session = cx.db()?;
                let mut sql: Sql = session.sql("UPDATE specimen SET weight = ");
                sql.bind(heavier.weight).push(" WHERE id = ");
                sql.bind(heavier.id.as_str());
                session.execute_raw(sql.into_statement()).await?;
                Ok(ActionResult::Entity(heavier))
            }
            _ => {
                let heavier = db::replace(cx, specimen, heavier).await?;
                Ok(ActionResult::Entity(heavier))
            }
        }
    }
}

impl<const FAULT: u8> Flawed<FAULT> {
    pub(super) const VIEWS: &'static [Endpoint] =
        &[
            Endpoint::get("/api/sites/{siteId}/specimens", "listSpecimens")
                .doc("The specimens of a site.")
                .tag("specimen")
                .variable("siteId", "The site.")
                .answers::<Vec<Shown>>(&Self::of_site),
        ];

    async fn of_site(cx: &Context, call: Call) -> Result<Vec<Shown>> {
        let mut search = Search::all();
        if FAULT != VIEW_OF_ALL_SITES {
            search.narrow_to_site::<Specimen>(call.variable("siteId")?)?;
        }
        let page = match FAULT {
            FAILING_VIEW => return Err(Error::internal("there is no such table")),
            LEAK_IN_VIEW | TITLES_IN_VIEW => {
                search.scope = Scope::Everything;
                db::list(cx, &search).await?
            }
            _ => gate::list::<Self>(cx, search).await?,
        };
        let mut shown = Vec::new();
        for specimen in page.items {
            let remark = match FAULT {
                VEILED_IN_VIEW => column(cx, "remark", &specimen).await?,
                _ => specimen.remark,
            };
            let id = match FAULT {
                TITLES_IN_VIEW => specimen.name,
                _ => specimen.id,
            };
            shown.push(Shown { id, remark });
        }
        Ok(shown)
    }
}

/// Returns the text in this column of the specimen's row, whoever asks.
async fn column(cx: &Context, name: &str, specimen: &Specimen) -> Result<Option<String>> {
    let session = cx.db()?;
    let mut sql: Sql = session.sql("SELECT ");
    sql.push(name).push(" AS it FROM specimen WHERE id = ");
    sql.bind(specimen.id.as_str());
    let found = session.query_all_raw(sql.into_statement()).await?;
    let found = found.first().map(|it| it.try_get("", "it"));
    Ok(found.transpose()?.flatten())
}
