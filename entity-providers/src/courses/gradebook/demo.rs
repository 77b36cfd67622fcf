//! The gradebooks of the demo university: graded and ungraded items, released and not.

use chrono::TimeDelta;
use entity_core::db;
use entity_core::wire::{Decimal, Millis};
use entity_core::{Context, Demo, Result};

use super::category::GradebookCategory;
use super::entered::GradebookOverride;
use super::item::GradebookItem;
use super::marking::{self, Mark};
use crate::base::university::{BIOLOGY, HISTORY};

/// An item, and how many of the students `student1` … are graded.
struct Plan {
    site: &'static str,
    name: &'static str,
    category: Option<&'static str>,
    points: i64,
    /// Days from now.
    due: i64,
    is_released: bool,
    is_extra: bool,
    graded: i64,
}

const CATEGORIES: [(&str, i64, i64); 3] = [("Homework", 30, 1), ("Labs", 20, 0), ("Exams", 50, 0)];

const PLANS: [Plan; 8] = [
    item(BIOLOGY, "Essay 1", Some("Homework"), 100, -20, true, 20),
    item(BIOLOGY, "Essay 2", Some("Homework"), 100, -6, true, 12),
    item(BIOLOGY, "Microscopy lab", Some("Labs"), 20, -12, true, 18),
    item(BIOLOGY, "Quiz on cells", Some("Exams"), 10, -3, true, 20),
    item(BIOLOGY, "Midterm exam", Some("Exams"), 50, -2, false, 20),
    item(BIOLOGY, "Final exam", Some("Exams"), 100, 40, false, 0),
    Plan {
        is_extra: true,
        ..item(BIOLOGY, "Herbarium", Some("Labs"), 5, 20, true, 2)
    },
    item(HISTORY, "Essay on Lübeck", None, 30, 7, true, 0),
];

const fn item(
    site: &'static str,
    name: &'static str,
    category: Option<&'static str>,
    points: i64,
    due: i64,
    is_released: bool,
    graded: i64,
) -> Plan {
    Plan {
        site,
        name,
        category,
        points,
        due,
        is_released,
        is_extra: false,
        graded,
    }
}

/// Adds the items, their categories and the scores, and returns the number of items.
pub(super) async fn fill(cx: &Context, demo: &Demo) -> Result<usize> {
    let mut categories = Vec::new();
    for (name, weight, drop_lowest) in CATEGORIES {
        let category = GradebookCategory {
            category_id: cx.new_id(),
            site_id: BIOLOGY.to_owned(),
            name: name.to_owned(),
            weight: Some(whole(weight)),
            drop_lowest,
            modified_on: ago(cx, 40),
            version: 1,
            ..GradebookCategory::default()
        };
        db::insert(cx, &category).await?;
        categories.push((name, category.category_id));
    }
    // The columns of assignments come first: they were made before.
    for (plan, position) in PLANS.iter().zip(10..) {
        let category = categories.iter().find(|it| plan.category == Some(it.0));
        let item = plan.item(cx, position, category.map(|it| it.1.clone()));
        db::insert(cx, &item).await?;
        let marks = plan.marks(demo, &item.item_id)?;
        marking::store(cx, plan.site, demo.person("instructor1")?, marks).await?;
    }
    db::insert(cx, &entered(cx, demo)?).await?;
    Ok(PLANS.len())
}

/// Somebody was ill, and the course grade was settled otherwise.
fn entered(cx: &Context, demo: &Demo) -> Result<GradebookOverride> {
    let student = demo.person("student20")?;
    Ok(GradebookOverride {
        override_id: format!("{BIOLOGY}:{student}"),
        site_id: BIOLOGY.to_owned(),
        user_id: student.to_owned(),
        grade: "B+".to_owned(),
        reason: "Oral exam in the place of the second essay.".to_owned(),
        entered_by: demo.person("instructor1")?.to_owned(),
        entered_on: ago(cx, 1),
        version: 1,
        ..GradebookOverride::default()
    })
}

fn whole(number: i64) -> Decimal {
    Decimal::of_units(number.saturating_mul(10_000))
}

/// The instant so many days ago.
fn ago(cx: &Context, days: i64) -> Millis {
    let instant = TimeDelta::try_days(days).and_then(|it| cx.now().checked_sub_signed(it));
    Millis(instant.unwrap_or_else(|| cx.now()))
}

impl Plan {
    fn item(&self, cx: &Context, position: i64, category_id: Option<String>) -> GradebookItem {
        GradebookItem {
            item_id: cx.new_id(),
            site_id: self.site.to_owned(),
            name: self.name.to_owned(),
            points: whole(self.points),
            category_id,
            due_date: Some(ago(cx, self.due.saturating_neg())),
            extra_credit: self.is_extra,
            released: self.is_released,
            counted: true,
            position,
            created_on: ago(cx, 30),
            modified_on: ago(cx, 30),
            version: 1,
            ..GradebookItem::default()
        }
    }

    /// The scores: between six and ten tenths of the points, in steps of a quarter of a percent.
    fn marks(&self, demo: &Demo, item: &str) -> Result<Vec<Mark>> {
        let students = (1..=self.graded).map(|number| {
            let step = number
                .saturating_mul(37)
                .saturating_add(self.points)
                .rem_euclid(160);
            let part = step.saturating_mul(25).saturating_add(6_000);
            Ok(Mark {
                item: item.to_owned(),
                user: demo.person(&format!("student{number}"))?.to_owned(),
                score: Some(Some(Decimal::of_units(self.points.saturating_mul(part)))),
                excused: None,
                comment: (number == 1).then(|| "Well argued.".to_owned()),
            })
        });
        students.collect()
    }
}
