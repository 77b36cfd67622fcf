//! The facts that an import of a site's archive needs and notes beside the rows.

use std::collections::{BTreeMap, HashMap};

use entity_core::db::archive::{self, Archived, ArchivedTable, Belonging};
use entity_core::db::{self, ColumnType};
use entity_core::wire::Millis;
use entity_core::{Context, Entity as _, Registry, Result};
use sea_orm::{
    ColumnTrait as _, ConnectionTrait, EntityTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _,
};
use serde::{Deserialize, Serialize};

use super::{Site, id};
use crate::people::authorizer;
use crate::people::user::{self, User};
use crate::storage::db::PARENTS;

const TEXT: ColumnType = ColumnType::Text;
const INTEGER: ColumnType = ColumnType::Integer;
const BOOLEAN: ColumnType = ColumnType::Boolean;

/// The tables of a site that are part of its archive.
pub(super) const TABLES: &[Archived] = &[
    Archived {
        belonging: Belonging::Site("id"),
        accounts: &["owner_id"],
        shut: &["is_published", "is_pub_view", "is_joinable"],
        schema: Some(Site::schema),
        ..Archived::new(
            "site",
            &[
                ("id", TEXT, false),
                ("title", TEXT, false),
                ("type", TEXT, true),
                ("short_description", TEXT, true),
                ("description", TEXT, true),
                ("contact_name", TEXT, true),
                ("contact_email", TEXT, true),
                ("is_published", BOOLEAN, false),
                ("is_pub_view", BOOLEAN, false),
                ("is_joinable", BOOLEAN, false),
                ("joiner_role", TEXT, true),
                ("skin", TEXT, true),
                ("icon_url", TEXT, true),
                ("owner_id", TEXT, true),
                ("term", TEXT, true),
                ("term_eid", TEXT, true),
                ("provider_group_id", TEXT, true),
                ("created", INTEGER, false),
                ("modified", INTEGER, false),
                ("version", INTEGER, false),
            ],
        )
    },
    Archived::new(
        "site_page",
        &[
            ("id", TEXT, false),
            ("site_id", TEXT, false),
            ("title", TEXT, false),
            ("position", INTEGER, false),
            ("layout", INTEGER, false),
        ],
    ),
    Archived {
        links: &[("page_id", "site_page", "id")],
        ..Archived::new(
            "site_tool",
            &[
                ("id", TEXT, false),
                ("page_id", TEXT, false),
                ("site_id", TEXT, false),
                ("tool_id", TEXT, false),
                ("title", TEXT, false),
                ("position", INTEGER, false),
            ],
        )
    },
    Archived::new(
        "site_group",
        &[
            ("id", TEXT, false),
            ("site_id", TEXT, false),
            ("title", TEXT, false),
            ("description", TEXT, true),
            ("modified", INTEGER, false),
        ],
    ),
    Archived {
        key: &["realm", "role", "function"],
        belonging: Belonging::Path("realm", authorizer::OF_SITE),
        ..Archived::new(
            "realm_grant",
            &[
                ("realm", TEXT, false),
                ("role", TEXT, false),
                ("function", TEXT, false),
                ("is_granted", BOOLEAN, false),
            ],
        )
    },
];

/// The tables of the members of a site that are part of its archive.
pub(crate) const OF_MEMBERS: &[Archived] = &[
    Archived {
        key: &["user_id", "site_id"],
        accounts: &["user_id"],
        ..Archived::new(
            "membership",
            &[
                ("user_id", TEXT, false),
                ("site_id", TEXT, false),
                ("role", TEXT, false),
                ("is_active", BOOLEAN, false),
                ("is_provided", BOOLEAN, false),
                ("is_pinned", BOOLEAN, false),
                ("pinned_position", INTEGER, true),
                ("created", INTEGER, false),
                ("is_hidden", BOOLEAN, false),
                ("origin", TEXT, false),
                ("is_muted", BOOLEAN, false),
            ],
        )
    },
    Archived {
        key: &["group_id", "user_id"],
        belonging: Belonging::Row(("group_id", "site_group", "id")),
        accounts: &["user_id"],
        ..Archived::new(
            "group_member",
            &[
                ("group_id", TEXT, false),
                ("user_id", TEXT, false),
                ("site_id", TEXT, true),
            ],
        )
    },
];

/// Returns all tables with rows of sites, each behind those that its rows name.
pub fn tables(registry: &Registry) -> Vec<ArchivedTable> {
    archive::tables(registry, PARENTS)
}

/// Returns the accounts with these internal `ids`. Those that are gone are left out.
pub async fn people(connection: &impl ConnectionTrait, ids: &[String]) -> Result<Vec<Account>> {
    use user::user::Column::{Eid, FirstName, Id, LastName, Type};
    let found: Vec<(String, String, String, String, String)> = user::user::Entity::find()
        .select_only()
        .columns([Id, Eid, FirstName, LastName, Type])
        .filter(Id.is_in(ids))
        .order_by_asc(Id)
        .into_tuple()
        .all(connection)
        .await?;
    let told = found
        .into_iter()
        .map(|(there, eid, first_name, last_name, kind)| Account {
            there,
            eid,
            first_name,
            last_name,
            kind,
        });
    Ok(told.collect())
}

/// The progress of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The digest of the archive.
    pub archive: String,
    /// The number of rows of each table that are written.
    pub rows: BTreeMap<String, u64>,
    /// True if everything is written.
    pub is_complete: bool,
}

/// The state of the place of a site that is to be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    New,
    /// A site from an archive.
    Begun(Progress),
    /// Another site.
    Other,
}

