//! The syllabi of the two courses of the demo university.

use chrono::TimeDelta;
use entity_core::db;
use entity_core::file::Files;
use entity_core::wire::Millis;
use entity_core::{Context, Demo, Result};

use super::SyllabusItem;
use crate::base::university::{BIOLOGY, HISTORY};
use crate::courses::content::demo::attach;

/// One item. Days count from now: those before are negative.
struct Plan {
    site: &'static str,
    author: &'static str,
    title: &'static str,
    data: &'static str,
    days: Option<(i64, i64)>,
    files: &'static [&'static str],
    is_draft: bool,
}

const READING: &[&str] = &["reading-list.pdf"];

const PLANS: &[Plan] = &[
    Plan {
        site: BIOLOGY,
        author: "instructor1",
        title: "What this course is about",
        data: "<p>Cells, genes and evolution, in two lectures and one lab a week.</p>",
        days: None,
        files: READING,
        is_draft: false,
    },
    Plan {
        site: BIOLOGY,
        author: "instructor1",
        title: "How grades are made",
        data: "<ul><li>Essays: 40 %</li><li>Lab: 30 %</li><li>Exam: 30 %</li></ul>",
        days: None,
        files: &[],
        is_draft: false,
    },
    Plan {
        site: BIOLOGY,
        author: "instructor1",
        title: "Cell membranes",
        data: "<p>Read chapter 4 before Monday.</p>",
        days: Some((-7, 0)),
        files: &[],
        is_draft: false,
    },
    Plan {
        site: BIOLOGY,
        author: "instructor1",
        title: "Photosynthesis",
        data: "<p>Read chapter 5. The lab is in the <em>greenhouse</em>.</p>",
        days: Some((0, 7)),
        files: &[],
        is_draft: false,
    },
    Plan {
        site: BIOLOGY,
        author: "instructor1",
        title: "Excursion to the salt marsh",
        data: "<p>Not settled yet.</p>",
        days: Some((21, 22)),
        files: &[],
        is_draft: true,
    },
    Plan {
        site: HISTORY,
        author: "instructor2",
        title: "Towns and guilds",
        data: "<p>Who may work in a town, and who may not.</p>",
        days: Some((-14, 0)),
        files: &[],
        is_draft: false,
    },
    Plan {
        site: HISTORY,
        author: "instructor2",
        title: "The league of the merchants",
        data: "<p>Why Lübeck?</p>",
        days: Some((0, 14)),
        files: &[],
        is_draft: false,
    },
];

/// Adds the items and returns their number.
pub(super) async fn fill(cx: &Context, demo: &Demo) -> Result<usize> {
    for (plan, order) in PLANS.iter().zip(1..) {
        let author = demo.person(plan.author)?;
        let mut item = plan.item(cx, author, order);
        item.attachments = attach(cx, plan.site, author, plan.files).await?;
        db::insert(cx, &item).await?;
    }
    Ok(PLANS.len())
}

impl Plan {
    fn item(&self, cx: &Context, author: &str, order: i64) -> SyllabusItem {
        let at = |days| {
            cx.now()
                .checked_add_signed(TimeDelta::days(days))
                .map(Millis)
        };
        let written = at(-30).unwrap_or(Millis(cx.now()));
        SyllabusItem {
            id: cx.new_id(),
            site_id: self.site.to_owned(),
            title: self.title.to_owned(),
            data: self.data.to_owned(),
            order,
            start_date: self.days.and_then(|it| at(it.0)),
            end_date: self.days.and_then(|it| at(it.1)),
            draft: self.is_draft,
            attachments: Files::default(),
            created_by: author.to_owned(),
            created_on: written,
            modified_on: written,
            version: 1,
            ..SyllabusItem::default()
        }
    }
}
