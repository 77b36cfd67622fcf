//! What the gate and the dispatcher add to the lists of providers: walks, counts, references.

use std::sync::{Arc, Mutex};

use entity_core::testing::{KeptEvents, ToldAuthorizer, origin, shared};
use entity_core::unit::NoStore;
use entity_core::{
    Access, Body, Caller, Collection, Context, DirectPath, Dispatcher, Entity, Input, Item, List,
    Need, Operation, Page, Permit, Provider, Read, Registry, Request, Result, Route, Search, Verb,
    search,
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
        search::select((0..20).map(card).collect(), search)
    }
}

/// What a card is of. The one called `secret` is for nobody.
#[derive(Clone, Debug, Serialize, Entity)]
struct Deck {
    #[entity(id)]
    id: String,
}

/// What decks were asked for, each time.
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

async fn ask(query: &[(&str, &str)]) -> (Collection, Vec<Vec<String>>) {
    let asked = Arc::new(Asked::default());
    let mut shared = shared(ToldAuthorizer::default());
    shared.services.insert(Arc::clone(&asked));
    let decks = Route::of::<Deck>(("tests", "1.0.0")).read().build();
    let registry = Registry::new([route::<Cards>(), decks]).unwrap();
    let sink = Arc::new(KeptEvents::default());
    let dispatcher = Dispatcher::new(Arc::new(registry), Arc::new(NoStore), sink, shared);
    let request = Request {
        path: DirectPath::new("card", None::<String>),
        verb: Verb::Get,
        query: query
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        input: Input::default(),
        if_match: None,
        is_dry_run: false,
        wants_abilities: false,
        wants_history: false,
        origin: origin(Caller::user("ada", "ada")),
    };
    match dispatcher.dispatch(&request).await.unwrap().body {
        Body::Collection(it) => (it, asked.0.lock().unwrap().clone()),
        other => panic!("{other:?}"),
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
        assert!(item.version().is_none());
        let data = serde_json::to_value(item.data()).unwrap();
        assert_eq!(data, serde_json::json!({"id": item.id()}));
    }
    let (_, asked) = ask(&[]).await;
    assert!(asked.is_empty());
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
