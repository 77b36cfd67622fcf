//! `/direct/invitation`: who is asked to become a member, and who says yes or no.

use chrono::TimeDelta;
use http::StatusCode;
use serde_json::{Value, json};
use tests::rows::{databases, texts};
use tests::{Client, TestApp, both};

use super::{created, id_of, items, list, read, text};

const LIST: &str = "/direct/invitation.json";

tests::app_with! {
    /// A service in which a site, and an account, have few open invitations.
    Limited, [("invitations.perSite", "2"), ("invitations.perAccount", "3")]
}

/// A project of student1's, who may not enrol anybody.
async fn project(app: &TestApp) -> Client {
    let owner = app.user("student1").await;
    let body = json!({"id": "club", "title": "Chess Club", "type": "project"});
    owner
        .post("/direct/site", &body)
        .await
        .expect(StatusCode::CREATED);
    owner
}

async fn invite(owner: &Client, invitee: &str, role: &str) -> String {
    let body = json!({"siteId": "club", "invitee": invitee, "memberRole": role});
    let answer = owner.post("/direct/invitation", &body).await;
    let id = created(&answer, "invitation");
    format!("/direct/invitation/{id}")
}

async fn act(client: &Client, invitation: &str, action: &str) -> StatusCode {
    client
        .post(&format!("{invitation}/{action}"), &json!({}))
        .await
        .status
}

async fn role_in_club(app: &TestApp, eid: &str) -> Option<String> {
    let client = app.user(eid).await;
    let id = id_of(&client).await;
    let answer = client
        .get(&format!("/direct/membership/{id}::site:club.json"))
        .await;
    (answer.status == StatusCode::OK).then(|| text(&answer.json(), "memberRole"))
}

/// The path of the link that an answer tells.
fn link(told: &Value) -> String {
    let link = text(told, "link");
    let (_, path) = link
        .split_once("/direct/")
        .expect("an address of this service");
    format!("/direct/{path}")
}

