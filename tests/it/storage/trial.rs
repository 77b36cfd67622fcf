//! SQL that a type declares, which is tried before the service starts with it.

use std::error::Error as _;

use entity_core::engine::Route;
use entity_core::{Entity, Registry};
use serde::Serialize;
use server::operate::storage::Storage;
use tests::{Database, both};

macro_rules! note {
    ($module:ident, $join:literal, $sql:literal $(, $rule:literal)?) => {
        mod $module {
            use super::*;

            /// A note.
            #[derive(Clone, Debug, Serialize, Entity)]
            #[entity(prefix = "tried", table = "tried", access = Public, verbs(read, list))]
            #[entity(left_join = $join)]
            $(#[entity(sight = entity_core::db::RowPolicy::Not(&entity_core::db::RowPolicy::Sql($rule)))])?
            pub(super) struct Note {
                #[entity(id)]
                id: String,
                /// Something of another table.
                #[entity(sql = $sql)]
                other: String,
                $(
                    #[doc = $rule]
                    #[serde(skip)]
                    #[entity(facts)]
                    facts: entity_core::db::PolicyInputs,
                )?
            }
        }
    };
}

note!(right, "site s ON s.id = this.id", "coalesce(s.title, '')");
note!(
    misspelt,
    "site s ON s.id = this.id",
    "coalesce(s.tilte, '')"
);
note!(
    nowhere,
    "sight s ON s.id = this.id",
    "coalesce(s.title, '')"
);

note!(
    unruly,
    "site s ON s.id = this.id",
    "coalesce(s.title, '')",
    "this.ovner = {caller}"
);

/// The reason why a service does not start with the type, if it does not.
async fn refusal<T: entity_core::Read<Entity = T> + entity_core::List + entity_core::db::Record>(
    database: &Database,
) -> Option<String> {
    let added = Route::of::<T>(("tests", "0.0.0"))
        .read()
        .list()
        .table()
        .build();
    let linked = Registry::from_inventory().expect("types that go together");
    let routes = linked.routes().cloned().chain([added]);
    let registry = Registry::new(routes).expect("types that go together");
    let refused = Storage::open(database.url(), &registry).await.err()?;
    Some(
        refused
            .source()
            .map(ToString::to_string)
            .unwrap_or_default(),
    )
}

both! {
    async fn a_service_does_not_start_with_sql_that_the_database_refuses(database: Database) {
        assert_eq!(refusal::<right::Note>(&database).await, None);
        let misspelt = refusal::<misspelt::Note>(&database).await.expect("a refusal");
        let beginning = "the type `tried` of the crate `tests` reads `coalesce(s.tilte, '')` of the table `tried`: ";
        assert!(misspelt.starts_with(beginning) && misspelt.contains("column"), "{misspelt}");
        let nowhere = refusal::<nowhere::Note>(&database).await.expect("a refusal");
        let beginning = "the type `tried` of the crate `tests` joins tables that can't be joined to `tried`: ";
        assert!(nowhere.starts_with(beginning) && nowhere.contains("sight"), "{nowhere}");
        let unruly = refusal::<unruly::Note>(&database).await.expect("a refusal");
        assert!(unruly.contains("`CASE WHEN this.ovner = {caller} THEN 1 ELSE 0 END`"), "{unruly}");
    }
}
