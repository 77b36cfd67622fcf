//! Reading announcements: one statement for one or for a list, with the site's title and the author's name.
//!
//! A list leaves out what the caller does not see, so that its pages are full.

use entity_core::db::{Measure, Row as Columns};
use entity_core::schema::Role;
use entity_core::search::{Cell, Test};
use entity_core::wire::Millis;
use entity_core::{Context, DateTimeUtc, Filter, Page, Result, Scope, Search, db};
use sea_orm::sea_query::{Alias, Expr, JoinType, Query, SelectStatement};
use sea_orm::{ConnectionTrait, DbErr, Statement};

use super::visibility::{Held, Powers, write_addressed, write_condition};
use super::{Announcement, Row, attachment};
use crate::db::sql::Sql;
use crate::user::full_name;

/// What [`from_row`] reads, in this order; the last column is written by [`write_addressed`].
const COLUMNS: &str = "a.id, a.site_id, a.channel, a.title, a.body, a.created_by, a.published, a.modified, \
    a.is_draft, a.release_at, a.retract_at, a.is_restricted, a.position, a.highlight, a.attachments, \
    a.created, a.version, s.title, u.first_name, u.last_name, ";
const TABLES: &str = " FROM announcement a JOIN site s ON s.id = a.site_id \
    LEFT JOIN user_account u ON u.id = a.created_by WHERE ";

/// Which announcements are wanted.
#[derive(Clone, Debug)]
pub(super) struct Question<'a> {
    /// Where they are.
    pub(super) place: Place<'a>,
    /// The earliest instant at which they came out, in milliseconds.
    pub(super) since: Option<i64>,
    /// Which come first.
    pub(super) order: Order,
    /// How many to leave out at the beginning.
    pub(super) start: u64,
    /// How many to fetch at most: one more than are wanted.
    pub(super) fetch: u64,
    /// How much of them is read.
    pub(super) measure: Measure,
}

