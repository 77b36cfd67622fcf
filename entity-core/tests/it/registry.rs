//! The mistakes with which a service refuses to start.

use entity_core::db::RowPolicy;
use entity_core::engine::{DefaultGrant, Route};
use entity_core::{
    Access, Action, ActionResult, Actions, Context, Entity, Need, Provider, Read, Registry, Result,
    Verb,
};
use serde::Serialize;

use crate::notes::Notes;

const HERE: (&str, &str) = ("here", "1.0.0");
const THERE: (&str, &str) = ("there", "2.0.0");

#[derive(Clone, Debug, Serialize, Entity)]
struct Thing {
    #[entity(id)]
    id: String,
}

/// A provider with one prefix and one list of actions.
macro_rules! provider {
    ($name:ident, $prefix:literal, $($actions:expr),*) => {
        #[derive(Debug)]
        struct $name;

        impl Provider for $name {
            type Entity = Thing;
            const PREFIX: &'static str = $prefix;
            const ACCESS: Access = Access::PUBLIC;
        }

        impl Read for $name {
            async fn read(_cx: &Context, id: &str) -> Result<Option<Thing>> {
                Ok(Some(Thing { id: id.to_owned() }))
            }
        }

        impl Actions for $name {
            fn actions() -> Vec<Action<Self>> {
                vec![$($actions),*]
            }
        }
    };
}

fn on_entity<P: Read>(verb: Verb, name: &'static str) -> Action<P> {
    Action::on_entity(verb, name, Need::Session, |_, _, _| {
        Box::pin(async { Ok(ActionResult::Done) })
    })
}

fn on_collection<P: Read>(verb: Verb, name: &'static str) -> Action<P> {
    Action::on_collection(verb, name, Need::Session, |_, _| {
        Box::pin(async { Ok(ActionResult::Done) })
    })
}

fn needless<P: Read>(name: &'static str) -> Action<P> {
    let mut action = on_entity(Verb::Get, name);
    action.need = None;
    action
}

fn refusal(routes: impl IntoIterator<Item = Route>) -> String {
    Registry::new(routes).unwrap_err().to_string()
}

fn route<P: Actions>() -> Route {
    Route::of::<P>(HERE).read().actions().build()
}

provider!(Batch, "batch",);
provider!(Describe, "describe",);
provider!(Capital, "Note",);
provider!(Digit, "9note",);
provider!(Slash, "note/x",);
provider!(Dot, "note.json",);
provider!(Empty, "",);
provider!(Decent, "note-2_b",);
provider!(Needless, "needless", needless("shout"));
provider!(
    Ownerless,
    "ownerless",
    Action::on_collection(
        Verb::Post,
        "shout",
        Need::SiteOrOwn("a.any", "a.own"),
        |_, _| { Box::pin(async { Ok(ActionResult::Done) }) }
    )
);
provider!(Taken, "taken", on_entity(Verb::Get, "edit"));
provider!(
    Doubled,
    "doubled",
    on_entity(Verb::Get, "a"),
    on_entity(Verb::Get, "a")
);
provider!(
    Varied,
    "varied",
    on_entity(Verb::Get, "a"),
    on_entity(Verb::Post, "a"),
    on_collection(Verb::Get, "a")
);

macro_rules! stored {
    ($name:ident, $prefix:literal) => {
        #[derive(Clone, Debug, Serialize, Entity)]
        #[entity(prefix = $prefix, table = "pile", access = Session, verbs(read))]
        struct $name {
            #[entity(id)]
            id: String,
        }
    };
}

stored!(Shelf, "shelf");
stored!(Stack, "stack");

