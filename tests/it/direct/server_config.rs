//! `/direct/server-config`

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Value, json};
use tests::{TestApp, both};

use super::{list, read, text};

/// All that may ever be told. Whoever adds a name asks first whether strangers may know it.
const HARMLESS: [&str; 10] = [
    "accessPath",
    "accessUrl",
    "loggedOutUrl",
    "portalPath",
    "portalUrl",
    "serverId",
    "serverName",
    "serverUrl",
    "ui.service",
    "userHomeUrl",
];

both! {
    async fn everybody_reads_the_harmless_settings_and_no_others(app: TestApp) {
        for client in [app.anonymous(), app.user("student1").await, app.user("admin").await] {
            let settings = list(&client, "/direct/server-config.json", "server-config").await;
            let names: Vec<_> = settings.iter().map(|it| text(it, "name")).collect();
            assert_eq!(names, HARMLESS);
            for setting in &settings {
                let one = read(&client, &format!("/direct/server-config/{}.json", text(setting, "name"))).await;
                assert_eq!(one, *setting);
            }
            for secret in ["database", "login.accountFailures", "proxy.trusted", "serverHostName", "nothing"] {
                client.get(&format!("/direct/server-config/{secret}")).await.expect(StatusCode::NOT_FOUND);
            }
        }
    }

    async fn they_are_told_as_plain_data_too(app: TestApp) {
        let stranger = app.anonymous();
        let values: BTreeMap<String, Value> =
            serde_json::from_value(read(&stranger, "/direct/server-config/values.json").await).expect("an object");
        assert!(values.keys().eq(HARMLESS.iter()));
        assert_eq!(values["serverName"], "127.0.0.1");
        assert_eq!(values["portalUrl"], "http://127.0.0.1:8080/portal");
        assert_eq!(read(&stranger, "/direct/server-config/names.json").await, json!(HARMLESS));
        assert_eq!(read(&stranger, "/direct/server-config/servers.json").await, json!(["svc"]));
    }

    async fn nobody_writes_them(app: TestApp) {
        let admin = app.user("admin").await;
        let path = "/direct/server-config/serverUrl";
        let evil = json!({"value": "https://evil.example"});
        admin.put(path, &evil).await.expect(StatusCode::METHOD_NOT_ALLOWED);
        admin.post("/direct/server-config", &evil).await.expect(StatusCode::METHOD_NOT_ALLOWED);
        admin.delete(path).await.expect(StatusCode::METHOD_NOT_ALLOWED);
        app.anonymous().put(path, &evil).await.expect(StatusCode::METHOD_NOT_ALLOWED);
    }
}