both! {
    async fn y60_a_dry_run_of_an_acceptance_opens_no_site(app: TestApp) {
        let owner = project(&app).await;
        let news = json!({"siteId": "club", "title": "Zugzwang", "body": "<p>Zwischenzug</p>"});
        created(&owner.post("/direct/announcement", &news).await, "announcement");
        let invitation = invite(&owner, "student5", "access").await;
        let fifth = app.user("student5").await;
        let dry = fifth.clone().with_header(http::HeaderName::from_static("prefer"), "tx=rollback");
        let reads = ["site/club.json", "announcement/site/club.json", "membership/site/club.json", "site/club/pages.json"];
        let operations = reads.iter().map(|it| json!({"method": "GET", "path": it}));
        let accept = json!({"method": "POST", "path": format!("{invitation}/accept")});
        let operations: Vec<Value> = std::iter::once(accept).chain(operations).collect();
        let before = fifth.get("/direct/site/club.json").await;
        let batch = json!({"atomic": true, "operations": operations});
        let told = dry.post("/direct/batch.json", &batch).await;
        told.expect(StatusCode::OK);
        for word in ["Zugzwang", "Zwischenzug", "student1"] {
            assert!(!told.text().contains(word), "{word}: {}", told.text());
        }
        let known = before.text().contains("Chess Club");
        assert_eq!(told.text().contains("Chess Club"), known, "{}", told.text());
    }

    async fn whoever_has_the_link_accepts_it(app: TestApp) {
        let (owner, guest) = (project(&app).await, app.user("student5").await);
        let body = json!({"siteId": "club", "invitee": "guest@example.edu", "memberRole": "maintain"});
        let made = owner.post("/direct/invitation", &body).await;
        let told = made.expect(StatusCode::CREATED).json();
        let (first, invitation) = (link(&told), format!("/direct/invitation/{}", text(&told, "id")));

        // It is told once.
        assert!(read(&owner, &invitation).await.get("link").is_none());
        let all = owner.get(&format!("{LIST}?siteId=club")).await;
        let secret = first.rsplit('/').next().expect("a secret");
        assert!(!all.text().contains(secret), "{}", all.text());

        // Nobody finds the invitation without it, and only those who look after the members make a new one.
        guest.get(&invitation).await.expect(StatusCode::NOT_FOUND);
        assert_eq!(act(&guest, &invitation, "link").await, StatusCode::NOT_FOUND);
        let told = owner.post(&format!("{invitation}/link"), &json!({})).await;
        let second = link(&told.expect(StatusCode::OK).json());
        guest.get(&first).await.expect(StatusCode::NOT_FOUND);
        guest.post(&first, &json!({})).await.expect(StatusCode::NOT_FOUND);

        let asked = guest.get(&format!("{second}.html")).await;
        let asked = asked.expect(StatusCode::OK).text();
        assert!(asked.contains("invites you to Chess Club as maintain"), "{asked}");
        // Who invited may look at it and does not use it up.
        owner.post(&second, &json!({})).await.expect(StatusCode::CONFLICT);
        guest.post(&second, &json!({})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(role_in_club(&app, "student5").await.as_deref(), Some("maintain"));
        let other = app.user("student6").await;
        other.post(&second, &json!({})).await.expect(StatusCode::NOT_FOUND);
        owner.get(&invitation).await.expect(StatusCode::NOT_FOUND);
    }

    async fn no_log_has_the_secret_of_a_link(app: TestApp) {
        let (owner, guest) = (project(&app).await, app.user("student5").await);
        let body = json!({"siteId": "club", "invitee": "guest@example.edu", "memberRole": "access"});
        let link = link(&owner.post("/direct/invitation", &body).await.json());
        let secret = link.rsplit('/').next().expect("a secret");
        guest.post(&link, &json!({})).await.expect(StatusCode::NO_CONTENT);
        app.service().audit.flush().await;
        let mut paths = Vec::new();
        for database in databases(&app).await {
            paths.extend(texts(&database, "SELECT path AS line FROM audit").await);
        }
        assert!(paths.iter().any(|it| it == "/direct/invitation/claim/[id]"), "{paths:?}");
        assert!(!paths.iter().any(|it| it.contains(secret)), "{paths:?}");
    }

    async fn a_link_ends_with_the_invitation(app: TestApp) {
        let (owner, guest) = (project(&app).await, app.user("student5").await);
        let body = json!({"siteId": "club", "invitee": "guest@example.edu", "memberRole": "access"});
        let told = owner.post("/direct/invitation", &body).await.json();
        guest.get(&link(&told)).await.expect(StatusCode::OK);
        app.advance(TimeDelta::days(30));
        app.user("student5").await.get(&link(&told)).await.expect(StatusCode::NOT_FOUND);
    }

    async fn whoever_is_invited_sees_it_and_accepts_it(app: TestApp) {
        let owner = project(&app).await;
        let invitation = invite(&owner, "Student5@Example.edu", "maintain").await;
        let seen = read(&owner, &invitation).await;
        let inviter = id_of(&owner).await;
        assert_eq!(
            [&seen["siteId"], &seen["siteTitle"], &seen["memberRole"], &seen["invitee"], &seen["invitedBy"], &seen["invitedByDisplayName"]],
            [&json!("club"), &json!("Chess Club"), &json!("maintain"), &json!("Student5@Example.edu"), &json!(inviter), &json!("Ada Moreau")],
        );
        let invited = app.user("student5").await;
        let own = items(&invited.get(&format!("{LIST}?_count=exact&siteId=club")).await, "invitation");
        assert_eq!(own.len(), 1, "{own:?}");
        assert_eq!(own[0]["entityId"], seen["entityId"]);
        // Nothing of the site but its title.
        for path in ["site/club", "membership/site/club", "announcement.json?siteId=club", "site/club/pages"] {
            invited.get(&format!("/direct/{path}")).await.expect(StatusCode::FORBIDDEN);
        }
        assert_eq!(role_in_club(&app, "student5").await, None);
        assert_eq!(act(&invited, &invitation, "accept").await, StatusCode::NO_CONTENT);
        assert_eq!(role_in_club(&app, "student5").await.as_deref(), Some("maintain"));
        invited.get("/direct/site/club").await.expect(StatusCode::OK);
        assert_eq!(act(&invited, &invitation, "accept").await, StatusCode::NOT_FOUND);
    }

    async fn people_are_invited_by_id_external_id_or_address(app: TestApp) {
        let owner = project(&app).await;
        let fifth = app.user("student5").await;
        for name in [id_of(&fifth).await, "STUDENT5".to_owned(), "student5@example.edu".to_owned()] {
            let invitation = invite(&owner, &name, "access").await;
            fifth.get(&invitation).await.expect(StatusCode::OK);
        }
        // An address that two have names neither.
        let admin = app.user("admin").await;
        let sixth = format!("/direct/user/{}", id_of(&app.user("student6").await).await);
        admin.put(&sixth, &json!({"email": "student5@example.edu"})).await.expect(StatusCode::NO_CONTENT);
        let all = list(&fifth, &format!("{LIST}?siteId=club"), "invitation").await;
        assert_eq!(all.len(), 2, "{all:?}");
        let none = list(&app.user("student6").await, &format!("{LIST}?siteId=club"), "invitation").await;
        assert!(none.is_empty(), "{none:?}");
        // Whoever accepts one has accepted the others.
        let first = format!("/direct/invitation/{}", text(&all[0], "entityId"));
        assert_eq!(act(&fifth, &first, "accept").await, StatusCode::NO_CONTENT);
        let left = list(&fifth, &format!("{LIST}?siteId=club"), "invitation").await;
        assert!(left.is_empty(), "{left:?}");
    }

    async fn an_invitation_that_is_declined_or_withdrawn_is_gone(app: TestApp) {
        let owner = project(&app).await;
        let fifth = app.user("student5").await;
        let invitation = invite(&owner, "student5", "access").await;
        assert_eq!(act(&fifth, &invitation, "decline").await, StatusCode::NO_CONTENT);
        owner.get(&invitation).await.expect(StatusCode::NOT_FOUND);
        let invitation = invite(&owner, "student5", "access").await;
        owner.delete(&invitation).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(act(&fifth, &invitation, "accept").await, StatusCode::NOT_FOUND);
        assert_eq!(role_in_club(&app, "student5").await, None);
    }

    async fn an_invitation_ends_after_thirty_days(app: TestApp) {
        let owner = project(&app).await;
        let invitation = invite(&owner, "student5", "access").await;
        app.advance(TimeDelta::days(30));
        let fifth = app.user("student5").await;
        fifth.get(&invitation).await.expect(StatusCode::NOT_FOUND);
        assert_eq!(act(&fifth, &invitation, "accept").await, StatusCode::NOT_FOUND);
        let none = list(&app.user("student1").await, &format!("{LIST}?siteId=club"), "invitation").await;
        assert!(none.is_empty(), "{none:?}");
    }

    async fn what_the_inviter_may_not_do_any_more_is_void(app: TestApp) {
        let owner = project(&app).await;
        let second = invite(&owner, "student2", "maintain").await;
        assert_eq!(act(&app.user("student2").await, &second, "accept").await, StatusCode::NO_CONTENT);
        let [fifth, sixth] = [invite(&owner, "student5", "maintain").await, invite(&owner, "student6", "access").await];
        let admin = app.user("admin").await;
        // Whoever invited does not look after the site any more.
        let inviter = format!("/direct/membership/{}::site:club", id_of(&owner).await);
        admin.put(&inviter, &json!({"memberRole": "access"})).await.expect(StatusCode::NO_CONTENT);
        let client = app.user("student5").await;
        assert_eq!(act(&client, &fifth, "accept").await, StatusCode::CONFLICT);
        admin.put(&inviter, &json!({"memberRole": "maintain"})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(act(&client, &fifth, "accept").await, StatusCode::NO_CONTENT);
        // Nor is anybody let in by somebody whose account is shut, or who has left.
        let account = format!("/direct/user/{}", id_of(&owner).await);
        let client = app.user("student6").await;
        admin.put(&account, &json!({"disabled": true})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(act(&client, &sixth, "accept").await, StatusCode::CONFLICT);
        admin.put(&account, &json!({"disabled": false})).await.expect(StatusCode::NO_CONTENT);
        admin.delete(&inviter).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(act(&client, &sixth, "accept").await, StatusCode::CONFLICT);
        assert_eq!(role_in_club(&app, "student6").await, None);
    }

    async fn nobody_invites_who_could_not_add(app: TestApp) {
        for (eid, site, role, status) in [
            ("student1", "field-trip", "access", StatusCode::FORBIDDEN),
            ("instructor1", "!admin", "admin", StatusCode::FORBIDDEN),
            ("instructor1", "field-trip", "king", StatusCode::BAD_REQUEST),
            ("instructor1", "field-trip", "access", StatusCode::CREATED),
        ] {
            let body = json!({"siteId": site, "invitee": "student9", "memberRole": role});
            app.user(eid).await.post("/direct/invitation", &body).await.expect(status);
        }
        let teacher = app.user("instructor1").await;
        for invitee in ["", "  ", "a\u{7}b", &"x".repeat(300)] {
            let body = json!({"siteId": "field-trip", "invitee": invitee});
            teacher.post("/direct/invitation", &body).await.expect(StatusCode::BAD_REQUEST);
        }
    }

    async fn without_the_mandate_adding_is_inviting(app: TestApp) {
        let owner = project(&app).await;
        for (typed, path, body) in [
            ("student5", "membership", json!({"userEid": "student5", "locationReference": "/site/club", "memberRole": "access"})),
            ("nobody-here", "membership", json!({"userEid": "nobody-here", "locationReference": "/site/club", "memberRole": "access"})),
        ] {
            let answer = owner.post(&format!("/direct/{path}"), &body).await;
            let id = created(&answer, "membership");
            let made = answer.json();
            assert_eq!([&made["userDisplayName"], &made["userId"], &made["userEid"], &made["userEmail"], &made["active"]],
                [&json!(typed), &json!(""), &json!(""), &json!(""), &json!(false)]);
            // It can be read and withdrawn where the answer says, by those who manage the members.
            let address = format!("/direct/membership/{id}");
            assert_eq!(read(&owner, &address).await["userDisplayName"], typed);
            app.user("student6").await.get(&address).await.expect(StatusCode::NOT_FOUND);
            owner.put(&address, &json!({"memberRole": "maintain"})).await.expect(StatusCode::FORBIDDEN);
        }
        let names = "userSearchValues=student6,nobody-else,student1";
        let answer = owner.post_form("/direct/membership/site/club.json", names).await;
        assert_eq!(items(&answer, "membership").len(), 1);
        assert_eq!(answer.header("x-success-count"), Some("3"));
        assert!(answer.header("x-warning-not-found").is_none() && answer.header("x-warning-already-members").is_none());
        let open = list(&owner, &format!("{LIST}?siteId=club&_order=invitee"), "invitation").await;
        let typed: Vec<_> = open.iter().map(|it| text(it, "invitee")).collect();
        assert_eq!(typed, ["nobody-else", "nobody-here", "student1", "student5", "student6"]);
        let fifth = app.user("student5").await;
        let own = list(&fifth, &format!("{LIST}?siteId=club"), "invitation").await;
        let invitation = format!("/direct/invitation/{}", text(&own[0], "entityId"));
        assert_eq!(act(&fifth, &invitation, "accept").await, StatusCode::NO_CONTENT);
        assert_eq!(role_in_club(&app, "student5").await.as_deref(), Some("access"));
    }

    async fn an_invited_member_is_told_of_like_any_other(app: TestApp) {
        let owner = project(&app).await;
        let invitation = invite(&owner, "student5", "access").await;
        let fifth = app.user("student5").await;
        let dry = fifth.clone().with_header(http::HeaderName::from_static("prefer"), "tx=rollback");
        assert_eq!(act(&dry, &invitation, "accept").await, StatusCode::NO_CONTENT);
        assert_eq!(role_in_club(&app, "student5").await, None);
        assert_eq!(act(&fifth, &invitation, "accept").await, StatusCode::NO_CONTENT);
        let address = read(&fifth, "/direct/membership.json?siteId=club").await;
        assert_eq!(address["membership_collection"].as_array().map(Vec::len), Some(2));
    }

    async fn open_invitations_are_limited(app: Limited) {
        let app = app.0;
        let owner = project(&app).await;
        let second = json!({"id": "band", "title": "Band", "type": "project"});
        owner.post("/direct/site", &second).await.expect(StatusCode::CREATED);
        for (site, invitee, refusal) in [
            ("club", "a", None), ("club", "b", None), ("club", "B", None), ("club", "c", Some("invitations.perSite")),
            ("band", "a", None), ("band", "b", Some("invitations.perAccount")),
        ] {
            let body = json!({"siteId": site, "invitee": invitee, "memberRole": "access"});
            let answer = owner.post("/direct/invitation", &body).await;
            match refusal {
                None => assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text()),
                Some(setting) => assert!(answer.expect(StatusCode::FORBIDDEN).text().contains(setting), "{}", answer.text()),
            }
        }
        app.advance(TimeDelta::days(30));
        let body = json!({"siteId": "club", "invitee": "d", "memberRole": "access"});
        app.user("student1").await.post("/direct/invitation", &body).await.expect(StatusCode::CREATED);
    }
}
