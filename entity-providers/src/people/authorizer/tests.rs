//! Tests of permissions, in the demo university.

use Decision::{Denied, Granted, UnknownSite};
use entity_core::engine::Event;
use entity_core::unit::{Mode, Store};
use entity_core::{Caller, Context, Decision, Scope};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};

use super::RoleAuthorizer;
use crate::people::site::site;
use crate::people::user::user;
use crate::storage::db::membership;
use crate::testbed::Testbed;

async fn decide(bed: &Testbed, eid: &str, function: &str, site: &str) -> Decision {
    let cx = bed.reader(eid).await;
    cx.authorizer().decide(&cx, function, site).await.unwrap()
}

async fn sql(bed: &Testbed, statement: &str) {
    bed.db.writer.execute_unprepared(statement).await.unwrap();
    bed.forget();
}

#[tokio::test]
async fn roles_hold_what_their_template_grants() {
    let bed = Testbed::demo().await;
    for (eid, function, site, expected) in [
        ("student1", "annc.read", "biology-101", Granted),
        ("student1", "annc.new", "biology-101", Denied),
        ("student1", "site.visit", "history-210", Denied),
        ("student1", "site.visit", "nowhere", UnknownSite),
        ("ta1", "task.create", "biology-101", Granted),
        ("ta1", "site.upd", "biology-101", Denied),
        ("instructor1", "site.upd", "biology-101", Granted),
        ("instructor1", "site.upd", "history-210", Denied),
        ("instructor1", "site.upd", "!admin", Denied),
        ("admin", "annc.new", "history-210", Granted),
        ("admin", "annc.new", "nowhere", UnknownSite),
        ("", "site.visit", "biology-101", Denied),
        // No role knows these: reading follows visiting, the rest follows changing the site.
        ("student1", "note.read", "biology-101", Granted),
        ("student1", "note.new", "biology-101", Denied),
        ("instructor1", "note.new", "biology-101", Granted),
        ("student1", "note.read", "history-210", Denied),
    ] {
        let found = decide(&bed, eid, function, site).await;
        assert_eq!(found, expected, "{eid} {function} {site}");
    }
}

#[tokio::test]
async fn inactive_and_shut_out_users_hold_nothing() {
    let bed = Testbed::demo().await;
    let (student, admin) = (bed.id("student1"), bed.id("admin"));
    sql(
        &bed,
        &format!("UPDATE membership SET is_active = FALSE WHERE user_id = '{student}'"),
    )
    .await;
    assert_eq!(
        decide(&bed, "student1", "site.visit", "biology-101").await,
        Denied
    );
    // Not even what strangers may see.
    sql(&bed, "UPDATE site SET is_pub_view = TRUE").await;
    assert_eq!(
        decide(&bed, "student1", "site.visit", "biology-101").await,
        Denied
    );
    sql(
        &bed,
        &format!("UPDATE user_account SET is_disabled = TRUE WHERE id = '{admin}'"),
    )
    .await;
    assert_eq!(
        decide(&bed, "admin", "site.visit", "biology-101").await,
        Denied
    );
    let cx = bed.reader("admin").await;
    assert!(!cx.authorizer().is_superuser(&cx).await.unwrap());
    assert!(!cx.authorizer().holds(&cx, "site.add").await.unwrap());
}

#[tokio::test]
async fn the_scope_is_where_decisions_are_granted() {
    let bed = Testbed::demo().await;
    for eid in ["student1", "ta1", "instructor1", "instructor2", ""] {
        for function in ["site.visit", "site.upd", "annc.new", "note.read"] {
            let cx = bed.reader(eid).await;
            let mut expected = Vec::new();
            for site in ["biology-101", "field-trip", "history-210"] {
                if decide(&bed, eid, function, site).await.is_granted() {
                    expected.push(site.to_owned());
                }
            }
            let scope = cx.authorizer().scope(&cx, function).await.unwrap();
            let Scope::Sites(found) = scope else {
                panic!("{eid} is no super user");
            };
            let found: Vec<String> = found
                .into_iter()
                .filter(|it| !it.starts_with('!'))
                .collect();
            assert_eq!(found, expected, "{eid} {function}");
        }
    }
    let cx = bed.reader("admin").await;
    let scope = cx.authorizer().scope(&cx, "annc.new").await.unwrap();
    assert_eq!(scope, Scope::Everything);
}

#[tokio::test]
async fn accounts_hold_what_every_account_holds() {
    let bed = Testbed::demo().await;
    for (eid, function, expected) in [
        ("student1", "site.add", true),
        ("student1", "user.add", false),
        ("student1", "user.view.any", false),
        ("admin", "user.view.any", true),
        ("", "site.add", false),
    ] {
        let cx = bed.reader(eid).await;
        let found = cx.authorizer().holds(&cx, function).await.unwrap();
        assert_eq!(found, expected, "{eid} {function}");
    }
}