/// The sites of a list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'a> {
    /// This one.
    Site(&'a str),
    /// All of these.
    Scope(&'a Scope),
    /// Of these, those that the caller is a member of.
    Own(&'a Scope),
    /// Of these, those that the caller keeps at hand.
    Pinned(&'a Scope),
}

/// Where announcements are wanted, and how far back: what an address says besides a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Within<'a> {
    /// Where they are.
    pub(super) place: Place<'a>,
    /// The earliest instant at which they came out, in milliseconds.
    pub(super) since: Option<i64>,
}

/// Which announcements come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// What came out last comes first.
    NewestFirst,
    /// What came out first comes first: the other order backwards.
    OldestFirst,
}

/// The announcement with this id, or with this part of an id behind the last colon.
pub(super) async fn one(cx: &Context, id: &str) -> Result<Option<Announcement>> {
    let own_id = id.rsplit_once(':').map_or(id, |(_, it)| it);
    let connection = cx.db()?;
    let mut sql = Sql::new(connection.get_database_backend(), "SELECT ");
    write_columns(&mut sql, cx);
    sql.push(TABLES).push("a.id = ").bind(own_id);
    let read = |row: &mut Columns<'_>| from_row(cx, row);
    let mut found = connection.rows(sql.into_statement(), read).await?;
    add_groups(cx, &mut found).await?;
    let found = found.into_iter().next();
    Ok(found.filter(|it| id == own_id || it.id == id))
}

/// The announcements that `search` asks for within these bounds and the caller sees. Nearly all lists ask for no
/// more than a place and one of two orders, which a statement of their own answers.
pub(super) async fn find(
    cx: &Context,
    search: &Search,
    within: Within<'_>,
) -> Result<Page<Announcement>> {
    let Within { place, since } = within;
    match plain_order(search, place) {
        None => self::search(cx, search, within).await,
        Some(order) => {
            let question = Question {
                place,
                since,
                order,
                start: search.start,
                fetch: search.fetch(),
                measure: cx.measure(search),
            };
            list(cx, &question).await
        }
    }
}

/// The order of a search that asks for nothing more.
fn plain_order(search: &Search, place: Place<'_>) -> Option<Order> {
    let is_said = |filter: &Filter| match (&filter.test, place) {
        (Test::Equal(Cell::Text(site)), Place::Site(own)) => {
            filter.field.role == Some(Role::Site) && site == own
        }
        _ => false,
    };
    let is_plain =
        search.words.is_empty() && search.cursor.is_none() && search.filters.iter().all(is_said);
    let is_by = |is_newest_first| {
        search.is_ordered_by(&[
            ("createdOn", is_newest_first),
            ("announcementId", !is_newest_first),
        ])
    };
    match is_plain {
        true if is_by(true) => Some(Order::NewestFirst),
        true if is_by(false) => Some(Order::OldestFirst),
        _ => None,
    }
}

/// The announcements that `question` asks for and the caller sees.
pub(super) async fn list(cx: &Context, question: &Question<'_>) -> Result<Page<Announcement>> {
    let statement = match question.place {
        Place::Site(site) => statement(cx, question, &Powers::in_site(cx, site).await?)?,
        _ => statement(cx, question, &Powers::everywhere(cx).await?)?,
    };
    let read = |row: &mut Columns<'_>| from_row(cx, row);
    let measure = question
        .measure
        .clone()
        .short(question.start <= db::MOST_PASSED);
    let mut page = cx.db()?.page(statement, measure, read).await?;
    add_groups(cx, &mut page.items).await?;
    Ok(page)
}

/// The statement that answers `question` for a caller with `powers`.
pub(super) fn statement<T: Held>(
    cx: &Context,
    question: &Question<'_>,
    powers: &Powers<T>,
) -> Result<Statement> {
    let (user, now) = (user(cx), cx.now().timestamp_millis());
    let mut sql = Sql::new(cx.db()?.get_database_backend(), "SELECT ");
    write_columns(&mut sql, cx);
    sql.push(TABLES);
    let (place, since) = (question.place, question.since);
    Within { place, since }.write(&mut sql, user)?;
    sql.push(" AND ");
    write_condition(&mut sql, powers, user, now)?;
    sql.push(match question.order {
        Order::NewestFirst => " ORDER BY a.published DESC, a.id LIMIT ",
        Order::OldestFirst => " ORDER BY a.published, a.id DESC LIMIT ",
    });
    sql.bind(to_bound(question.fetch));
    sql.push(" OFFSET ").bind(to_bound(question.start));
    Ok(sql.into_statement())
}

/// The announcements that a search with filters, words or an order of its own asks for and the caller sees.
async fn search(cx: &Context, search: &Search, within: Within<'_>) -> Result<Page<Announcement>> {
    let mut statement = visible(cx, within).await?;
    db::apply(&mut statement, search, schema(), "a");
    let statement = cx.db()?.get_database_backend().build(&statement);
    let read = |row: &mut Columns<'_>| from_row(cx, row);
    let measure = cx.measure(search);
    let mut page = cx.db()?.page(statement, measure, read).await?;
    add_groups(cx, &mut page.items).await?;
    Ok(page)
}

/// How many announcements a search asks for within these bounds and the caller sees.
pub(super) async fn count(cx: &Context, search: &Search, within: Within<'_>) -> Result<u64> {
    let mut statement = visible(cx, within).await?;
    statement.cond_where(db::condition(search, schema(), "a"));
    db::count_rows(cx, statement).await
}

/// Selects what the caller sees within these bounds.
async fn visible(cx: &Context, within: Within<'_>) -> Result<SelectStatement> {
    let mut condition = Sql::new(cx.db()?.get_database_backend(), "");
    let (user, now) = (user(cx), cx.now().timestamp_millis());
    within.write(&mut condition, user)?;
    condition.push(" AND ");
    match within.place {
        Place::Site(site) => {
            let powers = Powers::in_site(cx, site).await?;
            write_condition(&mut condition, &powers, user, now)?;
        }
        _ => write_condition(&mut condition, &Powers::everywhere(cx).await?, user, now)?,
    }
    let mut statement = select(cx)?;
    statement.and_where(condition.into_expression());
    Ok(statement)
}

impl Within<'_> {
    fn write(&self, sql: &mut Sql, user: &str) -> Result<()> {
        self.place.write(sql, user)?;
        if let Some(since) = self.since {
            sql.push(" AND a.published >= ").bind(since);
        }
        Ok(())
    }
}

impl Place<'_> {
    fn write(&self, sql: &mut Sql, user: &str) -> Result<()> {
        let (scope, pinned) = match *self {
            Place::Site(site) => {
                sql.push("a.site_id = ").bind(site);
                return Ok(());
            }
            Place::Scope(scope) => return scope.write(sql),
            Place::Own(scope) => (scope, ""),
            Place::Pinned(scope) => (scope, " AND m.is_pinned"),
        };
        scope.write(sql)?;
        sql.push(
            " AND a.site_id IN (SELECT m.site_id FROM membership m WHERE m.is_active AND m.user_id = ",
        )
        .bind(user);
        sql.push(pinned).push(")");
        Ok(())
    }
}

