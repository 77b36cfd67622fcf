//! The rule, its SQL and its words agree over all combinations.

use std::collections::BTreeSet;

use entity_core::{Context, Result, Scope};
use sea_orm::{ConnectionTrait, EntityTrait, IntoActiveModel};

use super::{Held, Powers, write_condition};
use crate::announcement::query;
use crate::db::sql::Sql;
use crate::db::{announcement, announcement_group};
use crate::demo::{BIOLOGY, LAB_A, LAB_B};
use crate::testbed::Testbed;

const HOUR: i64 = 3_600_000;
/// The caller of these tests: in Lab A, not in Lab B.
const CALLER: &str = "student1";

/// When an announcement appears and disappears, in hours from now, and whether it is there now.
const TIMES: [(Option<i64>, Option<i64>, bool); 7] = [
    (None, None, true),
    (Some(-1), None, true),
    (Some(0), None, true),
    (Some(-1), Some(1), true),
    (Some(1), None, false),
    (None, Some(-1), false),
    (None, Some(0), false),
];

/// One combination of what the rule looks at.
#[derive(Clone, Debug)]
struct Case {
    id: String,
    is_draft: bool,
    release: Option<i64>,
    retract: Option<i64>,
    is_out: bool,
    groups: Vec<String>,
    is_mine: bool,
}

impl Case {
    /// The rule in the words of the specification.
    fn is_expected(&self, powers: &Powers<bool>, my_group: &str) -> bool {
        if self.is_draft && !self.is_mine && !powers.reads_drafts {
            return false;
        }
        let may_revise = powers.revises_any || self.is_mine && powers.revises_own;
        if !self.is_out && !may_revise {
            return false;
        }
        let is_for_me = self.groups.is_empty() || self.groups.iter().any(|it| it == my_group);
        is_for_me || powers.sees_all_groups
    }
}

fn cases(bed: &Testbed) -> Vec<Case> {
    let (own, other) = (bed.group(LAB_A).to_owned(), bed.group(LAB_B).to_owned());
    let audiences = [
        vec![],
        vec![own.clone()],
        vec![other.clone()],
        vec![own, other],
    ];
    let mut cases = Vec::new();
    for is_draft in [false, true] {
        for (release, retract, is_out) in TIMES {
            for groups in &audiences {
                for is_mine in [false, true] {
                    cases.push(Case {
                        id: format!("case-{}", cases.len()),
                        is_draft,
                        release,
                        retract,
                        is_out,
                        groups: groups.clone(),
                        is_mine,
                    });
                }
            }
        }
    }
    cases
}

async fn insert(cx: &Context, case: Case, authors: [String; 2]) -> Result<()> {
    let now = cx.now().timestamp_millis();
    let [mine, other] = authors;
    let model = announcement::Model {
        id: case.id.clone(),
        site_id: BIOLOGY.to_owned(),
        channel: "main".to_owned(),
        title: case.id.clone(),
        body: String::new(),
        title_folded: None,
        body_folded: None,
        created_by: if case.is_mine { mine } else { other },
        created: now - 2 * HOUR,
        published: now - 2 * HOUR,
        modified: now,
        is_draft: case.is_draft,
        release_at: case.release.map(|it| now + it * HOUR),
        retract_at: case.retract.map(|it| now + it * HOUR),
        is_restricted: !case.groups.is_empty(),
        position: 1,
        highlight: None,
        attachments: "[]".to_owned(),
        version: 1,
    };
    announcement::Entity::insert(model.into_active_model())
        .exec_without_returning(cx.db()?)
        .await?;
    for group_id in case.groups {
        let row = announcement_group::Model {
            announcement_id: case.id.clone(),
            group_id,
            site_id: None,
        };
        announcement_group::Entity::insert(row.into_active_model())
            .exec_without_returning(cx.db()?)
            .await?;
    }
    Ok(())
}

async fn found<T: Held + Sync>(cx: &Context, powers: &Powers<T>) -> Result<BTreeSet<String>> {
    let connection = cx.db()?;
    let mut sql = Sql::new(
        connection.get_database_backend(),
        "SELECT a.id FROM announcement a WHERE a.id LIKE 'case-%' AND ",
    );
    write_condition(&mut sql, powers, cx.user_id()?, cx.now().timestamp_millis())?;
    let rows = connection.query_all_raw(sql.into_statement()).await?;
    rows.iter()
        .map(|it| Ok(entity_core::db::Row::of(it).take::<String>()?))
        .collect()
}

/// Every combination of powers.
fn all_powers() -> impl Iterator<Item = Powers<bool>> {
    (0..16_u8).map(|bits| Powers {
        reads_drafts: bits & 1 != 0,
        revises_any: bits & 2 != 0,
        revises_own: bits & 4 != 0,
        sees_all_groups: bits & 8 != 0,
    })
}

fn scoped(powers: &Powers<bool>) -> Powers<Scope> {
    let scope = |is_held| match is_held {
        true => Scope::Sites(vec!["elsewhere".to_owned(), BIOLOGY.to_owned()]),
        false => Scope::Sites(vec!["elsewhere".to_owned()]),
    };
    Powers {
        reads_drafts: scope(powers.reads_drafts),
        revises_any: scope(powers.revises_any),
        revises_own: scope(powers.revises_own),
        sees_all_groups: scope(powers.sees_all_groups),
    }
}

#[tokio::test]
async fn the_rule_the_condition_and_the_words_agree_over_all_combinations() {
    let bed = Testbed::demo().await;
    let cases = cases(&bed);
    assert_eq!(cases.len(), 2 * 7 * 4 * 2);
    for case in cases.clone() {
        let authors = [bed.id(CALLER).to_owned(), bed.id("instructor1").to_owned()];
        let writer = bed.caller("");
        bed.write(writer, move |cx| {
            Box::pin(insert(cx, case.clone(), authors.clone()))
        })
        .await
        .unwrap();
    }
    let cx = bed.reader(CALLER).await;
    let mut loaded = Vec::new();
    for case in &cases {
        loaded.push(query::one(&cx, &case.id).await.unwrap().unwrap());
    }
    for powers in all_powers() {
        let expected: BTreeSet<String> = cases
            .iter()
            .filter(|it| it.is_expected(&powers, bed.group(LAB_A)))
            .map(|it| it.id.clone())
            .collect();
        let by_rule: BTreeSet<String> = loaded
            .iter()
            .filter(|it| it.facts(&cx).is_visible(&powers))
            .map(|it| it.announcement_id.clone())
            .collect();
        assert_eq!(by_rule, expected, "{powers:?}");
        assert_eq!(found(&cx, &powers).await.unwrap(), expected, "{powers:?}");
        let scoped = scoped(&powers);
        assert_eq!(found(&cx, &scoped).await.unwrap(), expected, "{scoped:?}");
    }
    let everything = Powers::<Scope>::default();
    assert_eq!(found(&cx, &everything).await.unwrap().len(), cases.len());
}

#[tokio::test]
async fn what_is_plain_is_visible_without_any_power() {
    let bed = Testbed::demo().await;
    let cx = bed.reader(CALLER).await;
    let page = bed.get("admin", "announcement/site/biology-101").await;
    for item in page.unwrap().as_array().unwrap() {
        let id = item["id"].as_str().unwrap();
        let facts = query::one(&cx, id).await.unwrap().unwrap().facts(&cx);
        assert_eq!(
            facts.is_plain(),
            facts.is_visible(&Powers::default()),
            "{id}"
        );
    }
}