/// A change that nobody announced, as another machine would make it.
async fn leave(bed: &Testbed) {
    membership::Entity::delete_many()
        .filter(membership::Column::UserId.eq(bed.id("student1")))
        .exec(&bed.db.writer)
        .await
        .unwrap();
}

#[tokio::test]
async fn what_is_kept_is_used_until_it_is_forgotten() {
    let bed = Testbed::demo().await;
    assert_eq!(
        decide(&bed, "student1", "site.visit", "biology-101").await,
        Granted
    );
    leave(&bed).await;
    // The clock of the test stands still: without a word, this is the proof that nothing was asked again.
    assert_eq!(
        decide(&bed, "student1", "site.visit", "biology-101").await,
        Granted
    );
    bed.forget();
    assert_eq!(
        decide(&bed, "student1", "site.visit", "biology-101").await,
        Denied
    );
}

#[tokio::test]
async fn what_was_loaded_before_a_change_is_not_kept_after_it() {
    let bed = Testbed::demo().await;
    let cx = bed.reader("student1").await;
    let authorizer = RoleAuthorizer::new();
    let id = bed.id("student1");
    let ticket = authorizer.subjects.ticket();
    let stale = authorizer.subject(&cx, id).await.unwrap();
    assert!(stale.members.contains_key("biology-101"));
    leave(&bed).await;
    authorizer.forget();
    authorizer.subjects.put(ticket, id, &stale);
    let fresh = authorizer.subject(&cx, id).await.unwrap();
    assert!(fresh.members.is_empty());
}

#[tokio::test]
async fn whoever_writes_sees_what_is_not_yet_committed() {
    let bed = Testbed::demo().await;
    assert_eq!(
        decide(&bed, "student1", "site.upd", "biology-101").await,
        Denied
    );
    let unit = bed.db.begin(Mode::Write).await.unwrap();
    let shared = bed.dispatcher.shared().clone();
    let caller = Caller::user(bed.id("student1"), "student1");
    let cx = Context::new(shared, entity_core::testing::origin(caller), unit);
    membership::Entity::update_many()
        .col_expr(membership::Column::Role, Expr::val("Instructor"))
        .filter(membership::Column::UserId.eq(bed.id("student1")))
        .filter(membership::Column::SiteId.eq("biology-101"))
        .exec(cx.db().unwrap())
        .await
        .unwrap();
    let within = cx.authorizer().decide(&cx, "site.upd", "biology-101").await;
    assert_eq!(within.unwrap(), Granted);
    // It is seen by nobody else, and is gone when it is given up.
    assert_eq!(
        decide(&bed, "student1", "site.upd", "biology-101").await,
        Denied
    );
    drop(cx);
    bed.forget();
    assert_eq!(
        decide(&bed, "student1", "site.upd", "biology-101").await,
        Denied
    );
}

#[tokio::test]
async fn nothing_is_asked_of_the_database_when_all_is_known() {
    let bed = Testbed::demo().await;
    let cx = bed.reader("student1").await;
    let ask = async || {
        let authorizer = cx.authorizer();
        let decision = authorizer.decide(&cx, "annc.read", "biology-101").await;
        let scope = authorizer.scope(&cx, "annc.read").await;
        (decision.unwrap(), scope.unwrap())
    };
    let warm = ask().await;
    for table in ["membership", "realm_grant"] {
        let statement = format!("DELETE FROM {table}");
        bed.db.writer.execute_unprepared(&statement).await.unwrap();
    }
    site::Entity::update_many()
        .col_expr(site::Column::Published, Expr::val(false))
        .exec(&bed.db.writer)
        .await
        .unwrap();
    user::Entity::update_many()
        .col_expr(user::Column::Disabled, Expr::val(true))
        .exec(&bed.db.writer)
        .await
        .unwrap();
    assert_eq!(ask().await, warm);
}

#[test]
fn events_of_users_sites_and_grants_concern_it() {
    let bed_event = |kind: &str| Event {
        kind: kind.to_owned(),
        reference: String::new(),
        actor: None,
        site: None,
        details: serde_json::Map::default(),
        time: chrono::DateTime::default(),
    };
    for (kind, expected) in [
        ("site.upd", true),
        ("site.upd.site.mbrshp", true),
        ("membership.new", true),
        ("user.credentials", true),
        ("realm.upd", true),
        ("annc.new", false),
        ("user.login", false),
    ] {
        assert_eq!(
            RoleAuthorizer::concerns(&bed_event(kind)),
            expected,
            "{kind}"
        );
    }
}
