//! The rows of gradebooks: each student with each item.

use std::collections::HashMap;

use entity_core::db::{self, ReadLimit, Row, Sql};
use entity_core::wire::{Decimal, size_in_json};
use entity_core::{Context, Page, Result, Window, encode_segment};

use super::audience::{Audience, sees_grades, write_classes, write_students};
use super::{GradeRow, Gradebook};
use crate::people::user::NAME_OR_NOTHING;

/// The tool whose place in a site says that the site has a gradebook, even an empty one.
pub(crate) const TOOL: &str = "sakai.gradebookng";

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
        let (id, title): (String, String) = db::columns(row)?;
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

/// The maximum number of rows that are read at once where all rows of a site are asked for: the database sorts them.
const AT_ONCE: u64 = 5_000;

/// Returns the part `window` of the rows of these sites, each with its site: in the order of the titles of the sites, of
/// the students' names and of the items. Students have no rows of items that are not released: the names would tell.
pub(super) async fn rows(
    cx: &Context,
    sites: &[Site],
    item: Option<&str>,
    window: Window,
) -> Result<Page<(String, GradeRow)>> {
    if let ([site], None) = (sites, item) {
        return in_steps(cx, site, window).await;
    }
    let limit = cx.read_limit_of(window.limit);
    selected(cx, (sites, item, None), window, limit).await
}

/// Returns the part `window` of the rows of one site, some students after the other, until an answer is full.
async fn in_steps(cx: &Context, site: &Site, window: Window) -> Result<Page<(String, GradeRow)>> {
    let sites = std::slice::from_ref(site);
    let items = items(cx, sites).await?.get(&site.id).copied();
    let mut limit = cx.read_limit_of(AT_ONCE);
    let mut found = Vec::new();
    loop {
        let before = u64::try_from(found.len()).unwrap_or(u64::MAX);
        let left = window.limit.saturating_sub(before);
        let step = Window {
            start: window.start.saturating_add(before),
            limit: left.min(AT_ONCE),
        };
        limit.items = step.limit;
        let few = Some(Few::of(items.unwrap_or_default(), step));
        let of = (sites, None, few);
        let page = selected(cx, of, step, limit.clone()).await?;
        let bytes = page.items.iter().map(|it| size_in_json(&it.1));
        let bytes: usize = bytes.sum::<Result<_>>()?;
        limit.bytes = limit.bytes.saturating_sub(bytes);
        let is_full = page.places.end().is_some() || limit.bytes == 0;
        found.extend(page.items);
        match page.has_more {
            false => return Ok(Page::whole(found)),
            true if is_full => return Ok(Page::ended(found)),
            true if left <= AT_ONCE => {
                return Ok(Page {
                    has_more: true,
                    ..Page::whole(found)
                });
            }
            true => {}
        }
    }
}

/// Returns the rows of these sites, or of their items with this name, or of these few students of the one site.
async fn selected(
    cx: &Context,
    (sites, item, few): (&[Site], Option<&str>, Option<Few>),
    window: Window,
    read_limit: ReadLimit,
) -> Result<Page<(String, GradeRow)>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT this.site_id, i.name, i.points, u.id, ");
    sql.push(NAME_OR_NOTHING).push(", c.score, c.comment FROM ");
    match (&few, sites) {
        (Some(few), [site]) => few.write(cx, &mut sql, site).await?,
        _ => drop(sql.push("membership")),
    }
    sql.push(
        " this JOIN site s ON s.id = this.site_id \
         JOIN user_account u ON u.id = this.user_id JOIN gradebook_item i ON i.site_id = this.site_id \
         LEFT JOIN gradebook_score c ON c.score_id = i.item_id || ':' || this.user_id WHERE ",
    );
    let ids: Vec<&str> = sites.iter().map(|it| it.id.as_str()).collect();
    sees_grades(cx, &ids).await?.write(&mut sql, "i")?;
    sql.push(" AND ");
    match few.is_some() {
        true => drop(sql.push("TRUE")),
        false => write_classes(cx, &mut sql, classes_of(sites)).await?,
    }
    if let Some(name) = item {
        sql.push(" AND i.name = ").bind(name);
    }
    sql.push(" ORDER BY s.title, s.id, u.last_name, u.first_name, u.id, i.position, i.item_id");
    let start = few.map_or(window.start, |it| it.rest);
    limit(&mut sql, Window { start, ..window });
    let is_of_item = item.is_some();
    let read = |row: &mut Row<'_>| read(row, is_of_item);
    db.page(sql.into_statement(), read_limit, read).await
}

/// Returns these sites as [`write_classes`] takes them.
fn classes_of(sites: &[Site]) -> Vec<(&str, Audience)> {
    sites
        .iter()
        .map(|it| (it.id.as_str(), it.audience))
        .collect()
}

/// Returns the number of items of each of these sites that the caller sees.
async fn items(cx: &Context, sites: &[Site]) -> Result<HashMap<String, u64>> {
    let ids: Vec<&str> = sites.iter().map(|it| it.id.as_str()).collect();
    let db = cx.db()?;
    let mut sql = db.sql("SELECT i.site_id, count(*) FROM gradebook_item i WHERE i.site_id");
    sql.bind_list(&ids)?.push(" AND ");
    sees_grades(cx, &ids).await?.write(&mut sql, "i")?;
    sql.push(" GROUP BY i.site_id");
    counted(cx, sql).await
}

