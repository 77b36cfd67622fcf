//! A type whose storage, rules and operations are written by hand, and the faults that are planted in them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use entity_core::db::{self, RowPolicy, Sql};
use entity_core::{
    Access, Context, Create, DateTimeUtc, Decision, Delete, Entity, Error, ErrorKind, Fields, List,
    Need, Operation, Page, Permit, Provider, Read, Result, Search, Update,
};
use sea_orm::ConnectionTrait as _;
use serde::Serialize;
use serde_json::Value;

pub(super) const SOUND: u8 = 0;
pub(super) const LEAK_IN_LIST: u8 = 1;
pub(super) const LEAK_IN_COUNT: u8 = 2;
pub(super) const LEAK_IN_SEARCH: u8 = 3;
pub(super) const LEAK_BY_FILTER: u8 = 4;
pub(super) const LEAK_BY_EXPAND: u8 = 5;
pub(super) const LEAK_IN_REFUSAL: u8 = 6;
pub(super) const LACK_IN_LIST: u8 = 7;
pub(super) const LOST_NULL: u8 = 8;
pub(super) const CHANGED_TEXT: u8 = 9;
pub(super) const FORGOTTEN_VERSION: u8 = 10;
pub(super) const FAILURE_AT_LIMITS: u8 = 11;
pub(super) const WRONG_STATUS: u8 = 12;
pub(super) const UNNAMED_FIELD: u8 = 13;
pub(super) const QUERY_PER_ROW: u8 = 14;
pub(super) const OUTLIVED_SITE: u8 = 15;
pub(super) const FAILING_ACTION: u8 = 16;
pub(super) const LEAK_IN_ACTION: u8 = 17;
pub(super) const FAILING_VIEW: u8 = 18;
pub(super) const LEAK_IN_VIEW: u8 = 19;
pub(super) const VIEW_OF_ALL_SITES: u8 = 20;
pub(super) const OTHER_VALUE_IN_LIST: u8 = 21;
pub(super) const VEILED_IN_VIEW: u8 = 22;
pub(super) const VEILED_IN_ACTION: u8 = 23;
pub(super) const TITLES_IN_VIEW: u8 = 24;
pub(super) const ACTION_OF_ALL_SITES: u8 = 25;
pub(super) const WRONG_MEDIA_TYPE: u8 = 26;
pub(super) const ACTION_KEEPS_VERSION: u8 = 27;
pub(super) const ACTION_FOR_ALL: u8 = 28;
pub(super) const FAILING_WRITE: u8 = 29;
pub(super) const UPDATE_FOR_ALL: u8 = 30;
pub(super) const UPDATE_FOR_STRANGERS: u8 = 31;
pub(super) const DELETE_FOR_ALL: u8 = 32;
pub(super) const ROWS_LEFT: u8 = 33;
pub(super) const TWO_AT_ONCE: u8 = 34;

/// Something that a site collects.
#[derive(Clone, Debug, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = "specimen")]
pub(super) struct Specimen {
    #[entity(id)]
    pub(super) id: String,
    #[entity(site)]
    pub(super) site_id: String,
    #[entity(owner)]
    pub(super) keeper: String,
    #[entity(title, search, required)]
    pub(super) name: String,
    #[entity(references = "specimen")]
    pub(super) parent: Option<String>,
    pub(super) weight: Option<i64>,
    /// The text that only those read who may change any.
    #[entity(search, sight = RowPolicy::Holds("specimen.revise.any"))]
    pub(super) remark: Option<String>,
    pub(super) is_secret: bool,
    #[entity(updated)]
    pub(super) modified: DateTimeUtc,
    #[entity(version)]
    pub(super) version: i64,
}

/// The type, with the fault `FAULT` planted. Secret entities are for their keepers and for those who may change any.
pub(super) struct Flawed<const FAULT: u8>;

