//! A type with a field of every kind that lists can be asked for, in a table and on a shelf.

use entity_core::action::CollectionFn;
use entity_core::{
    Access, Action, ActionResult, Actions, Answers, Arguments, Context, DateTimeUtc, Entity, List,
    Need, Page, Provider, Read, Result, Search, Verb, db, search,
};
use serde::{Deserialize, Serialize};

use super::dice::Dice;

/// Something with a value of every kind.
#[derive(Clone, Debug, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "sample", table = "sample", access = Site("sample"), verbs(read, list))]
pub(super) struct Sample {
    #[entity(id)]
    id: String,
    #[entity(site)]
    site_id: String,
    #[entity(search)]
    name: String,
    #[entity(search)]
    note: Option<String>,
    #[entity(html, search)]
    text: Option<String>,
    #[entity(html)]
    page: Option<String>,
    points: i64,
    rank: Option<i64>,
    weight: f64,
    ratio: Option<f64>,
    is_open: bool,
    is_kept: Option<bool>,
    due: DateTimeUtc,
    done: Option<DateTimeUtc>,
}

impl Sample {
    /// One of many that have much in common.
    pub(super) fn random(number: usize, dice: &mut Dice) -> Self {
        Self {
            id: format!("{}{number}", dice.of(&["a", "B", "c"])),
            site_id: (*dice.of(&["s1", "s2", "s3"])).to_owned(),
            name: dice.text(),
            note: dice.perhaps(Dice::text),
            text: dice.perhaps(Dice::html),
            page: dice.perhaps(Dice::html),
            points: dice.integer(),
            rank: dice.perhaps(Dice::integer),
            weight: dice.number(),
            ratio: dice.perhaps(Dice::number),
            is_open: dice.below(2) == 0,
            is_kept: dice.perhaps(|it| it.below(2) == 0),
            due: dice.instant(),
            done: dice.perhaps(Dice::instant),
        }
    }
}

/// The same in memory.
#[derive(Debug)]
pub(super) struct Shelf(pub(super) Vec<Sample>);

/// The type of what is on the shelf.
#[derive(Debug)]
pub(super) struct Shelved;

impl Provider for Shelved {
    type Entity = Sample;
    const PREFIX: &'static str = "shelf";
    const ACCESS: Access = Sample::ACCESS;
}

impl Read for Shelved {
    async fn read(cx: &Context, id: &str) -> Result<Option<Sample>> {
        let shelf = cx.service::<Shelf>()?;
        Ok(shelf.0.iter().find(|it| it.id == id).cloned())
    }
}

impl List for Shelved {
    async fn list(cx: &Context, search: &Search) -> Result<Page<Sample>> {
        search::select(cx.service::<Shelf>()?.0.clone(), search)
    }
}

/// The action that answers the list, cut.
pub(super) const CUT: &str = "cut";
/// The parameter of it that says how many of the list are left.
pub(super) const MOST: &str = "most";

impl Actions for Sample {
    fn actions() -> Vec<Action<Self>> {
        vec![cutting(|cx, arguments| {
            Box::pin(async move {
                let search = cut(cx, &arguments).await?;
                Ok(ActionResult::Part {
                    page: db::list::<Self>(cx, &search).await?,
                    total: Some(db::count::<Self>(cx, &search).await?),
                    search,
                })
            })
        })]
    }
}

impl Actions for Shelved {
    fn actions() -> Vec<Action<Self>> {
        vec![cutting(|cx, arguments| {
            Box::pin(async move {
                let search = cut(cx, &arguments).await?;
                let entities = cx.service::<Shelf>()?.0.clone();
                Ok(ActionResult::Whole { entities, search })
            })
        })]
    }
}

fn cutting<P: List>(run: CollectionFn<P>) -> Action<P> {
    Action::on_collection(Verb::Get, CUT, Need::Session, run)
        .parameters(&[(MOST, "how many of the list are left")])
        .searched()
        .answers(Answers::Collection)
}

async fn cut(cx: &Context, arguments: &Arguments) -> Result<Search> {
    let mut search = arguments.search()?.clone();
    search.scope = cx.authorizer().scope(cx, "sample.read").await?;
    search.is_counted = true;
    if let Some(most) = arguments.parameter(MOST).and_then(|it| it.parse().ok()) {
        search.cut(most);
    }
    Ok(search)
}
