//! The links of pages: none of them leads its reader to a refusal.

use std::collections::{BTreeSet, VecDeque};

use http::StatusCode;
use http::header::ACCEPT;
use tests::{Client, TestApp, above_storage};

/// The most pages of each crawl.
const MOST: usize = 300;

/// The links that may lead to nothing: the list of users, which has a rule of its own that descriptions do not know,
/// and the value of a setting, which other addresses begin with.
const EXCEPTIONS: [&str; 5] = [
    "/direct/user.json",
    "/direct/user.xml",
    "/direct/user.html",
    "/direct/user.csv",
    "/access",
];

/// The addresses of this service that a page links to, without fragments.
fn links(page: &str) -> Vec<String> {
    let values = page.split("href=\"").skip(1);
    values
        .filter_map(|it| it.split('"').next())
        .map(|whole| {
            let plain = whole
                .replace("&#38;", "&")
                .replace("&#39;", "'")
                .replace("&#34;", "\"");
            let plain = plain.replace("http://127.0.0.1:8080", "");
            plain.split('#').next().unwrap_or_default().to_owned()
        })
        .filter(|it| it.starts_with('/') && !EXCEPTIONS.contains(&it.as_str()))
        .collect()
}

/// Follows the links from the start page on. Returns how many were followed, and those that lead to an error, each with
/// the page that it stands on.
async fn crawl(client: &Client) -> (usize, Vec<String>) {
    let start = ["/direct/describe.html", "/portal", "/direct/site.html"];
    let mut waiting: VecDeque<_> = start
        .iter()
        .map(|it| ((*it).to_owned(), String::new()))
        .collect();
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    while let Some((path, origin)) = waiting.pop_front() {
        if seen.len() >= MOST || !seen.insert(path.clone()) {
            continue;
        }
        let answer = client.get(&path).await;
        let is_start = origin.is_empty();
        if (answer.status.is_client_error() || answer.status.is_server_error()) && !is_start {
            wrong.push(format!("{} {path} on {origin}", answer.status.as_u16()));
        }
        let is_page = answer
            .header("content-type")
            .is_some_and(|it| it.starts_with("text/html"));
        if is_page && answer.status.is_success() {
            waiting.extend(
                links(answer.text())
                    .into_iter()
                    .map(|it| (it, path.clone())),
            );
        }
    }
    (seen.len(), wrong)
}

above_storage! {
    async fn a_page_leads_to_the_lists_of_what_belongs_to_its_entity(app: TestApp) {
        let client = app.user("student1").await.with_header(ACCEPT, "text/html");
        let forums = client.get("/direct/forums.json?siteId=biology-101").await.json();
        let forum = forums["forums_collection"][0]["entityId"].as_str().expect("a forum").to_owned();
        let page = client.get(&format!("/direct/forums/{forum}.html")).await;
        let list = format!("/direct/forums-topic.html?forum={forum}&siteId=biology-101");
        assert!(page.expect(StatusCode::OK).text().contains(&format!("href=\"{}\"", list.replace('&', "&#38;"))), "{}", page.text());
        let topics = client.get(&list).await;
        topics.expect(StatusCode::OK);
        let topic = client.get(&format!("/direct/forums-topic.json?forum={forum}")).await.json();
        let topic = topic["forums-topic_collection"][0]["entityId"].as_str().expect("a topic").to_owned();
        assert!(topics.text().contains(&format!("href=\"/direct/forums-topic/{topic}.html\"")));
        let page = client.get(&format!("/direct/forums-topic/{topic}.html")).await;
        let list = format!("/direct/forums-message.html?topic={topic}&siteId=biology-101");
        assert!(page.expect(StatusCode::OK).text().contains(&format!("href=\"{}\"", list.replace('&', "&#38;"))), "{}", page.text());
        let messages = client.get(&list).await;
        let form = format!("/direct/forums-message/new.html?topic={topic}&#38;siteId=biology-101");
        assert!(messages.expect(StatusCode::OK).text().contains(&form), "{}", messages.text());
        let form = client.get(&form.replace("&#38;", "&")).await;
        assert!(form.expect(StatusCode::OK).text().contains(&format!("value=\"{topic}\"")), "{}", form.text());
    }

    async fn no_page_links_to_a_refusal(app: TestApp) {
        let html = |it: Client| it.with_header(ACCEPT, "text/html");
        let people = [
            ("stranger", html(app.anonymous()), 20),
            ("student1", html(app.user("student1").await), 100),
            ("instructor1", html(app.user("instructor1").await), 100),
        ];
        let mut all = Vec::new();
        for (name, client, least) in people {
            let (count, wrong) = crawl(&client).await;
            assert!(count >= least, "{name}: {count}");
            all.extend(wrong.into_iter().map(|it| format!("{name}: {it}")));
        }
        assert!(all.is_empty(), "{}", all.join("\n"));
    }
}
