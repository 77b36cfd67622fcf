//! The additions of the gate and the dispatcher to the lists of providers: walks, counts, references.

use std::sync::{Arc, Mutex};

use entity_core::engine::{DirectPath, Dispatcher, Request, Route};
use entity_core::reply::{Body, Collection, Item, Reply};
use entity_core::testing::{KeptEvents, ToldAuthorizer, origin, shared};
use entity_core::unit::NoStore;
use entity_core::{
    Access, Action, ActionResult, Actions, Arguments, Caller, Context, Entity, Input, List, Need,
    Operation, Page, Permit, Preconditions, Provider, Read, Registry, Result, Search, Verb,
    Version, search,
};
use serde::Serialize;

/// A card. Those of the suit `hidden` are not shown, though lists find them.
#[derive(Clone, Debug, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
struct Card {
    #[entity(id, column)]
    id: String,
    #[entity(column, references = "deck")]
    suit: String,
    #[entity(column, references = "deck")]
    back: Option<String>,
}

struct Cards;

impl Provider for Cards {
    type Entity = Card;
    const PREFIX: &'static str = "card";
    const ACCESS: Access = Access::SESSION;

    async fn permits(_cx: &Context, card: &Card, _operation: Operation) -> Result<Permit> {
        Ok(match card.suit.as_str() {
            "hidden" => Permit::Hidden,
            _ => Permit::Allowed,
        })
    }
}

impl List for Cards {
    async fn list(_cx: &Context, search: &Search) -> Result<Page<Card>> {
        search::select(cards(), search)
    }
}

fn cards() -> Vec<Card> {
    let card = |number: u32| Card {
        id: format!("c{number:02}"),
        suit: match number {
            3..=9 => "hidden",
            it if it % 2 == 0 => "hearts",
            _ => "spades",
        }
        .to_owned(),
        back: (number > 10).then(|| "secret".to_owned()),
    };
    (0..20).map(card).collect()
}

impl Read for Cards {
    async fn read(_cx: &Context, id: &str) -> Result<Option<Card>> {
        Ok(cards().into_iter().find(|it| it.id == id))
    }
}

impl Actions for Cards {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::on_collection(Verb::Get, "dealt", Need::Session, |_, arguments| {
                Box::pin(async move { dealt(&arguments) })
            })
            .parameters(&[("hand", "whose")])
            .searched(),
        ]
    }
}

/// All cards at once: whoever asks gets a part of them.
fn dealt(arguments: &Arguments) -> Result<ActionResult<Cards>> {
    let search = arguments.search()?.clone();
    assert_eq!(search.parameter("hand"), arguments.parameter("hand"));
    Ok(ActionResult::Whole {
        entities: cards(),
        search,
    })
}

/// The deck of a card. The one called `secret` is for nobody.
#[derive(Clone, Debug, Serialize, Entity)]
struct Deck {
    #[entity(id)]
    id: String,
}

/// The decks that were asked for, each time.
#[derive(Debug, Default)]
struct Asked(Mutex<Vec<Vec<String>>>);

impl Provider for Deck {
    type Entity = Self;
    const PREFIX: &'static str = "deck";
    const ACCESS: Access = Access::new(Need::Session, Need::Superuser);

    async fn permits(_cx: &Context, deck: &Self, _operation: Operation) -> Result<Permit> {
        Ok(match deck.id.as_str() {
            "secret" => Permit::Forbidden,
            _ => Permit::Allowed,
        })
    }
}

impl Read for Deck {
    async fn read(_cx: &Context, id: &str) -> Result<Option<Self>> {
        Ok(Some(Self { id: id.to_owned() }))
    }

    async fn read_many(cx: &Context, ids: &[String]) -> Result<Vec<Self>> {
        let asked = cx.service::<Asked>()?;
        asked.0.lock().unwrap().push(ids.to_vec());
        Ok(ids.iter().map(|it| Self { id: it.clone() }).collect())
    }
}

fn route<P: List>() -> Route {
    Route::of::<P>(("tests", "1.0.0")).list().build()
}

fn all_of_cards() -> Route {
    let route = Route::of::<Cards>(("tests", "1.0.0"));
    route.list().read().actions().build()
}

async fn ask(query: &[(&str, &str)]) -> (Collection, Vec<Vec<String>>) {
    let (reply, asked) = ask_at(None, query).await;
    match reply.unwrap().body {
        Body::Collection(it) => (it, asked),
        other => panic!("{other:?}"),
    }
}

