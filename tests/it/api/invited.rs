//! `/api/users/me/notifications`: who is told of invitations.

use http::StatusCode;
use serde_json::json;
use tests::{TestApp, both};

use super::replies::{id_of, made, of_kind};

both! {
    async fn whoever_has_an_account_is_told_of_an_invitation(app: TestApp) {
        const KIND: &str = "invitation.sent";
        let (owner, guest, other) = (app.user("student1").await, app.user("student5").await, app.user("student6").await);
        let project = json!({"id": "club", "title": "Chess Club", "type": "project"});
        owner.post("/direct/site", &project).await.expect(StatusCode::CREATED);
        let invite = async |invitee: &str| {
            let fields = json!({"siteId": "club", "invitee": invitee, "memberRole": "access"});
            made(&owner, "invitation", fields).await
        };
        invite("nobody@example.edu").await;
        let first = invite("STUDENT5").await;
        let all = of_kind(&app, &guest, KIND).await;
        assert_eq!((all.len(), &all[0]["ref"]), (1, &json!(format!("/invitation/{first}"))));
        assert_eq!((&all[0]["siteTitle"], &all[0]["fromUser"]), (&json!("Chess Club"), &id_of(&owner).await));
        guest.get(all[0]["url"].as_str().expect("an address")).await.expect(StatusCode::OK);
        for client in [&owner, &other] {
            assert!(of_kind(&app, client, KIND).await.is_empty());
        }
        let act = async |id: &str, action: &str| {
            let path = format!("/direct/invitation/{id}/{action}");
            guest.post(&path, &json!({})).await.expect(StatusCode::NO_CONTENT);
        };
        act(&first, "decline").await;
        assert!(of_kind(&app, &guest, KIND).await.is_empty(), "it is declined");
        let second = invite("student5").await;
        assert_eq!(of_kind(&app, &guest, KIND).await.len(), 1);
        owner.delete(&format!("/direct/invitation/{second}")).await.expect(StatusCode::NO_CONTENT);
        assert!(of_kind(&app, &guest, KIND).await.is_empty(), "it is taken back");
        let third = invite("student5").await;
        assert_eq!(of_kind(&app, &guest, KIND).await.len(), 1);
        act(&third, "accept").await;
        assert!(of_kind(&app, &guest, KIND).await.is_empty(), "it is accepted");
    }
}
