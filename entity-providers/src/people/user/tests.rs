//! Tests of users, in the demo university.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use entity_core::{ErrorKind, Result, Verb};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::{Passwords, credentials};
use crate::testbed::{Testbed, texts};

fn kind<T: std::fmt::Debug>(answer: Result<T>) -> ErrorKind {
    answer.unwrap_err().kind()
}

#[tokio::test]
async fn nobody_is_a_user_without_an_id() {
    let bed = Testbed::demo().await;
    let user = bed.get("", "user/current").await.unwrap();
    assert_eq!(
        user,
        json!({
            "id": "", "eid": null, "displayId": "", "displayName": "", "sortName": "", "firstName": "",
            "lastName": "", "email": "", "type": "", "owner": null, "password": null, "props": {},
            "reference": "", "url": "", "createdDate": null, "createdTime": null, "lastModified": null,
            "modifiedDate": null, "modifiedTime": null,
        })
    );
}

#[tokio::test]
async fn authz_12_others_look_like_nobody_at_all() {
    let bed = Testbed::demo().await;
    let other = bed.id("student2").to_owned();
    let mut answers = Vec::new();
    for name in [
        "student2",
        "no-such-user",
        &other,
        "id=nonsense",
        "student2@example.edu",
    ] {
        let error = bed
            .get("student1", &format!("user/{name}"))
            .await
            .unwrap_err();
        answers.push((error.kind(), error.message().to_owned()));
        let error = bed
            .get("student1", &format!("user/{name}/exists"))
            .await
            .unwrap_err();
        answers.push((error.kind(), error.message().to_owned()));
    }
    assert_eq!(answers[0].0, ErrorKind::Forbidden);
    assert!(answers.iter().all(|it| *it == answers[0]), "{answers:?}");
}

#[tokio::test]
async fn administrators_find_users_by_words_and_address() {
    let bed = Testbed::demo().await;
    for (query, expected) in [
        ("user?search=student2@", vec!["student2"]),
        ("user?criteria=okafor", vec!["instructor1"]),
        ("user?email=STUDENT1@example.edu", vec!["student1"]),
        ("user?search=100%", vec![]),
    ] {
        let list = bed.get("admin", query).await.unwrap();
        assert_eq!(texts(&list, "eid"), expected, "{query}");
    }
    let list = bed.get("admin", "user").await.unwrap();
    let mut sorted = texts(&list, "sortName");
    sorted.sort_unstable();
    assert_eq!(texts(&list, "sortName"), sorted);
}

#[tokio::test]
async fn an_account_is_made_changed_and_deleted() {
    let bed = Testbed::demo().await;
    let draft = json!({"eid": "new1", "firstName": "Noor", "lastName": "Haddad",
        "email": "noor@example.edu", "password": "correct horse", "props": {"phone": "1"}});
    let user = bed.send("admin", Verb::Post, "user", &draft).await.unwrap();
    assert_eq!(user["displayName"], "Noor Haddad");
    assert_eq!(user["sortName"], "Haddad, Noor");
    assert_eq!(user["props"], json!({"phone": "1"}));
    assert_eq!(user["type"], "registered");
    let cx = bed.reader("admin").await;
    let found = credentials(&cx, "NOOR@example.edu").await.unwrap().unwrap();
    assert_eq!(found.password_hash.expose(), Some("esroh tcerroc"));
    assert!(!format!("{found:?}").contains("esroh"));

    // The external id is taken, in whatever case.
    let again = json!({"eid": "NEW1"});
    assert_eq!(
        kind(bed.send("admin", Verb::Post, "user", &again).await),
        ErrorKind::Conflict
    );

    let path = "user/new1";
    bed.send("admin", Verb::Put, path, &json!({"disabled": true}))
        .await
        .unwrap();
    assert!(
        credentials(&cx, "new1")
            .await
            .unwrap()
            .unwrap()
            .disabled
            .unwrap()
    );
    bed.send("admin", Verb::Delete, path, &Value::Null)
        .await
        .unwrap();
    assert_eq!(kind(bed.get("admin", path).await), ErrorKind::NotFound);
}

#[tokio::test]
async fn users_change_themselves_but_not_what_administrators_decide() {
    let bed = Testbed::demo().await;
    let path = "user/current";
    assert!(
        bed.send("student1", Verb::Put, path, &json!({}))
            .await
            .is_err()
    );
    let path = "user/student1";
    let mut sent = bed.get("student1", path).await.unwrap();
    sent["firstName"] = json!("Adele");
    bed.send("student1", Verb::Put, path, &sent).await.unwrap();
    let user = bed.get("student1", path).await.unwrap();
    assert_eq!(user["firstName"], "Adele");
    for (change, expected) in [
        (json!({"type": "maintainer"}), ErrorKind::Forbidden),
        (json!({"disabled": true}), ErrorKind::Forbidden),
        (json!({"password": "short"}), ErrorKind::BadRequest),
        (json!({"email": "no address"}), ErrorKind::BadRequest),
    ] {
        let answer = bed.send("student1", Verb::Put, path, &change).await;
        assert_eq!(kind(answer), expected, "{change}");
    }
}

