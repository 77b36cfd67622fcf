//! Scores as they are stored, of a few students at a time: all those of a large class are too many for the memory.

use std::collections::HashMap;

use entity_core::db::{self, ReadLimit, Row};
use entity_core::wire::Decimal;
use entity_core::{Context, Result};

use super::score::GradebookScore;

/// The maximum number of scores that are read at once: an answer in JSON or XML holds no more.
const SCORES: usize = 10_000;
/// The maximum number of students whose scores are read at once.
const STUDENTS: usize = 500;
/// The text in place of the score of an item that does not count for the student.
pub(super) const EXCUSED: &str = "EX";

/// The stored score of one student and one item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Row)]
pub(super) struct Stored {
    pub(super) score: Option<Decimal>,
    pub(super) excused: bool,
    pub(super) comment: String,
}

/// The stored scores, by student and item.
pub(super) type Scores = HashMap<(String, String), Stored>;

impl Stored {
    /// Returns the score as people write it.
    pub(super) fn shown(&self) -> String {
        self.to_cell().trim_end_matches(".0").to_owned()
    }

    /// Returns the cell with the score.
    pub(super) fn to_cell(&self) -> String {
        match (self.excused, self.score) {
            (true, _) => EXCUSED.to_owned(),
            (false, score) => score.map(|it| it.to_string()).unwrap_or_default(),
        }
    }
}

/// Returns the number of students whose scores are read at once where there are so many items.
pub(super) fn at_once(items: usize) -> usize {
    let students = SCORES.checked_div(items).unwrap_or(STUDENTS);
    students.clamp(1, STUDENTS)
}

/// Returns what is stored of the first of these students, and the number of these: it is less where comments are long.
pub(super) async fn of_first(
    cx: &Context,
    site: &str,
    users: &[&str],
    items: usize,
) -> Result<(Scores, usize)> {
    let mut count = at_once(items).min(users.len());
    loop {
        let few = users.get(..count).unwrap_or_default();
        let bytes = match count {
            0 | 1 => usize::MAX,
            _ => cx.answer_bytes(),
        };
        if let Some(scores) = within(cx, site, few, bytes).await? {
            return Ok((scores, count));
        }
        count = count.div_euclid(2).max(1);
    }
}

/// Returns what is stored of these students in one item.
pub(super) async fn of_item(cx: &Context, item: &str, users: &[&str]) -> Result<Scores> {
    let ids: Vec<String> = users
        .iter()
        .map(|it| GradebookScore::id_of(item, it))
        .collect();
    let db = cx.db()?;
    let mut sql = db.sql(SELECTED);
    sql.push("score_id").bind_list(&ids)?;
    let found = db.each(cx, sql.into_statement(), db::columns).await?;
    Ok(found.into_iter().collect())
}

/// The beginning of the statements that select what is stored.
const SELECTED: &str =
    "SELECT user_id, item_id, score, excused, comment FROM gradebook_score WHERE ";

/// Returns what is stored of these students, if that takes no more than `bytes` bytes.
async fn within(cx: &Context, site: &str, users: &[&str], bytes: usize) -> Result<Option<Scores>> {
    let db = cx.db()?;
    let mut sql = db.sql(SELECTED);
    sql.push("site_id = ").bind(site);
    sql.push(" AND user_id").bind_list(users)?;
    let limit = ReadLimit {
        bytes,
        ..cx.read_limit_of(u64::MAX)
    };
    let page = db.page(sql.into_statement(), limit, db::columns).await?;
    Ok((!page.has_more).then(|| page.items.into_iter().collect()))
}
