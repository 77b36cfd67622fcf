//! Actions that list can be asked what the list of their type can be asked.

use http::StatusCode;
use serde_json::{Value, json};
use tests::{TestApp, both};

use super::{created, follow, items, link, list, read, text};

fn names(items: &[Value]) -> Vec<String> {
    items.iter().map(|it| text(it, "entityId")).collect()
}

/// The query behind `path`, with `more`.
fn with(path: &str, more: &str) -> String {
    let separator = if path.contains('?') { '&' } else { '?' };
    format!("{path}{separator}{more}")
}

both! {
    async fn links_keep_the_format_and_lead_to_other_parts(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for extension in ["", ".json", ".xml", ".csv"] {
            let path = format!("/direct/announcement{extension}");
            for (query, prev, next) in [
                ("_limit=2", None, Some("_start=2&_limit=2")),
                ("_limit=2&_start=1", Some("_start=0&_limit=1"), Some("_start=3&_limit=2")),
                ("_limit=2&_start=3", Some("_start=1&_limit=2"), Some("_start=5&_limit=2")),
                ("_perpage=2&_page=2", Some("_start=0&_limit=2"), Some("_start=4&_limit=2")),
            ] {
                let answer = teacher.get(&format!("{path}?{query}")).await;
                answer.expect(StatusCode::OK);
                let expected = |it: Option<&str>| it.map(|it| format!("{path}?{it}"));
                assert_eq!(link(&answer, "prev"), expected(prev), "{path} {query}");
                assert_eq!(link(&answer, "next"), expected(next), "{path} {query}");
            }
            let walk = teacher.get(&format!("{path}?_limit=2&_cursor=")).await;
            let next = link(&walk, "next").expect("a next part");
            assert!(next.starts_with(&format!("{path}?_cursor=")), "{next}");
        }
    }

    async fn an_action_finds_what_the_list_finds_when_it_is_narrowed_to_the_same(app: TestApp) {
        for user in ["admin", "instructor1", "ta1", "student1"] {
            let client = app.user(user).await;
            for (prefix, action, whole, queries) in [
                (
                    "announcement",
                    "/direct/announcement/site/biology-101.json",
                    "/direct/announcement.json?siteId=biology-101",
                    &[
                        "", "title[like]=QUIZ", "_search=the", "_order=title", "_order=createdOn", "_order=createdOn_desc",
                        "draft=false&_order=modifiedOn_desc", "createdOn[lt]=2100-01-01T00:00:00Z", "_fields=title",
                        "siteId[in]=biology-101,history-210", "_expand=siteId&_fields=title",
                    ][..],
                ),
                (
                    "membership",
                    "/direct/membership/site/biology-101.json",
                    "/direct/membership.json?siteId=biology-101",
                    &[
                        "", "memberRole=Student", "role=Instructor", "memberRole[ne]=Student&_order=userSortName_desc",
                        "_order=memberRole,userSortName", "active=true", "_fields=memberRole",
                    ],
                ),
                (
                    "membership",
                    "/direct/site/biology-101/memberships.json",
                    "/direct/membership.json?siteId=biology-101",
                    &["memberRole=Student&_order=userSortName_desc"],
                ),
            ] {
                for query in queries {
                    let (of_action, of_list) = (with(action, query), with(whole, query));
                    if client.get(&of_list).await.status == StatusCode::FORBIDDEN {
                        client.get(&of_action).await.expect(StatusCode::FORBIDDEN);
                        continue;
                    }
                    let expected = list(&client, &of_list, prefix).await;
                    assert_eq!(list(&client, &of_action, prefix).await, expected, "{user} {of_action}");
                    for walk in ["_limit=2", "_limit=3&_cursor="] {
                        let found = follow(&client, &with(&of_action, walk), prefix).await;
                        assert_eq!(names(&found), names(&expected), "{user} {of_action} {walk}");
                    }
                    let counted = client.get(&with(&of_action, "_limit=1&_count=exact")).await;
                    let count = counted.header("X-Total-Count").expect("a count");
                    assert_eq!(count, expected.len().to_string(), "{user} {of_action}");
                    assert_eq!(link(&counted, "last").is_some(), !expected.is_empty());
                }
            }
        }
    }

    async fn what_an_action_does_not_know_is_named(app: TestApp) {
        let admin = app.user("admin").await;
        for (path, name) in [
            ("announcement/site/biology-101.json?nonsense=1", "nonsense"),
            ("announcement/user.json?siteTitle[like]=x", "siteTitle[like]"),
            ("announcement/motd.json?_limit=x", "_limit"),
            ("announcement/site/biology-101.json?_order=siteTitle", "_order"),
            ("announcement/site/biology-101.json?draft=perhaps", "draft"),
            ("announcement/site/biology-101.json?n=1&n=2", "n"),
            ("membership/site/biology-101.json?memberRole[gt]=A&nonsense", "nonsense"),
            ("membership/site/biology-101.json?siteId=history-210", "siteId"),
            ("membership/site/biology-101.json?locationReference=/site/history-210", "locationReference"),
            ("site/biology-101/memberships.json?nonsense=1", "nonsense"),
        ] {
            let answer = admin.get(&format!("/direct/{path}")).await;
            answer.expect(StatusCode::BAD_REQUEST);
            assert_eq!(answer.json()["error"]["fields"][0]["name"], name, "{path}");
        }
        let elsewhere = "/direct/announcement/site/biology-101.json?siteId=history-210";
        assert!(list(&admin, elsewhere, "announcement").await.is_empty());
        let student = app.user("student1").await;
        let closed = "/direct/announcement/site/history-210.json?nonsense=1";
        student.get(closed).await.expect(StatusCode::FORBIDDEN);
    }

    async fn the_numbers_of_existing_clients_and_the_parameters_of_lists_go_together(app: TestApp) {
        let student = app.user("student1").await;
        let ask = async |path: &str, query: &str| {
            let items = list(&student, &format!("/direct/announcement/{path}.json?{query}"), "announcement").await;
            items.iter().map(|it| text(it, "title")).collect::<Vec<_>>()
        };
        let all = ask("site/biology-101", "").await;
        let mut oldest_first = all.clone();
        oldest_first.reverse();
        assert_eq!(ask("site/biology-101", "a=1").await, oldest_first);
        assert_eq!(ask("site/biology-101", "a=1&_cursor=").await, oldest_first);
        assert_eq!(ask("site/biology-101", "a=1&_search=e").await.first(), oldest_first.first());
        assert_eq!(ask("site/biology-101", "a=1&_order=createdOn_desc").await, all);
        assert_eq!(ask("site/biology-101", "a=1&n=2").await, oldest_first[..2]);
        assert_eq!(ask("site/biology-101", "n=2&_limit=1").await, all[..1]);
        assert_eq!(ask("site/biology-101", "n=2&_limit=1&_start=1").await, all[1..2]);
        assert_eq!(ask("site/biology-101", "n=2&_limit=2&_start=1").await, all[1..2]);
        assert!(ask("site/biology-101", "n=2&_limit=1&_start=2").await.is_empty());
        assert_eq!(ask("site/biology-101", "d=1&_order=title").await, ask("site/biology-101", "d=1").await);
        let mut by_title = ask("user", "").await;
        by_title.sort_unstable();
        assert_eq!(ask("user", "_order=title").await, by_title);
        let of_site = ask("user", "siteId=biology-101").await;
        assert_eq!(of_site, all);
        let stranger = app.anonymous();
        let motd = "/direct/announcement/motd.json";
        let whole = names(&list(&stranger, motd, "announcement").await);
        assert_eq!(names(&list(&stranger, &format!("{motd}?title[ne]=x&_count=exact"), "announcement").await), whole);
    }

    async fn all_that_tells_of_a_list_that_is_cut_agrees(app: TestApp) {
        let student = app.user("student1").await;
        let path = "/direct/announcement/site/biology-101";
        let all = list(&student, &format!("{path}.json"), "announcement").await;
        assert!(all.len() > 3, "there is something to cut");
        let first = student.get(&format!("{path}.json?n=3&_limit=2&_count=exact")).await;
        assert_eq!(first.header("x-total-count"), Some("3"));
        assert_eq!(link(&first, "last"), Some(format!("{path}.json?n=3&_count=exact&_start=2&_limit=2")));
        for walk in ["_limit=2", "_limit=2&_cursor=", "_limit=1", "_limit=9&_cursor="] {
            let walked = follow(&student, &format!("{path}.json?n=3&{walk}"), "announcement").await;
            assert_eq!(names(&walked), names(&all)[..3], "{walk}");
        }
        let page = student.get(&format!("{path}.html?n=3")).await;
        assert!(page.text().contains("3 in all"), "{}", page.text());
        let rows = student.get(&format!("{path}.csv?n=3&_limit=2&_start=2")).await;
        assert_eq!(rows.text().matches("/direct/announcement/biology-101:main:").count(), 1, "{}", rows.text());
        let feed = student.get(&format!("{path}.atom?n=3&_limit=2")).await;
        assert_eq!(feed.text().matches("<entry>").count(), 2);
        assert!(feed.text().contains("rel=\"next\""), "{}", feed.text());
    }

    async fn a_feed_says_where_all_its_addresses_lead(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let body = "<p><a href=\"/rel\">x</a><img src=\"pic.png\"></p>";
        let news = json!({"siteId": "biology-101", "title": "Linked", "body": body});
        created(&teacher.post("/direct/announcement.json", &news).await, "announcement");
        for format in ["atom", "rss"] {
            let feed = student.get(&format!("/direct/announcement/site/biology-101.{format}")).await;
            let feed = feed_rs::parser::parse(&*feed.expect(StatusCode::OK).body).expect("a feed");
            assert_eq!(feed.title.expect("a title").content, "Announcements: site biology-101");
            let entry = feed.entries.into_iter().find(|it| it.title.as_ref().is_some_and(|it| it.content == "Linked"));
            let entry = entry.expect("the news");
            let text = entry.content.and_then(|it| it.body).or(entry.summary.map(|it| it.content)).expect("a body");
            for address in ["\"http://127.0.0.1:8080/rel\"", "\"http://127.0.0.1:8080/direct/announcement/pic.png\""] {
                assert!(text.contains(address), "{address} in {text}");
            }
        }
    }

    async fn a_page_of_a_list_leads_to_feeds_of_all_of_it(app: TestApp) {
        let student = app.user("student1").await;
        let path = "/direct/announcement/site/biology-101";
        for part in ["_start=2&_limit=2", "_page=2&_perpage=2", "_cursor=&_limit=1"] {
            let page = student.get(&format!("{path}.html?draft=false&{part}")).await;
            let text = page.expect(StatusCode::OK).text().replace("&#38;", "&");
            for format in ["atom", "rss"] {
                let address = format!("href=\"http://127.0.0.1:8080{path}.{format}?draft=false\"");
                assert_eq!(text.matches(&address).count(), 2, "{address} in {text}");
            }
            // What is data and no feed is the same part of the list.
            assert_eq!(text.matches(&format!("{path}.json?draft=false&{part}\"")).count(), 2, "{text}");
        }
        // Such a page says where its walk goes on.
        let walked = student.get(&format!("{path}.html?_cursor=&_limit=2&title=")).await;
        walked.expect(StatusCode::SEE_OTHER);
        let tidy = walked.header("location").expect("a page").replace("http://127.0.0.1:8080", "");
        assert_eq!(tidy, format!("{path}.html?_cursor=&_limit=2"));
        let page = student.get(&tidy).await;
        assert!(page.expect(StatusCode::OK).text().contains("_cursor="), "{}", page.text());
    }

    async fn a_page_of_an_action_can_be_searched_and_ordered(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let page = teacher.get("/direct/announcement/site/biology-101.html?_search=quiz").await;
        page.expect(StatusCode::OK);
        for expected in [
            "action=\"http://127.0.0.1:8080/direct/announcement/site/biology-101.html\" role=\"search\"",
            "/direct/announcement/site/biology-101.html?_search=quiz&#38;_order=title",
        ] {
            assert!(page.text().contains(expected), "{expected} in {}", page.text());
        }
    }

    async fn a_private_feed_takes_what_its_action_takes(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let feed = |query: &str| json!({"path": "/announcement/site/biology-101", "query": query, "formats": ["atom"]});
        let refused = teacher.post("/direct/feed.json", &feed("nonsense=1")).await;
        refused.expect(StatusCode::BAD_REQUEST);
        assert_eq!(refused.json()["error"]["fields"][0]["name"], "query");
        let answer = teacher.post("/direct/feed.json", &feed("title[like]=quiz&d=9999")).await;
        created(&answer, "feed");
        let address = text(&answer.json()["addresses"], "atom").replace("http://127.0.0.1:8080", "");
        let read = app.anonymous().get(&address).await;
        read.expect(StatusCode::OK);
        assert_eq!(read.text().matches("<entry>").count(), 1, "{}", read.text());
    }

    async fn a_description_says_which_actions_can_be_searched(app: TestApp) {
        let described = read(&app.anonymous(), "/direct/announcement/describe.json").await;
        let actions = described["actions"].as_array().expect("actions");
        let searched: Vec<_> = actions.iter().filter(|it| it["searched"] == true).map(|it| text(it, "name")).collect();
        assert_eq!(searched, ["site", "user", "motd"]);
        let document = read(&app.anonymous(), "/api/openapi.json").await;
        let paths = document["paths"].as_object().expect("paths");
        let found = paths.iter().find(|it| it.0.starts_with("/direct/announcement/site/{"));
        let parameters = &found.expect("the action").1["get"]["parameters"];
        let has = |name: &str| parameters.as_array().is_some_and(|all| all.iter().filter(|it| it["name"] == name).count() == 1);
        for name in ["n", "_limit", "_order", "title[like]", "draft", "If-None-Match"] {
            assert!(has(name), "{name} in {parameters}");
        }
        let page = app.user("student1").await.get("/direct/announcement/site/biology-101.json?_limit=2").await;
        assert_eq!(items(&page, "announcement").len(), 2);
    }
}
