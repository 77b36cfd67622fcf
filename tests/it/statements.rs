//! The number of statements of a list does not depend on how much there is: rows, members, groups and files.

use entity_core::db::TableSpec;
use entity_core::{Caller, Registry, Verb};
use lectern_testing::counting::{Cost, Counter};
use sea_orm::ConnectionTrait as _;
use tests::{Client, TestApp, both};

const SITE: &str = "biology-101";
/// The suffixes of the ids of copies: digits, because some ids are numbers, and so many that no id which was drawn by
/// chance ends with them.
const COPIES: [&str; 3] = ["700001", "700002", "700003"];
/// The parts of a site that are no rows of a type, each with its columns. The first is what is copied, and so are those
/// with an asterisk.
const PARTS: [(&str, &str); 5] = [
    (
        "user_account",
        "id* eid* email* first_name last_name type is_disabled props created modified version",
    ),
    (
        "membership",
        "user_id* site_id role is_active is_provided is_pinned created is_hidden origin",
    ),
    ("site_group", "id* site_id title modified"),
    ("group_member", "group_id* user_id* site_id"),
    (
        "invitation",
        "id* site_id role invitee invitee_lower* invited_by created expires",
    ),
];

/// All lists, and all actions that answer with something of a site or of the caller.
pub(crate) fn addresses() -> Vec<(String, Vec<(String, String)>)> {
    let registry = Registry::from_inventory().expect("types that go together");
    let mut all = Vec::new();
    for route in registry.routes() {
        let prefix = route.prefix;
        if route.capabilities().contains(&"list") {
            all.push((format!("/{prefix}"), Vec::new()));
            let site = route.schema.role(entity_core::schema::Role::Site);
            if let Some(site) = site {
                let query = vec![(site.name.to_owned(), SITE.to_owned())];
                all.push((format!("/{prefix}"), query));
            }
        }
        let actions = route
            .actions
            .iter()
            .filter(|it| it.verb == Verb::Get && !it.is_on_entity);
        for action in actions {
            let name = action.name;
            match action.arguments.iter().filter(|it| it.is_required).count() {
                0 => all.push((format!("/{prefix}/{name}"), Vec::new())),
                1 => all.push((format!("/{prefix}/{name}/{SITE}"), Vec::new())),
                _ => {}
            }
        }
    }
    all
}

/// Returns the cost of each address: nothing where the caller is refused.
async fn costs(counter: &Counter, caller: &Caller) -> Vec<(String, Option<Cost>)> {
    let mut all = Vec::new();
    for (path, query) in addresses() {
        // What is remembered from request to request is not counted.
        let cost = match counter.read(caller, &path, &query).await {
            Ok(_) => counter.read(caller, &path, &query).await.ok(),
            Err(_) => None,
        };
        let query: Vec<_> = query
            .iter()
            .map(|it| format!("{}={}", it.0, it.1))
            .collect();
        all.push((format!("{path}?{}", query.join("&")), cost));
    }
    all
}

/// The statement that copies the rows of a table, whose columns with an asterisk get another end.
fn copy(table: &str, columns: &[String], copy: &str) -> String {
    let names: Vec<_> = columns
        .iter()
        .map(|it| format!("\"{}\"", it.trim_end_matches('*')))
        .collect();
    let values = columns
        .iter()
        .zip(&names)
        .map(|(column, name)| match column.ends_with('*') {
            true => format!("{name} || '{copy}'"),
            false => name.clone(),
        });
    let values: Vec<_> = values.collect();
    let is_original = match columns.iter().position(|it| it.ends_with('*')) {
        Some(index) => {
            let ends = COPIES.map(|it| format!("{} NOT LIKE '%{it}'", names[index]));
            ends.join(" AND ")
        }
        None => "FALSE".to_owned(),
    };
    format!(
        "INSERT INTO \"{table}\" ({}) SELECT {} FROM \"{table}\" WHERE {is_original}",
        names.join(", "),
        values.join(", ")
    )
}

/// The table of a type with the columns that are copied, and that of its groups.
fn copied(table: &TableSpec) -> Vec<(String, Vec<String>)> {
    let is_own = |name: &str| {
        let is_unique = table.unique.iter().any(|it| it.column == name);
        name == table.key || is_unique
    };
    let columns = table.columns.iter().map(|it| match is_own(it.0) {
        true => format!("{}*", it.0),
        false => it.0.to_owned(),
    });
    let mut all = vec![(table.name.to_owned(), columns.collect())];
    if let Some(groups) = table.groups {
        let columns = [
            format!("{}*", groups.key),
            "group_id".to_owned(),
            "site_id".to_owned(),
        ];
        all.push((groups.table.to_owned(), columns.to_vec()));
    }
    all
}

/// Makes several of everything: members, groups, rows of every type, and what belongs to them.
async fn multiply(app: &TestApp) {
    let registry = Registry::from_inventory().expect("types that go together");
    let parts = PARTS.iter().map(|(table, columns)| {
        let columns = columns.split(' ').map(ToOwned::to_owned);
        ((*table).to_owned(), columns.collect::<Vec<_>>())
    });
    let mut tables: Vec<_> = parts.collect();
    for route in registry.routes() {
        for table in route.tables() {
            // Accounts come first.
            if !PARTS.iter().any(|it| it.0 == table.name) {
                tables.extend(copied(&table));
            }
        }
    }
    let writer = &app.service().storage.content.writer;
    for (table, columns) in tables {
        for end in COPIES {
            let sql = copy(&table, &columns, end);
            let done = writer.execute_unprepared(&sql).await;
            done.unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
    }
}

pub(crate) async fn caller_of(client: &Client) -> Caller {
    let own = client.get("/direct/user/current.json").await.json();
    let text = |name: &str| own[name].as_str().expect("a text").to_owned();
    Caller::user(text("id"), text("eid"))
}

both! {
    async fn no_list_takes_more_statements_for_more_rows_members_groups_and_files(app: TestApp) {
        let counter = Counter::of(app.service());
        let mut callers = Vec::new();
        for eid in ["student1", "instructor1"] {
            callers.push(caller_of(&app.user(eid).await).await);
        }
        let mut before = Vec::new();
        for caller in &callers {
            before.push(costs(&counter, caller).await);
        }
        multiply(&app).await;
        let (mut wrong, mut grown) = (Vec::new(), 0);
        for (caller, before) in callers.iter().zip(&before) {
            let after = costs(&counter, caller).await;
            for ((path, few), (_, many)) in before.iter().zip(&after) {
                let (Some(few), Some(many)) = (few, many) else {
                    continue;
                };
                grown += usize::from(many.shown > few.shown);
                if many.statements > few.statements && few.shown > 0 {
                    wrong.push(format!("{path}: {few:?}, and {many:?}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(grown > 20, "only {grown} lists have grown");
    }
}
