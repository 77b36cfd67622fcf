//! The outline of lessons: required items, the items they lock, and the caller's progress.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use entity_core::db::Row;
use entity_core::{Context, Result, Scope, leads};

use super::WRITE;
use super::item::{prefix_of, target_of};

/// The maximum number of entries that are looked at. If there are more, everything with prerequisites is locked.
const MOST: usize = 20_000;

/// Returns the key of the item `id` where items stand beside pages, whose numbers are drawn apart from theirs.
pub(super) fn item_key(id: &str) -> String {
    format!("i{id}")
}

/// A page or an item.
#[derive(Debug)]
struct Entry {
    id: String,
    /// The page that it is part of; empty for pages of the first level.
    page: String,
    site: String,
    position: i64,
    required: bool,
    prerequisite: bool,
    is_done: bool,
    /// The type and the id of the entity that an item shows.
    target: Option<(&'static str, String)>,
}

/// The outline of the lessons of some sites, as the caller sees them. Those who write the lessons of a site find nothing
/// locked there.
#[derive(Debug)]
pub(super) struct Outline {
    writes: Scope,
    is_cut: bool,
    entries: HashMap<String, Entry>,
    /// The ids of the entries, by site and page, in order.
    places: BTreeMap<(String, String), Vec<String>>,
}

impl Outline {
    /// Reads the outline with one statement, and one for each type of entity that required items show.
    pub(super) async fn of(cx: &Context, sites: &BTreeSet<&str>) -> Result<Self> {
        let writes = cx.authorizer().scope(cx, WRITE).await?;
        let sites: Vec<&str> = sites
            .iter()
            .copied()
            .filter(|it| !writes.contains(it))
            .collect();
        let mut entries = if sites.is_empty() {
            Vec::new()
        } else {
            read(cx, &sites).await?
        };
        let is_cut = entries.len() > MOST;
        if is_cut {
            entries.clear();
        }
        let mut outline = Self {
            writes,
            is_cut,
            entries: HashMap::new(),
            places: BTreeMap::new(),
        };
        entries.sort_by(|one, other| (one.position, &one.id).cmp(&(other.position, &other.id)));
        for entry in entries {
            let place = (entry.site.clone(), entry.page.clone());
            outline
                .places
                .entry(place)
                .or_default()
                .push(entry.id.clone());
            outline.entries.insert(entry.id.clone(), entry);
        }
        outline.drop_unseen(cx).await?;
        Ok(outline)
    }

    /// Returns whether the caller writes the lessons of the site.
    pub(super) fn is_writer(&self, site: &str) -> bool {
        self.writes.contains(site)
    }

    /// Returns whether the page or item `id` is locked for the caller, because of what comes before it or before a page
    /// that it is part of.
    pub(super) fn is_locked(&self, site: &str, id: &str) -> bool {
        let mut next = id;
        while let Some(entry) = self.entries.get(next) {
            if entry.prerequisite && self.pending_before(entry).next().is_some() {
                return true;
            }
            next = &entry.page;
        }
        self.is_cut && !self.is_writer(site)
    }

    /// Returns whether everything that is required on the page is done, except for `id`.
    pub(super) fn is_done_but(&self, site: &str, page: &str, id: &str) -> bool {
        let place = (site.to_owned(), page.to_owned());
        let mut entries = self.places.get(&place).into_iter().flatten();
        entries.all(|it| {
            it == id
                || self
                    .entries
                    .get(it)
                    .is_none_or(|it| !it.required || it.is_done)
        })
    }

    /// Returns what is required before `entry` and not done.
    fn pending_before<'a>(&'a self, entry: &Entry) -> impl Iterator<Item = &'a Entry> {
        let place = (entry.site.clone(), entry.page.clone());
        let entries = self.places.get(&place).into_iter().flatten();
        let id = entry.id.clone();
        let before = entries.take_while(move |it| **it != id);
        before
            .filter_map(|it| self.entries.get(it))
            .filter(|it| it.required && !it.is_done)
    }

    /// Lets items not count that show an entity which the caller may not read: nobody could ever do them.
    async fn drop_unseen(&mut self, cx: &Context) -> Result<()> {
        let pending = self
            .entries
            .values()
            .filter(|it| it.required && !it.is_done);
        let targets: BTreeSet<_> = pending.filter_map(|it| it.target.clone()).collect();
        let titles = titles(cx, targets).await?;
        for entry in self.entries.values_mut() {
            if entry
                .target
                .as_ref()
                .is_some_and(|it| !entry.is_done && !titles.contains_key(it))
            {
                entry.required = false;
            }
        }
        Ok(())
    }
}

/// Returns the titles of those of the `targets` that the caller may read now.
pub(super) async fn titles(
    cx: &Context,
    targets: BTreeSet<(&'static str, String)>,
) -> Result<HashMap<(&'static str, String), String>> {
    let mut ids: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    for (prefix, id) in targets {
        ids.entry(prefix).or_default().push(id);
    }
    let mut titles = HashMap::new();
    for (prefix, ids) in ids {
        for item in leads::find(cx, prefix, &ids).await? {
            titles.insert((prefix, item.id()), item.title().unwrap_or_default());
        }
    }
    Ok(titles)
}

async fn read(cx: &Context, sites: &[&str]) -> Result<Vec<Entry>> {
    let db = cx.db()?;
    let caller = cx.user_id()?;
    let mut sql = db.sql(
        "SELECT p.lesson_id, coalesce(p.parent_id, ''), p.site_id, p.place, p.required, p.prerequisite, \
         (d.done_on IS NOT NULL), '', '' FROM lesson_page p \
         LEFT JOIN lesson_progress d ON d.progress_id = p.lesson_id || ':' || ",
    );
    sql.bind(caller)
        .push(" WHERE NOT p.closed AND (p.opens IS NULL OR p.opens <= ");
    sql.bind(cx.now().timestamp_millis())
        .push(") AND p.site_id")
        .bind_list(sites)?;
    sql.push(
        " UNION ALL SELECT 'i' || i.item_id, i.lesson_id, i.site_id, i.place, i.required, i.prerequisite, \
         (d.done_on IS NOT NULL), i.kind, i.sakai_id FROM lesson_item i \
         LEFT JOIN lesson_progress d ON d.progress_id = 'i' || i.item_id || ':' || ",
    );
    sql.bind(caller)
        .push(" WHERE (i.required OR i.prerequisite) AND i.site_id")
        .bind_list(sites)?;
    let most = i64::try_from(MOST).unwrap_or(i64::MAX).saturating_add(1);
    sql.push(" LIMIT ").bind(most);
    let read = |row: &mut Row<'_>| {
        let mut entry = Entry {
            id: row.take()?,
            page: row.take()?,
            site: row.take()?,
            position: row.take()?,
            required: row.take()?,
            prerequisite: row.take()?,
            is_done: row.take()?,
            target: None,
        };
        let (kind, target): (String, String) = (row.take()?, row.take()?);
        entry.target = prefix_of(&kind).map(|prefix| (prefix, target_of(prefix, &target)));
        Ok(entry)
    };
    db.scan(sql.into_statement(), read).await
}
