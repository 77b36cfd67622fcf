//! The tasks of the demo university.

use chrono::TimeDelta;
use entity_core::wire::Millis;
use entity_core::{Context, Demo, Result, db};

use super::Task;
use crate::base::university::BIOLOGY;

/// Who has to do what, in how many days, with which priority, and whether it is done.
const PLANS: [(&str, &str, &str, i64, i64, bool); 5] = [
    (
        "student1",
        "",
        "Return the books to the library",
        2,
        4,
        false,
    ),
    (
        "student1",
        BIOLOGY,
        "Read chapter 5 before the lab",
        1,
        5,
        false,
    ),
    (
        "student1",
        BIOLOGY,
        "Choose a partner for the excursion",
        -1,
        3,
        true,
    ),
    ("student2", "", "Renew the student card", 9, 3, false),
    (
        "instructor1",
        BIOLOGY,
        "Book the greenhouse for the lab",
        3,
        4,
        false,
    ),
];

/// Adds the tasks and returns their number.
pub(super) async fn fill(cx: &Context, demo: &Demo) -> Result<usize> {
    for (person, site, description, days, priority, complete) in PLANS {
        let person = demo.person(person)?;
        let at = |days| {
            let instant = cx.now().checked_add_signed(TimeDelta::days(days));
            Millis(instant.unwrap_or_else(|| cx.now()))
        };
        let number = db::large_number(cx);
        let task = Task {
            id: number.to_string(),
            task_id: i64::try_from(number).unwrap_or_default(),
            user_id: person.to_owned(),
            site_id: Some(site)
                .filter(|it| !it.is_empty())
                .map(ToOwned::to_owned),
            description: description.to_owned(),
            starts: at(-7),
            due: Some(at(days)),
            priority,
            complete,
            assignation_type: "user".to_owned(),
            task_assigned_to: "#USER#".to_owned(),
            owner: person.to_owned(),
            created_on: at(-7),
            version: 1,
            ..Task::default()
        };
        db::insert(cx, &task).await?;
    }
    Ok(PLANS.len())
}
