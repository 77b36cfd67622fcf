//! What a service refuses to start with.

use entity_core::{
    Access, Action, Actions, Context, Entity, Need, Outcome, Provider, Read, Registry, Result,
    Route, Verb,
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
        Box::pin(async { Ok(Outcome::Done) })
    })
}

fn on_collection<P: Read>(verb: Verb, name: &'static str) -> Action<P> {
    Action::on_collection(verb, name, Need::Session, |_, _| {
        Box::pin(async { Ok(Outcome::Done) })
    })
}

fn needless<P: Read>(name: &'static str) -> Action<P> {
    Action {
        need: None,
        ..on_entity(Verb::Get, name)
    }
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
