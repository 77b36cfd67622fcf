//! The rights of each role by default: one line a function, one letter a role.

use sea_orm::sea_query::{Alias, Expr, Query};
use sea_orm::{ConnectionTrait, DbErr};

/// A realm, a role in it, and a function that the role may use.
type Grant = (&'static str, &'static str, &'static str);

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

/// The grants of those who only look, and of an account in no site: only teaching staff makes courses and enrols
/// people outright.
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
            "site.add.project",
            "site.add.usersite",
            "user.upd.own",
        ],
    ),
    (
        "!user.template.maintain",
        ".auth",
        &["site.add.course", "user.enrol"],
    ),
    ("/site/!admin", "admin", &["site.upd"]),
];

/// Rows in one statement: well below the number of values that a statement may bind.
const BATCH: usize = 200;

/// A line for each function, with the roles that hold it: `a`ccess and `m`aintain in a plain site, `s`tudent, `t`eaching
/// assistant and `i`nstructor in a course.
const BY_FUNCTION: &str = include_str!("default_grants.txt");

fn defaults() -> Vec<Grant> {
    let of_templates = TEMPLATES.iter().flat_map(|(realm, roles)| {
        roles.iter().flat_map(move |(role, letter)| {
            let functions = BY_FUNCTION.lines().filter_map(|it| it.split_once(' '));
            functions
                .filter(move |(_, holders)| holders.contains(*letter))
                .map(move |(function, _)| (*realm, *role, function))
        })
    });
    let others = OTHERS.iter().flat_map(|(realm, role, functions)| {
        functions
            .iter()
            .map(move |function| (*realm, *role, *function))
    });
    of_templates.chain(others).collect()
}

/// Grants all of them.
pub(super) async fn insert(connection: &impl ConnectionTrait) -> Result<(), DbErr> {
    for batch in defaults().chunks(BATCH) {
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