#[test]
fn a_prefix_that_two_crates_claim_names_both() {
    let text = refusal([
        Route::of::<Notes>(HERE).read().build(),
        Route::of::<Notes>(THERE).read().build(),
    ]);
    for part in ["`note`", "`here`", "`there`"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_table_that_two_types_claim_names_both_crates() {
    let text = refusal([
        Route::of::<Shelf>(HERE).read().table().build(),
        Route::of::<Stack>(THERE).read().table().build(),
    ]);
    for part in ["`shelf`", "`stack`", "`here`", "`there`", "`pile`"] {
        assert!(text.contains(part), "{text}");
    }
}

/// A type with this access and these attributes.
macro_rules! asking {
    ($name:ident, $access:expr, $($site:ident)?) => {
        #[derive(Clone, Debug, Serialize, Entity)]
        #[entity(prefix = "asking", table = "asking", access = $access, verbs(read, list))]
        struct $name {
            #[entity(id)]
            id: String,
            $(#[entity(site)]
            $site: String,)?
        }
    };
}

const ONE_S_OWN: Access = Access::new(
    Need::SiteOrOwn("asking.read", "asking.read.own"),
    Need::Superuser,
);

asking!(Siteless, Site("asking"),);
asking!(Sited, Site("asking"), site);
asking!(Owned, ONE_S_OWN, site);

#[test]
fn a_function_in_a_site_is_asked_of_types_with_sites_only() {
    let text = refusal([Route::of::<Siteless>(HERE).read().list().build()]);
    assert!(
        text.contains("`asking.read`") && text.contains("`site`"),
        "{text}"
    );
    assert!(Registry::new([Route::of::<Sited>(HERE).read().list().build()]).is_ok());
}

#[test]
fn the_names_that_the_service_adds_are_nobody_elses() {
    /// A book.
    #[derive(Clone, Debug, Serialize, Entity)]
    #[entity(prefix = "book", access = Public)]
    struct Book {
        #[entity(id)]
        id: String,
        #[serde(rename = "entityTitle")]
        own_title: String,
    }
    let text = refusal([Route::of::<Book>(HERE).build()]);
    assert!(
        text.contains("a field `entityTitle`, which is what the service adds"),
        "{text}"
    );
}

#[test]
fn a_function_in_a_site_is_asked_for_where_a_site_is_named() {
    provider!(
        Nowhere,
        "nowhere",
        Action::on_collection(Verb::Get, "sum", Need::Site("nowhere.read"), |_, _| {
            Box::pin(async { Ok(ActionResult::Done) })
        })
    );
    let text = refusal([route::<Nowhere>()]);
    assert!(
        text.contains("`sum` has no argument that names the site"),
        "{text}"
    );
}

#[test]
fn a_reference_leads_to_a_type() {
    /// A book.
    #[derive(Clone, Debug, Serialize, Entity)]
    #[entity(prefix = "book", access = Public)]
    struct Book {
        #[entity(id)]
        id: String,
        #[entity(references = "usr")]
        reader: String,
    }
    let registry = Registry::new([Route::of::<Book>(HERE).build()]);
    let error = registry
        .expect("a registry")
        .check_references()
        .expect_err("a refusal");
    let expected = "the type `book` of the crate `here` has a field `reader` that refers to `usr`, and no type has this prefix";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn ownership_counts_for_single_entities_only() {
    let text = refusal([Route::of::<Owned>(HERE).read().list().build()]);
    assert!(
        text.contains("SiteOrOwn") && text.contains("sight"),
        "{text}"
    );
    assert!(Registry::new([Route::of::<Owned>(HERE).read().build()]).is_ok());
    let text = refusal([route::<Ownerless>()]);
    assert!(
        text.contains("SiteOrOwn") && text.contains("`shout`"),
        "{text}"
    );
}

#[test]
fn migrations_of_a_crate_have_different_names() {
    const TWICE: &[entity_core::db::Migration] = &[
        entity_core::db::Migration::of_tables("first", &[]),
        entity_core::db::Migration::of_rows("first", &[]),
    ];
    let text = refusal([Route::of::<Shelf>(HERE)
        .read()
        .table()
        .migrations(TWICE)
        .build()]);
    assert!(
        text.contains("`first`") && text.contains("`shelf`"),
        "{text}"
    );
}

#[test]
fn migrations_change_rows_of_tables_of_their_type() {
    const ASTRAY: &[entity_core::db::Migration] =
        &[entity_core::db::Migration::of_rows("first", &[]).in_table("elsewhere")];
    let text = refusal([Route::of::<Shelf>(HERE)
        .read()
        .table()
        .migrations(ASTRAY)
        .build()]);
    assert!(
        text.contains("`elsewhere`") && text.contains("`shelf`"),
        "{text}"
    );
}

#[test]
fn what_the_service_answers_itself_is_nobody_elses() {
    for text in [refusal([route::<Batch>()]), refusal([route::<Describe>()])] {
        assert!(
            text.contains("reserved") && text.contains("`here`"),
            "{text}"
        );
    }
}

#[test]
fn a_prefix_is_a_lower_case_word() {
    for text in [
        refusal([route::<Capital>()]),
        refusal([route::<Digit>()]),
        refusal([route::<Slash>()]),
        refusal([route::<Dot>()]),
        refusal([route::<Empty>()]),
    ] {
        assert!(text.contains("illegal prefix"), "{text}");
    }
    assert!(Registry::new([route::<Decent>()]).is_ok());
}

#[test]
fn nothing_runs_without_a_declared_permission() {
    let text = refusal([route::<Needless>()]);
    assert!(
        text.contains("no permission for the action `shout`"),
        "{text}"
    );
    let mut route = route::<Decent>();
    route.access = None;
    let text = refusal([route]);
    assert!(text.contains("declares no permission"), "{text}");
}

#[test]
fn the_name_of_an_action_is_free_and_its_own() {
    let text = refusal([route::<Taken>()]);
    assert!(text.contains("the reserved name `edit`"), "{text}");
    let text = refusal([route::<Doubled>()]);
    assert!(text.contains("the action `a` twice"), "{text}");
    assert!(Registry::new([route::<Varied>()]).is_ok());
}

#[test]
fn capabilities_are_those_that_were_added() {
    let all = Route::of::<Notes>(HERE)
        .read()
        .list()
        .create()
        .update()
        .delete()
        .actions()
        .build();
    assert_eq!(
        all.capabilities(),
        ["read", "list", "create", "update", "delete", "actions"]
    );
    let registry = Registry::new([all, route::<Varied>()]).unwrap();
    let prefixes: Vec<_> = registry.routes().map(|it| it.prefix).collect();
    assert_eq!(prefixes, ["note", "varied"]);
    assert!(registry.route("nothing").is_none());
}

/// A complaint, which its author sees and whoever holds a function.
#[derive(Clone, Debug, serde::Serialize, Entity)]
#[entity(prefix = "ticket", table = "ticket", access = TICKETS, sight = SIGHT, verbs(read))]
struct Ticket {
    #[entity(id)]
    id: String,
    #[entity(site)]
    site: String,
    #[entity(owner)]
    author: String,
    #[serde(skip)]
    #[entity(facts)]
    facts: entity_core::db::PolicyInputs,
}

const TICKETS: Access = Access::new(Need::Site("ticket.read"), Need::Site("ticket.new"));
const SIGHT: RowPolicy = RowPolicy::Any(&[RowPolicy::Own, RowPolicy::Holds("ticket.read.any")]);

fn tickets(grants: &'static [DefaultGrant]) -> Route {
    let route = Route::of::<Ticket>(HERE).read().table();
    route.grants(grants).build()
}

#[test]
fn a_type_that_declares_functions_declares_all_that_it_asks_for() {
    const ALL: &[DefaultGrant] = &[
        ("ticket.read", "amsti"),
        ("ticket.new", "amsti"),
        ("ticket.read.any", "mi"),
    ];
    assert!(Registry::new([tickets(ALL)]).is_ok());
    assert!(Registry::new([tickets(&[])]).is_ok());
    for (grants, missing) in [
        (&ALL[..1], "`ticket.new`"),
        (&ALL[..2], "`ticket.read.any`"),
    ] {
        let text = refusal([tickets(grants)]);
        assert!(text.contains(missing) && text.contains("grants("), "{text}");
    }
    for (grants, wrong) in [
        (&[("ticket.read", "amx")], "`x`"),
        (&[("ticket", "am")], "`ticket`"),
        (&[("ticket.re ad", "am")], "`ticket.re ad`"),
    ] {
        let text = refusal([tickets(grants)]);
        assert!(text.contains(wrong), "{text}");
    }
}

/// A rule that asks for something that its type does not have.
mod wrong {
    use super::*;

    macro_rules! wrong {
        ($name:ident, $sight:expr) => {
            #[derive(Clone, Debug, serde::Serialize, Entity)]
            #[entity(prefix = "note", table = "note", access = Session, sight = $sight, verbs(read))]
            pub(super) struct $name {
                #[entity(id)]
                id: String,
                #[serde(skip)]
                #[entity(facts)]
                facts: entity_core::db::PolicyInputs,
            }
        };
    }

    wrong!(Ownerless, RowPolicy::Own);
    wrong!(Groupless, RowPolicy::Not(&RowPolicy::Addressed));
    wrong!(Fieldless, RowPolicy::All(&[RowPolicy::Is("draft")]));
}

#[test]
fn a_rule_about_who_sees_an_entity_asks_for_what_there_is() {
    for (route, what) in [
        (
            Route::of::<wrong::Ownerless>(HERE).table().build(),
            "`owner`",
        ),
        (
            Route::of::<wrong::Groupless>(HERE).table().build(),
            "`groups`",
        ),
        (
            Route::of::<wrong::Fieldless>(HERE).table().build(),
            "`draft`",
        ),
    ] {
        let text = refusal([route]);
        assert!(text.contains(what) && text.contains("rule"), "{text}");
    }
}
