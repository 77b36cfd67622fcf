//! Links: of the start page, and of what clients read about sites.

use std::collections::BTreeSet;

use http::StatusCode;
use http::header::LOCATION;
use serde_json::Value;
use tests::{Answer, Client, TestApp, above_storage};

const BASE: &str = "http://127.0.0.1:8080";
/// The sites of the demo; the last is open to the public.
const SITES: [&str; 4] = [
    "biology-101",
    "history-210",
    "field-trip",
    "university-news",
];

/// Follows redirections from `path`, which leads nowhere outside of the service; returns the last path and its answer.
async fn follow(client: &Client, path: &str) -> (String, Answer) {
    let mut path = path.to_owned();
    for _ in 0..4 {
        let answer = client.get(&path).await;
        match answer
            .header(LOCATION)
            .filter(|_| answer.status.is_redirection())
        {
            Some(next) => path = local(next),
            None => return (path, answer),
        }
    }
    panic!("{path} leads on and on");
}

/// The path behind the address of the service.
fn local(address: &str) -> String {
    let path = address.strip_prefix(BASE).unwrap_or(address);
    assert!(
        path.starts_with('/') && !path.starts_with("//"),
        "{address}"
    );
    path.to_owned()
}

/// All that a page links to.
fn links(page: &str) -> BTreeSet<String> {
    let values = page.split("href=\"").skip(1);
    let values = values.filter_map(|it| it.split('"').next());
    values
        .filter(|it| !it.starts_with('#'))
        .map(|it| local(&it.replace("&#38;", "&")))
        .collect()
}

/// The values of `url` anywhere in `data`.
fn urls(data: &Value, found: &mut BTreeSet<String>) {
    match data {
        Value::Array(items) => items.iter().for_each(|it| urls(it, found)),
        Value::Object(fields) => {
            let own = fields.get("url").and_then(Value::as_str);
            found.extend(own.map(local));
            fields.values().for_each(|it| urls(it, found));
        }
        _ => {}
    }
}

async fn readers(app: &TestApp) -> [(&'static str, Client); 4] {
    [
        ("stranger", app.anonymous()),
        ("student", app.user("student1").await),
        ("instructor", app.user("instructor1").await),
        ("admin", app.user("admin").await),
    ]
}

above_storage! {
    async fn no_link_of_the_start_page_is_dead(app: TestApp) {
        for (name, client) in readers(&app).await {
            let page = client.get("/portal").await;
            let links = links(page.expect(StatusCode::OK).text());
            assert!(links.len() >= 3, "{links:?}");
            for link in links {
                let (end, answer) = follow(&client, &link).await;
                assert!(answer.status.is_success(), "{name}: {link} → {end}: {}", answer.status);
            }
        }
    }

    async fn no_address_in_what_is_told_of_sites_is_dead(app: TestApp) {
        for (name, client) in readers(&app).await {
            let mut found = BTreeSet::new();
            let mut paths = vec!["/direct/site.json".to_owned(), "/api/users/me/sites".to_owned()];
            paths.push("/api/users/me/announcements".to_owned());
            for site in SITES {
                paths.push(format!("/direct/site/{site}.json"));
                paths.push(format!("/direct/site/{site}/pages.json"));
            }
            let mut readable = 0;
            for path in paths {
                let answer = client.get(&path).await;
                if answer.status == StatusCode::OK {
                    readable += 1;
                    urls(&answer.json(), &mut found);
                }
            }
            assert!(readable > 0 && !found.is_empty(), "{name}");
            for url in found {
                let (end, answer) = follow(&client, &url).await;
                assert!(answer.status.is_success(), "{name}: {url} → {end}: {}", answer.status);
                assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{url}");
            }
        }
    }

    async fn a_tool_leads_to_its_data(app: TestApp) {
        let student = app.user("student1").await;
        let pages = student.get("/direct/site/biology-101/pages.json").await.json();
        let page = pages.as_array().expect("a list").iter().find(|it| it["title"] == "Announcements");
        let page = page.expect("a page");
        for address in [&page["url"], &page["tools"][0]["url"]] {
            let answer = student.get(&local(address.as_str().expect("an address"))).await;
            answer.expect(StatusCode::FOUND);
            assert_eq!(answer.header(LOCATION), Some("/direct/announcement/site/biology-101.html"));
        }
        let site = student.get("/portal/site/biology-101").await;
        assert_eq!(site.header(LOCATION), Some("/direct/site/biology-101.html"));
    }

    async fn authz_2_a_page_or_tool_of_another_site_is_not_there(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let pages = teacher.get("/direct/site/field-trip/pages.json").await.json();
        let (page, tool) = (&pages[0]["id"], &pages[0]["tools"][0]["id"]);
        for (kind, id) in [("page", page), ("tool", tool)] {
            let id = id.as_str().expect("an id");
            teacher.get(&format!("/portal/site/field-trip/{kind}/{id}")).await.expect(StatusCode::FOUND);
            let path = format!("/portal/site/biology-101/{kind}/{id}");
            teacher.get(&path).await.expect(StatusCode::NOT_FOUND);
            let path = format!("/portal/site/history-210/{kind}/{id}");
            teacher.get(&path).await.expect(StatusCode::FORBIDDEN);
        }
    }

    async fn the_address_of_a_user_leads_to_the_user(app: TestApp) {
        let student = app.user("student1").await;
        let user = student.get("/direct/user/current.json").await.json();
        let url = local(user["url"].as_str().expect("an address"));
        assert!(url.starts_with("/access/user/"), "{url}");
        let (_, answer) = follow(&student, &url).await;
        answer.expect(StatusCode::OK);
        app.user("student2").await.get(&url).await.expect(StatusCode::FORBIDDEN);
        app.anonymous().get(&url).await.expect(StatusCode::UNAUTHORIZED);
    }
}