/// The answer to a query at the list, or at an action, and the decks that were asked for.
async fn ask_at(action: Option<&str>, query: &[(&str, &str)]) -> (Result<Reply>, Vec<Vec<String>>) {
    let asked = Arc::new(Asked::default());
    let mut shared = shared(ToldAuthorizer::default());
    shared.services.insert(Arc::clone(&asked));
    let decks = Route::of::<Deck>(("tests", "1.0.0")).read().build();
    let registry = Registry::new([all_of_cards(), decks]).unwrap();
    let sink = Arc::new(KeptEvents::default());
    let dispatcher = Dispatcher::new(Arc::new(registry), Arc::new(NoStore), sink, shared);
    let request = request(DirectPath::new("card", action), query);
    let reply = dispatcher.dispatch(&request).await;
    (reply, asked.0.lock().unwrap().clone())
}

fn request(path: DirectPath, query: &[(&str, &str)]) -> Request {
    Request {
        path,
        verb: Verb::Get,
        query: query
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        input: Input::default(),
        preconditions: Preconditions::default(),
        is_dry_run: false,
        wants_allowed_actions: false,
        origin: origin(Caller::user("ada", "ada")),
    }
}

fn ids(collection: &Collection) -> Vec<String> {
    collection.items.iter().map(Item::id).collect()
}

#[tokio::test]
async fn a_walk_passes_what_is_hidden_and_counts_leave_it_out() {
    let mut found = Vec::new();
    let mut cursor = Some(String::new());
    let mut parts = 0;
    while let Some(at) = cursor {
        let query = [
            ("_cursor", at.as_str()),
            ("_limit", "3"),
            ("_count", "exact"),
        ];
        let (part, _) = ask(&query).await;
        assert!(!part.items.is_empty());
        assert_eq!(part.total, Some(13));
        found.extend(ids(&part));
        cursor = part.cursor;
        parts += 1;
    }
    let expected: Vec<String> = (0..20)
        .filter(|it| !(3..=9).contains(it))
        .map(|it| format!("c{it:02}"))
        .collect();
    assert_eq!(found, expected);
    assert!(parts > 3);
}

#[tokio::test]
async fn references_are_loaded_at_once_for_each_type() {
    let (part, asked) = ask(&[("_expand", "suit,back"), ("_fields", "id")]).await;
    let wanted = ["hearts", "secret", "spades"].map(ToOwned::to_owned);
    assert_eq!(asked, [wanted]);
    for item in &part.items {
        let shown: Vec<_> = item.expanded().map(|(name, _)| name).collect();
        assert_eq!(shown, ["suit"], "{item:?}");
        let data = serde_json::to_value(item.data()).unwrap();
        assert_eq!(data, serde_json::json!({"id": item.id()}));
    }
    let (_, asked) = ask(&[]).await;
    assert!(asked.is_empty());
}

#[tokio::test]
async fn an_action_can_be_asked_what_lists_can_be_asked() {
    let suit = ("suit[ne]", "hidden");
    for query in [
        vec![("_limit", "4"), ("_start", "9"), ("_count", "exact")],
        vec![("suit", "hearts"), ("_order", "id_desc"), ("_limit", "3")],
        vec![("_cursor", ""), ("_limit", "20"), ("_expand", "suit")],
        vec![("id[gt]", "c11"), ("_fields", "id"), ("_count", "exact")],
    ] {
        // Lists find what is hidden before the gate takes it out; an action that has all tells it to take it out first.
        let visible = [&query[..], &[suit]].concat();
        let (listed, _) = ask(&visible).await;
        let asked = [&visible[..], &[("hand", "north")]].concat();
        let Body::Collection(found) = ask_at(Some("dealt"), &asked).await.0.unwrap().body else {
            panic!("a collection")
        };
        assert_eq!(ids(&found), ids(&listed), "{query:?}");
        assert_eq!((found.start, found.limit), (listed.start, listed.limit));
        assert_eq!(
            (found.has_more, found.total),
            (listed.has_more, listed.total)
        );
        assert_eq!(found.cursor.is_some(), listed.cursor.is_some());
        assert!(found.is_searched && listed.is_searched);
        let Body::Collection(whole) = ask_at(Some("dealt"), &query).await.0.unwrap().body else {
            panic!("a collection")
        };
        assert_eq!(ids(&whole), ids(&listed), "{query:?}");
        assert_eq!(whole.total, listed.total, "{query:?}");
    }
    for (query, name) in [
        (("nonsense", "1"), "nonsense"),
        (("id[near]", "c"), "id[near]"),
        (("_order", "hand"), "_order"),
        (("_limit", "x"), "_limit"),
    ] {
        let error = ask_at(Some("dealt"), &[query]).await.0.unwrap_err();
        assert_eq!(error.field_errors()[0].name, name);
    }
}

