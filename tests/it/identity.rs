//! Nothing that an account says of itself proves who somebody is, wherever people are looked up by a name.

use entity_core::Entity as _;
use entity_core::schema::{Kind, Writable};
use entity_providers::people::user::User;
use http::StatusCode;
use serde_json::{Value, json};
use tests::app::PASSWORD;
use tests::{Client, TestApp, both};

/// The address of somebody else, who has no account yet.
const VICTIM: &str = "guestlecturer@example.edu";
const INVITATIONS: &str = "/direct/invitation.json";

/// Returns the claims that users may write about themselves, with the victim's address for a value.
fn claims() -> Vec<Value> {
    let fields = User::schema().fields.iter();
    let writable = fields.filter(|it| it.writable == Writable::Always);
    let claims = writable.filter_map(|it| match it.kind {
        Kind::Text(_) => Some(json!({it.name: VICTIM})),
        Kind::Boolean => Some(json!({it.name: true})),
        Kind::Object => Some(json!({it.name: {"eid": VICTIM, "email": VICTIM}})),
        _ => None,
    });
    claims.collect()
}

async fn path_of(client: &Client) -> String {
    let own = client.get("/direct/user/current.json").await.json();
    format!("/direct/user/{}", own["id"].as_str().expect("an id"))
}

/// An invitation by the victim's address to a site that nobody else can join.
async fn invitation(host: &Client, site: &str) -> String {
    let site = json!({"id": site, "title": "Chess Club", "type": "project"});
    host.post("/direct/site", &site)
        .await
        .expect(StatusCode::CREATED);
    let invited = json!({"siteId": site["id"], "invitee": VICTIM, "memberRole": "maintain"});
    let made = host.post("/direct/invitation", &invited).await;
    let id = made.expect(StatusCode::CREATED).header("entityid");
    format!("/direct/invitation/{}", id.expect("an id"))
}

/// Counts the people who are found by the name of the victim when members are added to a site.
async fn added(admin: &Client) -> String {
    let form = format!(
        "userSearchValues={}&memberRole=access",
        VICTIM.replace('@', "%40")
    );
    let answer = admin
        .post_form("/direct/membership/site/field-trip.json", &form)
        .await;
    let number = answer.expect(StatusCode::OK).header("x-success-count");
    number.expect("a number").to_owned()
}

async fn may_log_in(app: &TestApp) -> bool {
    let form = format!("username={VICTIM}&password={PASSWORD}");
    let api = app.anonymous().post_form("/api/login", &form).await.status;
    let form = format!("_username={VICTIM}&_password={PASSWORD}");
    let direct = app.anonymous().post_form("/direct/session", &form).await;
    let (api, direct) = (api == StatusCode::OK, direct.status == StatusCode::CREATED);
    assert_eq!(api, direct);
    api
}

both! {
    async fn x47_what_an_account_says_of_itself_is_no_proof(app: TestApp) {
        let (host, thief, admin) = (app.user("student1").await, app.user("student5").await, app.user("admin").await);
        let invitation = invitation(&host, "club").await;
        let own = path_of(&thief).await;
        let mut accepted = 0;
        for claim in claims() {
            let status = thief.put(&own, &claim).await.status;
            accepted += usize::from(status == StatusCode::NO_CONTENT);
            assert!(status.is_success() || status.is_client_error(), "{claim}: {status}");

            thief.get(&invitation).await.expect(StatusCode::NOT_FOUND);
            let seen = thief.get(&format!("{INVITATIONS}?siteId=club")).await.json();
            assert_eq!(seen["invitation_collection"], json!([]), "{claim}");
            for action in ["accept", "decline"] {
                let taken = thief.post(&format!("{invitation}/{action}"), &json!({})).await;
                taken.expect(StatusCode::NOT_FOUND);
            }
            assert_eq!(added(&admin).await, "0", "{claim}");
            assert!(!may_log_in(&app).await, "{claim}");
            admin.get(&format!("/direct/user/{VICTIM}.json")).await.expect(StatusCode::NOT_FOUND);
        }
        assert!(accepted >= 3, "names, address and properties are the user's own: {accepted}");
        let seen = thief.get(&format!("{own}.json")).await.json();
        assert_eq!(seen["email"], VICTIM, "{seen}");
        assert!(seen.get("emailVerified").is_none(), "{seen}");

        // It keeps nobody from having it, and whoever an administrator gave it is the one.
        let (other, lecturer) = (app.user("student6").await, app.user("instructor2").await);
        other.put(&path_of(&other).await, &json!({"email": VICTIM})).await.expect(StatusCode::NO_CONTENT);
        let theirs = path_of(&lecturer).await;
        admin.put(&theirs, &json!({"email": VICTIM})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(admin.get(&format!("{theirs}.json")).await.json()["emailVerified"], true);
        assert!(may_log_in(&app).await);
        lecturer.get(&invitation).await.expect(StatusCode::OK);
        thief.get(&invitation).await.expect(StatusCode::NOT_FOUND);
        assert_eq!(added(&admin).await, "1");
        // Nobody else can take it now.
        let third = app.user("student7").await;
        third.put(&path_of(&third).await, &json!({"email": VICTIM})).await.expect(StatusCode::CONFLICT);
    }

    async fn an_administrator_says_whose_an_address_is(app: TestApp) {
        let (student, admin) = (app.user("student5").await, app.user("admin").await);
        let own = path_of(&student).await;
        student.put(&own, &json!({"email": VICTIM})).await.expect(StatusCode::NO_CONTENT);
        student.put(&own, &json!({"emailVerified": true})).await.expect(StatusCode::FORBIDDEN);
        let seen = admin.get(&format!("{own}.json")).await.json();
        assert_eq!(seen["emailVerified"], false, "{seen}");
        // What was read is sent back and changes nothing.
        admin.put(&own, &seen).await.expect(StatusCode::NO_CONTENT);
        assert!(!may_log_in(&app).await);
        admin.put(&own, &json!({"emailVerified": true})).await.expect(StatusCode::NO_CONTENT);
        assert!(may_log_in(&app).await);
        // Whoever takes the mark away together with the address means it.
        let unsure = json!({"email": "else@example.edu", "emailVerified": false});
        admin.put(&own, &unsure).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(admin.get(&format!("{own}.json")).await.json()["emailVerified"], false);
        admin.put(&own, &json!({"email": VICTIM})).await.expect(StatusCode::NO_CONTENT);
        assert!(may_log_in(&app).await);
        // What the user reads and sends back leaves it so, and another address is another question.
        let sent = student.get(&format!("{own}.json")).await.json();
        student.put(&own, &sent).await.expect(StatusCode::NO_CONTENT);
        assert!(may_log_in(&app).await);
        student.put(&own, &json!({"email": "else@example.edu"})).await.expect(StatusCode::NO_CONTENT);
        student.put(&own, &json!({"email": VICTIM})).await.expect(StatusCode::NO_CONTENT);
        assert!(!may_log_in(&app).await);
    }

    async fn x2_nobody_has_no_external_id(app: TestApp) {
        let nobody = app.anonymous().get("/direct/user/current.json").await;
        let nobody = nobody.expect(StatusCode::OK).json();
        assert_eq!((&nobody["id"], &nobody["eid"]), (&json!(""), &Value::Null));
        assert_eq!(app.user("student1").await.get("/direct/user/current.json").await.json()["eid"], "student1");
    }
}
