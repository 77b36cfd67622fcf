//! The decisions of the gate, and their order.

use entity_core::search::Grammar;
use entity_core::testing::ToldAuthorizer;
use entity_core::{Entity, ErrorKind, IfMatch, Operation, Preconditions, Search, Version, gate};
use serde_json::json;

use crate::notes::{Notes, Shelf, context, input};

fn told() -> ToldAuthorizer {
    ToldAuthorizer::default()
        .grant("note.read", "s")
        .grant("note.revise.any", "s")
        .grant("note.delete.any", "s")
        .grant("note.new", "s")
}

#[tokio::test]
async fn an_update_is_asked_session_existence_permission_body_precondition() {
    use ErrorKind::{BadRequest, Forbidden, NotFound, PreconditionFailed, Unauthenticated};
    let notes = [
        ("open", "s", "ada", ""),
        ("secret", "s", "ada", "hidden"),
        ("locked", "s", "ada", "locked"),
        ("foreign", "t", "ada", ""),
    ];
    let bad = json!({"text": 5, "nonsense": 1});
    let good = json!({"text": "new"});
    // Each request has all the faults of the rows below, and the first one decides.
    for (eid, id, body, version, expected) in [
        ("", "nothing", &bad, 9, Some(Unauthenticated)),
        ("eve", "nothing", &bad, 9, Some(NotFound)),
        ("eve", "secret", &bad, 9, Some(NotFound)),
        ("eve", "locked", &bad, 9, Some(Forbidden)),
        ("eve", "foreign", &bad, 9, Some(Forbidden)),
        ("eve", "open", &bad, 9, Some(BadRequest)),
        ("eve", "open", &good, 9, Some(PreconditionFailed)),
        ("eve", "open", &good, 1, None),
    ] {
        let shelf = Shelf::of(&notes);
        let cx = context(told().site("t"), &shelf, eid);
        let condition = IfMatch::Versions(vec![Version(version)]).into();
        let done = gate::update::<Notes>(&cx, id, &input(body.clone()), &condition).await;
        assert_eq!(
            done.as_ref().err().map(entity_core::Error::kind),
            expected,
            "{eid} {id}"
        );
        let calls = shelf.calls();
        match expected {
            Some(Unauthenticated) => assert!(calls.is_empty(), "strangers cost nothing"),
            Some(_) => assert_eq!(calls, ["read"], "{id}"),
            None => assert_eq!(calls, ["read", "update"]),
        }
        assert_eq!(cx.events().is_empty(), expected.is_some());
    }
}

#[tokio::test]
async fn what_is_hidden_looks_like_what_is_not_there() {
    let shelf = Shelf::of(&[("secret", "s", "ada", "hidden")]);
    let cx = context(told(), &shelf, "eve");
    let mut answers = Vec::new();
    for id in ["secret", "nothing"] {
        answers.push(gate::read::<Notes>(&cx, id).await.unwrap_err());
        let body = input(json!({"text": "x"}));
        answers.push(
            gate::update::<Notes>(&cx, id, &body, &Preconditions::default())
                .await
                .unwrap_err(),
        );
        answers.push(
            gate::delete::<Notes>(&cx, id, &Preconditions::default())
                .await
                .unwrap_err(),
        );
    }
    for error in answers {
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(error.message(), entity_core::Error::not_found().message());
    }
    let own = context(told(), &shelf, "ada");
    assert_eq!(
        gate::read::<Notes>(&own, "secret").await.unwrap().id(),
        "secret"
    );
}

#[tokio::test]
async fn what_a_write_makes_of_an_entity_is_checked_too() {
    let shelf = Shelf::of(&[("a", "s", "ada", "")]);
    let cx = context(told(), &shelf, "ada");
    let lock = input(json!({"mood": "locked"}));
    let error = gate::update::<Notes>(&cx, "a", &lock, &Preconditions::default())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden);
    let draft = input(json!({"siteId": "s", "text": "x", "mood": "locked"}));
    let error = gate::create::<Notes>(&cx, &draft).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Forbidden);
    assert!(cx.events().is_empty());
}

