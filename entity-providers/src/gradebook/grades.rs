//! The rows of gradebooks: each student with each item.

use std::collections::HashMap;

use entity_core::db::{Row, Sql};
use entity_core::wire::Decimal;
use entity_core::{Context, Page, Result, Window, encode_segment};

use super::audience::{Audience, write_students};
use super::{GradeRow, Gradebook};
use crate::user::NAME_OR_NOTHING;

/// The tool whose place in a site says that the site has a gradebook, even an empty one.
pub(super) const TOOL: &str = "sakai.gradebookng";

/// A site with a gradebook.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) audience: Audience,
}

/// Returns those of the sites that have a gradebook, by title.
pub(super) async fn sites(
    cx: &Context,
    seen: Vec<(String, Audience)>,
    window: Window,
) -> Result<Page<Site>> {
    let ids: Vec<&str> = seen.iter().map(|it| it.0.as_str()).collect();
    let db = cx.db()?;
    let mut sql = db.sql("SELECT s.id, s.title FROM site s WHERE s.id");
    sql.bind_list(&ids)?;
    sql.push(" AND (EXISTS (SELECT 1 FROM gradebook_item i WHERE i.site_id = s.id)");
    sql.push(" OR EXISTS (SELECT 1 FROM site_tool t WHERE t.site_id = s.id AND t.tool_id = ");
    sql.bind(TOOL).push(")) ORDER BY s.title, s.id");
    limit(&mut sql, window);
    let audiences: HashMap<&str, Audience> = seen.iter().map(|it| (it.0.as_str(), it.1)).collect();
    let read = |row: &mut Row<'_>| {
        let (id, title): (String, String) = (row.take()?, row.take()?);
        let audience = audiences.get(id.as_str()).copied();
        Ok(audience.map(|audience| Site {
            id,
            title,
            audience,
        }))
    };
    let found = db.rows(sql.into_statement(), read).await?;
    Ok(Page::cut(
        found.into_iter().flatten().collect(),
        window.limit,
    ))
}

/// Appends which rows are wanted, and one more.
pub(super) fn limit(sql: &mut Sql, window: Window) {
    let bound = |it: u64| i64::try_from(it).unwrap_or(i64::MAX);
    sql.push(" LIMIT ")
        .bind(bound(window.limit.saturating_add(1)));
    sql.push(" OFFSET ").bind(bound(window.start));
}

/// Returns the part `window` of the rows of these sites, each with its site: in the order of the titles of the sites, of
/// the students' names and of the items.
pub(super) async fn rows(
    cx: &Context,
    sites: &[Site],
    item: Option<&str>,
    window: Window,
) -> Result<Page<(String, GradeRow)>> {
    let graded: Vec<&str> = sites
        .iter()
        .filter(|it| it.audience.is_grader())
        .map(|it| it.id.as_str())
        .collect();
    let db = cx.db()?;
    let mut sql = db.sql("SELECT this.site_id, i.name, i.points, u.id, ");
    sql.push(NAME_OR_NOTHING)
        .push(", coalesce(i.released OR this.site_id");
    sql.bind_list(&graded)?;
    sql.push(
        ", FALSE), c.score, c.comment FROM membership this JOIN site s ON s.id = this.site_id \
         JOIN user_account u ON u.id = this.user_id JOIN gradebook_item i ON i.site_id = this.site_id \
         LEFT JOIN gradebook_score c ON c.score_id = i.item_id || ':' || this.user_id WHERE (FALSE",
    );
    for site in sites {
        write_students(cx, sql.push(" OR "), &site.id, site.audience).await?;
    }
    sql.push(")");
    if let Some(name) = item {
        sql.push(" AND i.name = ").bind(name);
    }
    sql.push(" ORDER BY s.title, s.id, u.last_name, u.first_name, u.id, i.position, i.item_id");
    limit(&mut sql, window);
    let is_of_item = item.is_some();
    let read = |row: &mut Row<'_>| read(row, is_of_item);
    db.page(sql.into_statement(), cx.measure_items(window.limit), read)
        .await
}

