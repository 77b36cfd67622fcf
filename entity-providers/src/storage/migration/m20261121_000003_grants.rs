//! Permissions: the table of grants, the default grants, and the administration site.

use async_trait::async_trait;
use sea_orm::ConnectionTrait;
use sea_orm::sea_query::{Alias, Expr, Query};
use sea_orm_migration::sea_orm::{DbErr, DeriveMigrationName};
use sea_orm_migration::{MigrationTrait, SchemaManager};

use super::default_grants::BY_FUNCTION;

/// A realm, a role in it, and a function that the role may use.
type Grant = (&'static str, &'static str, &'static str);

#[derive(Debug, DeriveMigrationName)]
pub(super) struct Migration;

const STATEMENTS: &[&str] = &[
    "CREATE TABLE realm_grant (
        realm TEXT NOT NULL,
        role TEXT NOT NULL,
        function TEXT NOT NULL,
        is_granted BOOLEAN NOT NULL,
        PRIMARY KEY (realm, role, function)
    )",
    "INSERT INTO site (id, title, is_published, is_pub_view, is_joinable, created, modified, version)
        VALUES ('!admin', 'Administration Workspace', TRUE, FALSE, FALSE, 0, 0, 1)",
];

/// The roles of each template, each with its letter in the table of defaults.
pub(crate) const TEMPLATES: &[(&str, &[(&str, char)])] = &[
    ("!site.template", &[("access", 'a'), ("maintain", 'm')]),
    ("!site.user", &[("access", 'a'), ("maintain", 'm')]),
    (
        "!site.template.course",
        &[
            ("Student", 's'),
            ("Teaching Assistant", 't'),
            ("Instructor", 'i'),
        ],
    ),
    (
        "!site.template.lti",
        &[
            ("Learner", 's'),
            ("Student", 's'),
            ("Teaching Assistant", 't'),
            ("Administrator", 'i'),
            ("ContentDeveloper", 'i'),
            ("Faculty", 'i'),
            ("Instructor", 'i'),
            ("Staff", 'i'),
        ],
    ),
];

/// What those may do who only look, and what an account may do in no site.
const OTHERS: &[(&str, &str, &[&str])] = &[
    (
        "!pubview",
        "pubview",
        &[
            "annc.read",
            "calendar.read",
            "chat.read",
            "content.read",
            "disc.read",
            "mail.read",
            "site.visit",
        ],
    ),
    (
        "!user.template",
        ".auth",
        &[
            "prefs.add",
            "prefs.del",
            "prefs.upd",
            "realm.add",
            "realm.upd.own",
            "site.add",
            "site.add.course",
            "site.add.project",
            "site.add.usersite",
            "user.upd.own",
        ],
    ),
    ("/site/!admin", "admin", &["site.upd"]),
];

/// Rows in one statement: well below the number of values that a statement may bind.
const BATCH: usize = 200;

#[async_trait]
impl MigrationTrait for Migration {
    #[expect(elided_lifetimes_in_paths, reason = "the trait is declared that way")]
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        super::define(manager, STATEMENTS).await?;
        insert(manager.get_connection(), &defaults()).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

fn defaults() -> Vec<Grant> {
    let of_templates = TEMPLATES.iter().flat_map(|(realm, roles)| {
        roles.iter().flat_map(move |(role, letter)| {
            BY_FUNCTION
                .iter()
                .filter(move |(_, holders)| holders.contains(*letter))
                .map(move |(function, _)| (*realm, *role, *function))
        })
    });
    let others = OTHERS.iter().flat_map(|(realm, role, functions)| {
        functions
            .iter()
            .map(move |function| (*realm, *role, *function))
    });
    of_templates.chain(others).collect()
}

async fn insert(connection: &impl ConnectionTrait, grants: &[Grant]) -> Result<(), DbErr> {
    for batch in grants.chunks(BATCH) {
        let mut insert = Query::insert();
        insert
            .into_table(Alias::new("realm_grant"))
            .columns(["realm", "role", "function", "is_granted"].map(Alias::new));
        for (realm, role, function) in batch {
            insert.values_panic([
                Expr::val(*realm),
                Expr::val(*role),
                Expr::val(*function),
                Expr::val(true),
            ]);
        }
        connection.execute(&insert).await?;
    }
    Ok(())
}