/// Returns whether the caller sees `specimen`.
async fn is_seen(cx: &Context, specimen: &Specimen) -> Result<bool> {
    if !specimen.is_secret || cx.caller().user_id() == Some(&specimen.keeper) {
        return Ok(true);
    }
    let all = "specimen.revise.any";
    let decided = cx.authorizer().decide(cx, all, &specimen.site_id).await?;
    Ok(decided == Decision::Granted)
}

impl<const FAULT: u8> Flawed<FAULT> {
    /// True if the rule is where the gate does not know of it.
    const IS_BESIDE_THE_GATE: bool = matches!(
        FAULT,
        LEAK_IN_LIST | LEAK_BY_EXPAND | LEAK_IN_REFUSAL | LEAK_IN_ACTION | LEAK_IN_VIEW
    );
}

impl<const FAULT: u8> Provider for Flawed<FAULT> {
    type Entity = Specimen;
    const PREFIX: &'static str = "specimen";
    const ACCESS: Access = Access {
        read: Need::Site("specimen.read"),
        create: Need::Site("specimen.new"),
        update: match FAULT {
            UPDATE_FOR_ALL => Need::Session,
            UPDATE_FOR_STRANGERS => Need::Public,
            _ => Need::Site("specimen.revise.any"),
        },
        delete: match FAULT {
            DELETE_FOR_ALL => Need::Site("specimen.read"),
            _ => Need::Site("specimen.delete.any"),
        },
    };

    async fn permits(cx: &Context, specimen: &Specimen, _operation: Operation) -> Result<Permit> {
        if FAULT == QUERY_PER_ROW {
            db::read::<Specimen>(cx, &specimen.id).await?;
        }
        if Self::IS_BESIDE_THE_GATE || is_seen(cx, specimen).await? {
            return Ok(Permit::Allowed);
        }
        Ok(Permit::Hidden)
    }
}

/// Entities that are remembered for ever.
static REMEMBERED: Mutex<Option<HashMap<String, Specimen>>> = Mutex::new(None);

impl<const FAULT: u8> Read for Flawed<FAULT> {
    async fn read(cx: &Context, id: &str) -> Result<Option<Specimen>> {
        if FAULT == OUTLIVED_SITE {
            let guard = REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner);
            let found = guard.as_ref().and_then(|it| it.get(id));
            if let Some(found) = found {
                return Ok(Some(found.clone()));
            }
        }
        let found: Option<Specimen> = db::read(cx, id).await?;
        match found {
            Some(hidden) if Self::IS_BESIDE_THE_GATE && !is_seen(cx, &hidden).await? => match FAULT
            {
                LEAK_IN_REFUSAL => Err(Error::new(
                    ErrorKind::Forbidden,
                    format!("`{}` is secret", hidden.name),
                )),
                _ => Ok(None),
            },
            found => Ok(found),
        }
    }

    async fn read_many(cx: &Context, ids: &[String]) -> Result<Vec<Specimen>> {
        db::read_many(cx, ids).await
    }
}

impl<const FAULT: u8> List for Flawed<FAULT> {
    async fn list(cx: &Context, search: &Search) -> Result<Page<Specimen>> {
        let page: Page<Specimen> = db::list(cx, search).await?;
        let mut kept = Page {
            items: Vec::new(),
            ..page
        };
        for mut specimen in page.items {
            if FAULT == OTHER_VALUE_IN_LIST {
                specimen.name = specimen.name.to_uppercase();
            }
            let is_kept = match FAULT {
                LEAK_BY_EXPAND | LEAK_IN_REFUSAL | LEAK_IN_ACTION | LEAK_IN_VIEW => {
                    is_seen(cx, &specimen).await?
                }
                LACK_IN_LIST => specimen.weight.is_none(),
                _ => true,
            };
            kept.items.extend(is_kept.then_some(specimen));
        }
        Ok(kept)
    }