/// A deck that says which state it is in, or does not.
#[derive(Serialize, Entity)]
#[entity(version = Self::to_version)]
struct Bound {
    #[entity(id)]
    id: String,
    #[entity(references = "bound")]
    other: String,
    #[serde(skip)]
    #[entity(skip)]
    state: u64,
}

impl Bound {
    fn to_version(&self) -> Version {
        Version(self.state)
    }
}

struct Bounds;

/// The states of the two that there are.
struct States(u64, u64);

impl Provider for Bounds {
    type Entity = Bound;
    const PREFIX: &'static str = "bound";
    const ACCESS: Access = Access::SESSION;
    const PLURAL: Option<&'static str> = Some("Bindings");

    async fn permits(cx: &Context, bound: &Bound, _operation: Operation) -> Result<Permit> {
        let is_hidden = bound.id == "b" && cx.service::<States>()?.1 == 0;
        Ok(if is_hidden {
            Permit::Hidden
        } else {
            Permit::Allowed
        })
    }
}

impl Read for Bounds {
    async fn read(cx: &Context, id: &str) -> Result<Option<Bound>> {
        let states = cx.service::<States>()?;
        Ok(Some(Bound {
            id: id.to_owned(),
            other: "b".to_owned(),
            state: if id == "a" { states.0 } else { states.1 },
        }))
    }
}

#[tokio::test]
async fn an_entity_with_others_is_in_another_state_when_one_of_them_is() {
    let version = async |states: States, query: &[(&str, &str)]| {
        let mut shared = shared(ToldAuthorizer::default());
        shared.services.insert(Arc::new(states));
        let registry =
            Registry::new([Route::of::<Bounds>(("tests", "1.0.0")).read().build()]).unwrap();
        let sink = Arc::new(KeptEvents::default());
        let dispatcher = Dispatcher::new(Arc::new(registry), Arc::new(NoStore), sink, shared);
        let request = request(DirectPath::new("bound", ["a"]), query);
        match dispatcher.dispatch(&request).await.unwrap().body {
            Body::Entity(it) => it.version().unwrap(),
            other => panic!("{other:?}"),
        }
    };
    let expand = [("_expand", "other")];
    let first = version(States(1, 1), &expand).await;
    assert_eq!(version(States(1, 1), &expand).await, first);
    assert_eq!(version(States(1, 1), &[]).await, Version(1));
    assert_eq!(version(States(1, 2), &[]).await, Version(1));
    for other in [States(2, 1), States(1, 2), States(1, 0)] {
        assert_ne!(version(other, &expand).await, first);
    }
}

#[test]
fn types_are_called_as_they_say_or_as_their_prefix_says() {
    let bounds = Route::of::<Bounds>(("tests", "1.0.0")).build();
    let registry = Registry::new([bounds, route::<Cards>()]).unwrap();
    assert_eq!(registry.plural("bound"), "Bindings");
    assert_eq!(registry.plural("card"), "Cards");
    assert_eq!(registry.plural("unknown"), "Unknowns");
}

#[test]
fn a_default_that_is_no_value_of_its_field_is_refused() {
    #[derive(Serialize, Entity)]
    struct Lamp {
        #[entity(id)]
        id: String,
        #[entity(writable, default = "perhaps")]
        is_on: bool,
    }
    struct Lamps;
    impl Provider for Lamps {
        type Entity = Lamp;
        const PREFIX: &'static str = "lamp";
        const ACCESS: Access = Access::SESSION;
    }
    let error = Registry::new([Route::of::<Lamps>(("tests", "1.0.0")).build()]).unwrap_err();
    assert!(error.to_string().contains("`is_on`"), "{error}");
}

#[test]
fn an_order_of_unknown_fields_and_a_field_in_the_way_are_refused() {
    #[derive(Serialize, Entity)]
    struct Taken {
        #[entity(id, references = "deck")]
        id: String,
        #[serde(rename = "idEntity")]
        entity: String,
    }
    struct Takers;
    impl Provider for Takers {
        type Entity = Taken;
        const PREFIX: &'static str = "taken";
        const ACCESS: Access = Access::SESSION;
    }
    struct Unordered;
    impl Provider for Unordered {
        type Entity = Card;
        const PREFIX: &'static str = "card";
        const ACCESS: Access = Access::SESSION;
    }
    impl List for Unordered {
        const ORDER: &'static str = "nonsense";
        async fn list(_cx: &Context, _search: &Search) -> Result<Page<Card>> {
            Ok(Page::whole(Vec::new()))
        }
    }
    let error = Registry::new([route::<Unordered>()]).unwrap_err();
    assert!(error.to_string().contains("nonsense"), "{error}");
    let error = Registry::new([Route::of::<Takers>(("tests", "1.0.0")).build()]).unwrap_err();
    assert!(error.to_string().contains("`idEntity`"), "{error}");
}