#[tokio::test]
async fn an_address_that_two_accounts_have_names_none() {
    let bed = Testbed::demo().await;
    for eid in ["twin1", "twin2"] {
        let draft = json!({"eid": eid, "email": "twin@example.edu"});
        bed.send("admin", Verb::Post, "user", &draft).await.unwrap();
    }
    let cx = bed.reader("admin").await;
    assert!(
        credentials(&cx, "twin@example.edu")
            .await
            .unwrap()
            .is_none()
    );
    for name in ["", "a\0b", "no-such-user"] {
        assert!(credentials(&cx, name).await.unwrap().is_none());
    }
}

/// Takes as long as it is let to.
#[derive(Debug)]
struct Slow {
    begun: Semaphore,
    may_end: Semaphore,
}

#[async_trait]
impl Passwords for Slow {
    async fn hash(&self, password: &str) -> Result<String> {
        self.begun.add_permits(1);
        self.may_end.acquire().await.unwrap().forget();
        Ok(password.to_uppercase())
    }

    async fn verify(&self, _password: &str, stored: &str) -> Result<bool> {
        Ok(stored == "no hash")
    }
}

#[tokio::test]
async fn others_write_while_a_password_is_hashed() {
    let slow = Arc::new(Slow {
        begun: Semaphore::new(0),
        may_end: Semaphore::new(0),
    });
    let bed = Testbed::hashing(slow.clone()).await.filled().await;
    let account = json!({"eid": "new1", "password": "correct horse"});
    let change = json!({"password": "correct horse", "currentPassword": "anything"});
    for (eid, verb, path, body, changed) in [
        ("admin", Verb::Post, "user", &account, "new1"),
        ("student1", Verb::Put, "user/student1", &change, "student1"),
        ("admin", Verb::Put, "user/student2", &change, "student2"),
    ] {
        let write = bed.send(eid, verb, path, body);
        let meanwhile = async {
            slow.begun.acquire().await.unwrap().forget();
            let other = json!({"firstName": "Grace"});
            bed.send("student3", Verb::Put, "user/student3", &other)
                .await
                .unwrap();
            slow.may_end.add_permits(1);
        };
        let both = futures::future::join(write, meanwhile);
        let done = Box::pin(timeout(Duration::from_mins(1), both)).await;
        done.expect("one does not wait for the other").0.unwrap();
        let found = credentials(&bed.reader("admin").await, changed).await;
        let hash = found.unwrap().unwrap().password_hash;
        assert_eq!(hash.expose(), Some("CORRECT HORSE"), "{changed}");
    }
    for (eid, verb, path, body) in [
        ("student1", Verb::Post, "user", &account),
        ("student1", Verb::Put, "user/student2", &change),
        ("", Verb::Put, "user/student1", &change),
        (
            "admin",
            Verb::Put,
            "user/student1",
            &json!({"password": "short"}),
        ),
    ] {
        assert!(bed.send(eid, verb, path, body).await.is_err(), "{eid}");
        assert_eq!(slow.begun.available_permits(), 0, "{eid} {path}");
    }
}

#[tokio::test]
async fn the_operator_changes_accounts_without_being_anybody() {
    use entity_core::Caller;

    use super::{NewPassword, operator};

    let bed = Testbed::demo().await;
    assert!(NewPassword::new("short").is_err());
    let password = NewPassword::new("correct horse").unwrap();
    let passwords = bed.dispatcher.shared().service().unwrap();
    let hash = password.hash(&passwords).await.unwrap();
    let add = |eid: &'static str| {
        let hash = hash.clone();
        bed.write(Caller::anonymous(), move |cx| {
            let hash = hash.clone();
            Box::pin(async move { operator::add(cx, eid, hash, true).await })
        })
    };
    add("root").await.unwrap();
    assert_eq!(kind(add("ROOT").await), ErrorKind::Conflict);
    assert_eq!(kind(add("a b").await), ErrorKind::BadRequest);
    bed.write(Caller::anonymous(), move |cx| {
        let hash = hash.clone();
        Box::pin(async move {
            operator::set_password(cx, "student1", hash).await?;
            operator::disable(cx, "student2").await
        })
    })
    .await
    .unwrap();
    let cx = bed.reader("admin").await;
    for (eid, is_disabled) in [("root", false), ("student1", false), ("student2", true)] {
        let found = credentials(&cx, eid).await.unwrap().unwrap();
        assert_eq!(found.disabled, Some(is_disabled), "{eid}");
        let is_new = found.password_hash.expose() == Some("esroh tcerroc");
        assert_eq!(is_new, !is_disabled, "{eid}");
    }
}