    async fn count(cx: &Context, search: &Search) -> Result<Option<u64>> {
        let is_careless = match FAULT {
            LEAK_IN_COUNT => true,
            LEAK_IN_SEARCH => !search.words.is_empty(),
            LEAK_BY_FILTER => search.filters.iter().any(|it| it.field.name == "name"),
            _ => false,
        };
        match is_careless {
            true => db::count::<Specimen>(cx, search).await.map(Some),
            false => Ok(None),
        }
    }
}

impl<const FAULT: u8> Create for Flawed<FAULT> {
    type Draft = Fields;

    fn site(draft: &Fields) -> Option<&str> {
        draft.text("siteId")
    }

    async fn create(cx: &Context, draft: Fields) -> Result<Specimen> {
        let mut fields = draft;
        if let (CHANGED_TEXT, Some(name)) = (FAULT, fields.text("name")) {
            let name = name.replace('&', "and");
            fields.0.insert("name".to_owned(), name.into());
        }
        if FAULT == TWO_AT_ONCE {
            Self::be_the_only_one(cx, &fields).await?;
        }
        let weight = fields.0.get("weight").and_then(Value::as_i64);
        match (FAULT, weight) {
            (FAILURE_AT_LIMITS, Some(i64::MAX)) => Err(Error::internal("a sum that overflows")),
            (WRONG_STATUS, Some(i64::MIN)) => Err(Error::not_found()),
            (UNNAMED_FIELD, Some(i64::MIN)) => Err(Error::bad_request("that is too little")),
            _ => {
                let made: Specimen = db::create(cx, fields).await?;
                if FAULT == OUTLIVED_SITE {
                    let mut guard = REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner);
                    let remembered = guard.get_or_insert_default();
                    remembered.insert(made.id.clone(), made.clone());
                }
                if FAULT == ROWS_LEFT {
                    let session = cx.db()?;
                    let mut sql: Sql = session.sql("INSERT INTO demo_password (hash) VALUES (");
                    sql.bind(made.id.as_str()).push(")");
                    session.execute_raw(sql.into_statement()).await?;
                }
                Ok(made)
            }
        }
    }
}

impl<const FAULT: u8> Update for Flawed<FAULT> {
    type Changes = Fields;

    async fn update(cx: &Context, current: Specimen, changes: Fields) -> Result<Specimen> {
        let mut changes = changes;
        if FAULT == LOST_NULL {
            changes.0.retain(|_, value| !value.is_null());
        }
        let before = current.clone();
        let after: Specimen = db::update(cx, current, changes).await?;
        if FAULT != FORGOTTEN_VERSION {
            return Ok(after);
        }
        let session = cx.db()?;
        let mut sql: Sql = session.sql("UPDATE specimen SET version = ");
        sql.bind(before.version).push(", modified = ");
        sql.bind(before.modified.timestamp_millis());
        sql.push(" WHERE id = ").bind(after.id.as_str());
        session.execute_raw(sql.into_statement()).await?;
        Ok(Specimen {
            version: before.version,
            modified: before.modified,
            ..after
        })
    }
}

impl<const FAULT: u8> Delete for Flawed<FAULT> {
    async fn delete(cx: &Context, current: Specimen) -> Result<()> {
        db::delete(cx, current).await
    }
}

impl<const FAULT: u8> Flawed<FAULT> {
    /// Refuses a second specimen of one name in a site, without a lock on those that are there.
    async fn be_the_only_one(cx: &Context, fields: &Fields) -> Result<()> {
        let session = cx.db()?;
        let mut sql: Sql = session.sql("SELECT id FROM specimen WHERE site_id = ");
        sql.bind(fields.text("siteId").unwrap_or_default());
        sql.push(" AND name = ");
        sql.bind(fields.text("name").unwrap_or_default());
        let found = session.query_all_raw(sql.into_statement()).await?;
        match found.is_empty() {
            true => Ok(()),
            false => Err(Error::conflict("there is one of this name")),
        }
    }
}