/// Somebody whom the rows of an archive name.
#[derive(Clone, Debug)]
pub struct Account {
    /// The internal id in the archive.
    pub there: String,
    /// The external id.
    pub eid: String,
    /// The first name.
    pub first_name: String,
    /// The last name.
    pub last_name: String,
    /// The kind of account.
    pub kind: String,
}

/// Returns what is in the place of `site`.
pub async fn find(cx: &Context, site: &str) -> Result<State> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT progress FROM site_import WHERE site_id = ");
    sql.bind(site);
    let noted = db.rows(sql.into_statement(), db::columns::<String>);
    if let Some(text) = noted.await?.pop() {
        let progress = serde_json::from_str(&text).map_err(entity_core::Error::internal)?;
        return Ok(State::Begun(progress));
    }
    let mut sql = db.sql("SELECT id FROM site WHERE id = ");
    sql.bind(site);
    let found = db.rows(sql.into_statement(), db::columns::<String>);
    match found.await?.is_empty() {
        true => Ok(State::New),
        false => Ok(State::Other),
    }
}

/// Notes how far the import of `site` has come. The first time, the id of the site is claimed, so that no other one can
/// pass for it.
///
/// # Errors
/// A site has an id that looks like this one; the database can't be written.
pub async fn note(cx: &Context, site: &str, progress: &Progress) -> Result<()> {
    let db = cx.db()?;
    if find(cx, site).await? == State::Other {
        id::claim_ids(cx, &[site.to_owned()]).await?;
        cx.emit("site.add", format!("/site/{site}"), Some(site));
    }
    let text = serde_json::to_string(progress).map_err(entity_core::Error::internal)?;
    let mut sql = db.sql("INSERT INTO site_import (site_id, progress) VALUES (");
    sql.bind(site).push(", ").bind(text);
    sql.push(") ON CONFLICT (site_id) DO UPDATE SET progress = excluded.progress");
    db.execute_raw(sql.into_statement()).await?;
    Ok(())
}

/// Sets the columns of `site` that were shut: each as the table and the column, with its value.
pub async fn open(
    cx: &Context,
    site: &str,
    opened: &BTreeMap<(&'static str, &'static str), bool>,
) -> Result<()> {
    let db = cx.db()?;
    for ((table, column), value) in opened {
        let mut sql = db.sql("UPDATE \"");
        sql.push(table).push("\" SET \"").push(column).push("\" = ");
        sql.bind(*value).push(" WHERE id = ").bind(site);
        db.execute_raw(sql.into_statement()).await?;
    }
    Ok(())
}

/// Checks that a site may have this id.
///
/// # Errors
/// Returns an error that says what ids of sites are.
pub fn check_site(cx: &Context, site: &str) -> Result<()> {
    super::id::check(cx, site).map(drop)
}

/// Returns whether the file that `column` names is stored. It then stays for an hour, whether a row names it or not.
pub async fn touch(cx: &Context, column: &str) -> Result<bool> {
    let db = cx.db()?;
    let mut sql = db.sql("UPDATE stored_file SET unnamed = ");
    sql.bind(cx.now().timestamp_millis());
    sql.push(" WHERE unnamed IS NOT NULL AND blob = ")
        .bind(column);
    db.execute_raw(sql.into_statement()).await?;
    let mut sql = db.sql("SELECT blob FROM stored_file WHERE blob = ");
    sql.bind(column);
    let found = db.rows(sql.into_statement(), db::columns::<String>);
    Ok(!found.await?.is_empty())
}

/// Returns the internal ids of `people` by those in the archive, and the number of accounts that were made: whoever has
/// none here gets one that is shut and has no password, so that what they did keeps its author. An administrator opens
/// it.
pub async fn accounts(
    cx: &Context,
    people: &[Account],
) -> Result<(HashMap<String, String>, usize)> {
    let eids: Vec<String> = people
        .iter()
        .map(|it| it.eid.to_ascii_lowercase())
        .collect();
    let named = db::among(cx, user::lower(user::user::Column::Eid), &eids)?;
    let found: Vec<User> = db::load(cx, user::user::Entity::find().filter(named)).await?;
    let found = found
        .into_iter()
        .map(|it| (it.eid.to_ascii_lowercase(), it.id));
    let mut found: HashMap<String, String> = found.collect();
    let (mut ids, mut made) = (HashMap::new(), 0_usize);
    for person in people {
        let eid = person.eid.to_ascii_lowercase();
        let here = if let Some(here) = found.get(&eid) {
            here.clone()
        } else {
            let here = add(cx, person).await?;
            made = made.saturating_add(1);
            found.insert(eid, here.clone());
            here
        };
        ids.insert(person.there.clone(), here);
    }
    Ok((ids, made))
}

/// Makes an account that is shut.
async fn add(cx: &Context, person: &Account) -> Result<String> {
    user::check_eid(cx, &person.eid)?;
    let (id, now) = (cx.new_id(), Some(Millis(cx.now())));
    let account = User {
        id: id.clone(),
        eid: person.eid.clone(),
        email_verified: Some(false),
        first_name: person.first_name.clone(),
        last_name: person.last_name.clone(),
        // An archive gives nobody the right to teach.
        r#type: match person.kind.as_str() {
            user::TEACHING_TYPE => user::USUAL_TYPE.to_owned(),
            kind => kind.to_owned(),
        },
        disabled: Some(true),
        created_date: now,
        last_modified: now,
        version: 1,
        ..User::default()
    };
    db::insert(cx, &account).await?;
    cx.emit("user.add", format!("/user/{id}"), None);
    Ok(id)
}