fn schema() -> &'static entity_core::schema::Schema {
    <Announcement as entity_core::Entity>::schema()
}

/// The caller's id; nobody's is empty.
fn user(cx: &Context) -> &str {
    cx.caller().user_id().unwrap_or_default()
}

/// A count as a database takes it.
fn to_bound(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn write_columns(sql: &mut Sql, cx: &Context) {
    sql.push(COLUMNS);
    write_addressed(sql, user(cx));
}

/// The columns and tables of the other statements, as one that further conditions can be added to.
fn select(cx: &Context) -> Result<SelectStatement> {
    let mut columns = Sql::new(cx.db()?.get_database_backend(), "");
    write_columns(&mut columns, cx);
    let mut statement = Query::select();
    statement
        .expr(columns.into_expression())
        .from_as(Alias::new("announcement"), Alias::new("a"))
        .join_as(
            JoinType::InnerJoin,
            Alias::new("site"),
            Alias::new("s"),
            Expr::cust("s.id = a.site_id"),
        )
        .join_as(
            JoinType::LeftJoin,
            Alias::new("user_account"),
            Alias::new("u"),
            Expr::cust("u.id = a.created_by"),
        );
    Ok(statement)
}

/// Fills in the groups of those announcements that are for some groups only.
async fn add_groups(cx: &Context, announcements: &mut [Announcement]) -> Result<()> {
    let restricted: Vec<String> = announcements
        .iter()
        .filter(|it| it.row.is_restricted)
        .map(|it| it.announcement_id.clone())
        .collect();
    if restricted.is_empty() {
        return Ok(());
    }
    let mut sql = Sql::new(
        cx.db()?.get_database_backend(),
        "SELECT announcement_id, group_id FROM announcement_group WHERE announcement_id",
    );
    sql.bind_list(&restricted)?
        .push(" ORDER BY announcement_id, group_id");
    let read = |row: &mut Columns<'_>| Ok((row.take::<String>()?, row.take::<String>()?));
    for (id, group) in cx.db()?.rows(sql.into_statement(), read).await? {
        if let Some(it) = announcements.iter_mut().find(|it| it.announcement_id == id) {
            it.groups.push(group);
        }
    }
    Ok(())
}

fn from_row(cx: &Context, columns: &mut Columns<'_>) -> Result<Announcement> {
    let announcement_id: String = columns.take()?;
    let site_id: String = columns.take()?;
    let channel: String = columns.take()?;
    let title = columns.take()?;
    let body = columns.take()?;
    let created_by = columns.take()?;
    let created_on = millis(columns.take()?)?;
    let modified_on = millis(columns.take()?)?;
    let draft = columns.take()?;
    let release_date = columns.take::<Option<i64>>()?.map(millis).transpose()?;
    let retract_date = columns.take::<Option<i64>>()?.map(millis).transpose()?;
    let is_restricted = columns.take()?;
    let position = columns.take()?;
    let highlight = columns.take()?;
    let attachments = attachment::show(&columns.take::<String>()?, cx.base_url())?;
    let created = columns.take()?;
    let version = columns.take()?;
    let site_title = columns.take()?;
    let first_name: Option<String> = columns.take()?;
    let last_name: Option<String> = columns.take()?;
    let is_addressed = columns.take()?;
    Ok(Announcement {
        id: format!("{site_id}:{channel}:{announcement_id}"),
        announcement_id,
        title,
        body,
        channel,
        site_id,
        site_title,
        created_by,
        created_by_display_name: full_name(
            first_name.as_deref().unwrap_or_default(),
            last_name.as_deref().unwrap_or_default(),
        ),
        created_on,
        modified_on,
        highlight,
        selected_roles: None,
        draft,
        release_date,
        retract_date,
        groups: Vec::new(),
        attachments,
        row: Row {
            created,
            position,
            version,
            is_restricted,
            is_addressed,
        },
    })
}

fn millis(millis: i64) -> Result<Millis, DbErr> {
    DateTimeUtc::from_timestamp_millis(millis)
        .map(Millis)
        .ok_or_else(|| DbErr::Type(format!("{millis} ms is no instant")))
}