fn read(row: &mut Row<'_>, is_of_item: bool) -> Result<(String, GradeRow)> {
    let site = row.take()?;
    let item_name = row.take()?;
    let points = Decimal::of_units(row.take()?);
    let (user_id, user_name) = (row.take()?, row.take()?);
    let is_shown: bool = row.take()?;
    let score: Option<i64> = row.take()?;
    let comment: Option<String> = row.take()?;
    let score = score.filter(|_| is_shown).map(Decimal::of_units);
    let comment = comment.filter(|it| is_shown && !it.is_empty());
    let row = GradeRow {
        item_name,
        grade: score.map(|it| it.to_string()),
        points,
        user_id,
        user_name,
        comment: is_of_item.then_some(comment),
    };
    Ok((site, row))
}

/// Returns the gradebooks of these sites with as many of their rows as an answer may hold. Sites behind the last row
/// that fits are left out, if there is one before them.
pub(super) async fn gradebooks(cx: &Context, page: Page<Site>) -> Result<Page<Gradebook>> {
    let window = Window {
        start: 0,
        limit: MOST_ROWS,
    };
    let rows = rows(cx, &page.items, None, window).await?;
    let last = rows.items.last().map(|it| it.0.clone());
    let mut by_site: HashMap<String, Vec<GradeRow>> = HashMap::new();
    for (site, row) in rows.items {
        by_site.entry(site).or_default().push(row);
    }
    let gradebook = |site: &Site, by_site: &mut HashMap<_, _>| {
        let rows = by_site.remove(&site.id).unwrap_or_default();
        Gradebook::new(site, rows)
    };
    let Some(last) = last.filter(|_| rows.has_more) else {
        return Ok(page.map(|it| gradebook(&it, &mut by_site)));
    };
    let cut = page
        .items
        .iter()
        .position(|it| it.id == last)
        .unwrap_or_default();
    let whole = page.items.iter().take(cut.max(1));
    let mut books: Vec<_> = whole.map(|it| gradebook(it, &mut by_site)).collect();
    if let (0, Some(book)) = (cut, books.first_mut()) {
        let start = u64::try_from(book.assignments.len()).unwrap_or(u64::MAX);
        book.next_assignments = Some(address(cx, &book.site_id, None, start));
    }
    Ok(match books.len() < page.items.len() {
        true => Page::ended(books),
        false => Page {
            has_more: page.has_more,
            ..Page::whole(books)
        },
    })
}

/// The maximum number of rows in one answer. Most answers end earlier, because of their bytes.
pub(super) const MOST_ROWS: u64 = 100_000;

impl Gradebook {
    pub(super) fn new(site: &Site, assignments: Vec<GradeRow>) -> Self {
        Self {
            site_id: site.id.clone(),
            site_name: site.title.clone(),
            assignments,
            next_assignments: None,
        }
    }
}

/// Returns the address of the rows of a gradebook, all or those of one item, of which `start` come before.
pub(super) fn address(cx: &Context, site: &str, item: Option<&str>, start: u64) -> String {
    let (base, site) = (cx.base_url(), encode_segment(site));
    match item {
        Some(item) => {
            let item = encode_segment(item);
            format!("{base}/direct/gradebook/item/{site}/{item}?_start={start}")
        }
        None => format!("{base}/direct/gradebook/site/{site}?_start={start}"),
    }
}

/// Returns whether a site has an item with this name.
pub(super) async fn has_item(cx: &Context, site: &str, name: &str) -> Result<bool> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT count(*) FROM gradebook_item WHERE site_id = ");
    sql.bind(site).push(" AND name = ").bind(name);
    let read = |row: &mut Row<'_>| Ok(row.take::<i64>()?);
    Ok(db.rows(sql.into_statement(), read).await? != [0])
}
