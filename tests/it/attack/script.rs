//! A script of somebody else's on a page of ours: pages run one script, which is named by its address.

use http::header::{
    CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, StatusCode};
use serde_json::json;
use tests::{Answer, TestApp, above_storage};

use crate::direct::browser;

const OWN: &str = "<script src=\"/assets/lectern.js\" defer></script>";

/// The sources from which a page runs scripts.
fn sources(page: &Answer) -> String {
    let policy = page.header(CONTENT_SECURITY_POLICY).expect("a policy");
    let mut rules = policy
        .split("; ")
        .map(|it| it.split_once(' ').expect("a rule"));
    let scripts = rules.clone().find(|it| it.0 == "script-src");
    let connected = rules.find(|it| it.0 == "connect-src");
    assert_eq!(connected, Some(("connect-src", "'self'")), "{policy}");
    assert!(
        policy.contains("default-src 'none'") && !policy.contains("unsafe"),
        "{policy}"
    );
    scripts.expect("a rule about scripts").1.to_owned()
}

above_storage! {
    async fn a_script_that_somebody_uploaded_runs_on_no_page(app: TestApp) {
        let teacher = browser(&app, "instructor1").await;
        let body = "--x\r\nContent-Disposition: form-data; name=\"siteId\"\r\n\r\nbiology-101\r\n--x\r\n\
            Content-Disposition: form-data; name=\"file\"; filename=\"evil.js\"\r\nContent-Type: text/javascript\r\n\r\n\
            document.title = 1\r\n--x--\r\n";
        let client = app.user("instructor1").await;
        let kind = "multipart/form-data; boundary=x";
        let made = client.send(Method::POST, "/direct/content", kind, body.into()).await;
        made.expect(StatusCode::CREATED);
        let stored = client.get(&format!("/direct/content/{}.json", made.text())).await.json();
        let url = stored["url"].as_str().expect("an address");
        let path = url.strip_prefix("http://127.0.0.1:8080").expect("an own address");

        let file = client.get(path).await;
        file.expect(StatusCode::OK);
        assert_eq!(file.header(CONTENT_TYPE), Some("text/javascript"));
        assert_eq!(file.header(X_CONTENT_TYPE_OPTIONS), Some("nosniff"));
        let disposition = file.header(CONTENT_DISPOSITION).expect("a disposition");
        assert!(disposition.starts_with("attachment"), "{disposition}");

        let script = format!("<script src=\"{path}\"></script><script src=/assets/x.js></script><b onclick=\"x()\">B</b>");
        let news = json!({"siteId": "biology-101", "title": &script, "body": &script});
        let made = client.post("/direct/announcement", &news).await;
        made.expect(StatusCode::CREATED);
        let page = teacher.get(&format!("/direct{}.html", made.json()["entityReference"].as_str().expect("a reference"))).await;
        page.expect(StatusCode::OK);
        assert_eq!(page.text().matches("<script").count(), 1, "{}", page.text());
        assert!(page.text().contains(OWN) && !page.text().contains("<b onclick"));
        assert_eq!(sources(&page), "http://127.0.0.1:8080/assets/lectern.js");
        teacher.get("/assets/x.js").await.expect(StatusCode::NOT_FOUND);
    }

    async fn nobody_chooses_the_address_of_the_script(app: TestApp) {
        for host in ["evil.example", "evil.example;127.0.0.1", "localhost:1@evil.example", "localhost:1;evil.example", "127.0.0.1 evil.example"] {
            let stranger = app.anonymous().with_header(HOST, host);
            for path in ["/portal/xlogin", "/direct/announcement/nothing.html"] {
                let page = stranger.get(path).await;
                let policy = page.header(CONTENT_SECURITY_POLICY).expect("a policy");
                assert!(policy.contains("default-src 'none'") && !policy.contains("evil"), "{policy}");
            }
        }
        let script = app.anonymous().get("/assets/lectern.js").await;
        assert_eq!(script.header(CONTENT_TYPE), Some("text/javascript; charset=utf-8"));
        assert!(script.text().len() <= 15_000 && !script.text().contains("innerHTML"));
    }
}