/// Returns the number of students of each of these sites whom the caller sees.
async fn students(cx: &Context, sites: &[Site]) -> Result<HashMap<String, u64>> {
    let db = cx.db()?;
    let mut sql = db.sql(
        "SELECT this.site_id, count(*) FROM membership this JOIN user_account u ON u.id = this.user_id WHERE ",
    );
    write_classes(cx, &mut sql, classes_of(sites)).await?;
    sql.push(" GROUP BY this.site_id");
    counted(cx, sql).await
}

async fn counted(cx: &Context, sql: Sql) -> Result<HashMap<String, u64>> {
    let read = |row: &mut Row<'_>| {
        let (site, count): (String, i64) = db::columns(row)?;
        Ok((site, u64::try_from(count).unwrap_or_default()))
    };
    let found = cx.db()?.rows(sql.into_statement(), read).await?;
    Ok(found.into_iter().collect())
}

/// Returns the number of rows of a gradebook that the caller sees, all or those of one item.
pub(super) async fn count(cx: &Context, site: &Site, item: Option<&str>) -> Result<u64> {
    let sites = std::slice::from_ref(site);
    let of = |counts: HashMap<String, u64>| counts.get(&site.id).copied().unwrap_or_default();
    let students = of(students(cx, sites).await?);
    let items = match item {
        Some(name) => u64::from(has_item(cx, site, name).await?),
        None => of(items(cx, sites).await?),
    };
    Ok(students.saturating_mul(items))
}

/// The few students in whose rows a part of a gradebook is. Each has as many rows as there are items, so that the others
/// need not be read.
#[derive(Clone, Copy, Debug)]
struct Few {
    /// The number of students before them, and theirs.
    start: u64,
    count: u64,
    /// The number of rows of theirs before the part.
    rest: u64,
}

impl Few {
    fn of(items: u64, window: Window) -> Self {
        // Without items there are no rows, whoever the students are.
        let items = items.max(1);
        let rest = window.start.checked_rem(items).unwrap_or_default();
        let rows = rest.saturating_add(window.limit).saturating_add(1);
        Self {
            start: window.start.checked_div(items).unwrap_or_default(),
            count: rows.div_ceil(items),
            rest,
        }
    }

    /// Appends the memberships of these students, as a table.
    async fn write(&self, cx: &Context, sql: &mut Sql, site: &Site) -> Result<()> {
        let bound = |it: u64| i64::try_from(it).unwrap_or(i64::MAX);
        sql.push("(SELECT this.site_id, this.user_id FROM membership this JOIN user_account u ON u.id = this.user_id WHERE ");
        write_students(cx, sql, &site.id, site.audience).await?;
        sql.push(" ORDER BY u.last_name, u.first_name, u.id LIMIT ");
        sql.bind(bound(self.count)).push(" OFFSET ");
        sql.bind(bound(self.start)).push(")");
        Ok(())
    }
}

fn read(row: &mut Row<'_>, is_of_item: bool) -> Result<(String, GradeRow)> {
    let ((site, item_name, points), (user_id, user_name)) = db::columns(row)?;
    let (score, comment): (Option<Decimal>, Option<String>) = db::columns(row)?;
    let comment = comment.filter(|it| !it.is_empty());
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
    let page = first(cx, page).await?;
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
            items: books,
            has_more: page.has_more,
            places: page.places,
        },
    })
}

/// Shortens `page` to the first sites whose rows together are read at once, or to the first one if it has more.
async fn first(cx: &Context, mut page: Page<Site>) -> Result<Page<Site>> {
    let is_large = page.items.iter().any(|it| it.audience.is_grader());
    if page.items.len() < 2 || !is_large {
        return Ok(page);
    }
    let items = items(cx, &page.items).await?;
    let students = students(cx, &page.items).await?;
    let of_site = |it: &Site| Some((*items.get(&it.id)?, *students.get(&it.id)?));
    let mut rows = 0_u64;
    let fits = |it: &&Site| {
        let (items, students) = of_site(it).unwrap_or_default();
        rows = rows.saturating_add(items.saturating_mul(students));
        rows <= MOST_AT_ONCE
    };
    let count = page.items.iter().take_while(fits).count().max(1);
    if count < page.items.len() {
        page.items.truncate(count);
        page = Page::ended(page.items);
    }
    Ok(page)
}

/// The maximum number of rows of several sites that are read at once: as many as an answer holds.
const MOST_AT_ONCE: u64 = MOST_ROWS;

/// The maximum number of rows in one answer: one entity has no more than 100,000 values in any format.
pub(super) const MOST_ROWS: u64 = 10_000;

impl Gradebook {
    pub(super) fn new(site: &Site, assignments: Vec<GradeRow>) -> Self {
        Self {
            site_id: site.id.clone(),
            site_name: site.title.clone(),
            item_name: None,
            comment: None,
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

/// Returns whether a site has an item with this name that the caller may know of.
pub(super) async fn has_item(cx: &Context, site: &Site, name: &str) -> Result<bool> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT count(*) FROM gradebook_item i WHERE i.site_id = ");
    sql.bind(site.id.as_str()).push(" AND i.name = ").bind(name);
    sql.push(" AND ");
    sees_grades(cx, &[&site.id]).await?.write(&mut sql, "i")?;
    Ok(db.rows(sql.into_statement(), db::columns::<i64>).await? != [0])
}