#[tokio::test]
async fn a_creation_needs_its_function_in_the_site_that_the_draft_names() {
    let shelf = Shelf::of(&[]);
    for (eid, site, text, expected) in [
        ("", "s", json!(5), Some(ErrorKind::Unauthenticated)),
        ("ada", "t", json!(5), Some(ErrorKind::BadRequest)),
        ("ada", "t", json!("x"), Some(ErrorKind::Forbidden)),
        ("ada", "nowhere", json!("x"), Some(ErrorKind::NotFound)),
        ("ada", "s", json!("x"), None),
    ] {
        let cx = context(told().site("t"), &shelf, eid);
        let draft = input(json!({"siteId": site, "text": text}));
        let done = gate::create::<Notes>(&cx, &draft).await;
        assert_eq!(
            done.as_ref().err().map(entity_core::Error::kind),
            expected,
            "{site}"
        );
        assert_eq!(shelf.calls().contains(&"create"), expected.is_none());
    }
}

#[tokio::test]
async fn a_list_holds_what_may_be_read_however_careless_the_provider() {
    let shelf = Shelf::of(&[
        ("a", "s", "ada", ""),
        ("b", "s", "ada", "hidden"),
        ("c", "t", "ada", ""),
        ("d", "s", "eve", "hidden"),
    ]);
    let cx = context(told().site("t"), &shelf, "eve");
    let page = gate::list::<Notes>(&cx, Search::all()).await.unwrap();
    let ids: Vec<_> = page.items.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["a", "d"]);
    for (site, expected) in [
        ("t", ErrorKind::Forbidden),
        ("nowhere", ErrorKind::NotFound),
    ] {
        let query = [("siteId".to_owned(), site.to_owned())];
        let search = Grammar::of::<Notes>().unwrap().parse(&query).unwrap();
        let error = gate::list::<Notes>(&cx, search).await.unwrap_err();
        assert_eq!(error.kind(), expected);
    }
    let stranger = context(told(), &shelf, "");
    let error = gate::list::<Notes>(&stranger, Search::all())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unauthenticated);
}

#[tokio::test]
async fn owners_may_what_their_own_function_says() {
    for (function, eid, expected) in [
        ("note.revise.any", "eve", Some("note.revise.any")),
        ("note.revise.any", "ada", Some("note.revise.any")),
        ("note.revise.own", "ada", Some("note.revise.own")),
        ("note.revise.own", "eve", None),
        ("note.delete.own", "ada", None),
    ] {
        let shelf = Shelf::of(&[("a", "s", "ada", "")]);
        let cx = context(ToldAuthorizer::default().grant(function, "s"), &shelf, eid);
        let done = gate::update::<Notes>(
            &cx,
            "a",
            &input(json!({"text": "x"})),
            &Preconditions::default(),
        )
        .await;
        assert_eq!(done.is_ok(), expected.is_some(), "{function} {eid}");
        // The event is named after the function that was used.
        let kinds: Vec<_> = cx.events().into_iter().map(|it| it.kind).collect();
        assert_eq!(kinds, expected.into_iter().collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn an_entity_in_a_site_that_is_gone_is_not_there() {
    let shelf = Shelf::of(&[("a", "nowhere", "ada", "")]);
    let note = shelf.find("a").unwrap();
    let cx = context(told(), &shelf, "ada");
    assert!(
        !gate::may::<Notes>(&cx, &note, Operation::Read)
            .await
            .unwrap()
    );
    let error = gate::require::<Notes>(&cx, &note, Operation::Read)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "there is no such site");
}

#[tokio::test]
async fn a_deletion_tells_and_needs_the_version() {
    let shelf = Shelf::of(&[("a", "s", "ada", "")]);
    let cx = context(told(), &shelf, "eve");
    let stale = IfMatch::Versions(vec![Version(0)]).into();
    let error = gate::delete::<Notes>(&cx, "a", &stale).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    assert!(shelf.find("a").is_some() && cx.events().is_empty());
    let reference = gate::delete::<Notes>(&cx, "a", &IfMatch::Any.into())
        .await
        .unwrap();
    assert_eq!(reference.to_string(), "/note/a");
    assert!(shelf.find("a").is_none());
    let event = cx.events().remove(0);
    assert_eq!(
        (event.reference.as_str(), event.site.as_deref()),
        ("/note/a", Some("s"))
    );
    assert_eq!(
        (event.kind.as_str(), event.actor.as_deref()),
        ("note.delete.any", Some("eve"))
    );
}
