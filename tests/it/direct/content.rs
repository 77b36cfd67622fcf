//! `/direct/content` and `/access/content`

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{created, list, read, text};

const SITE: &str = "/direct/content/site/biology-101";
const FOLDER: &str = "/access/content/group/biology-101/";

async fn of_site(client: &Client) -> Vec<Value> {
    list(client, &format!("{SITE}.json?_limit=0"), "content").await
}

fn named<'a>(items: &'a [Value], title: &str) -> &'a Value {
    let found = items.iter().find(|it| it["title"] == title);
    found.unwrap_or_else(|| panic!("no `{title}` among {items:?}"))
}

fn has(items: &[Value], title: &str) -> bool {
    items.iter().any(|it| it["title"] == title)
}

/// Creates a folder in the course, in this folder.
async fn folder(client: &Client, title: &str, within: Option<&str>) -> String {
    let body = json!({"siteId": "biology-101", "title": title, "folderId": within});
    created(&client.post("/direct/content", &body).await, "content")
}

async fn link(client: &Client, title: &str, within: &str) -> String {
    let body = json!({
        "siteId": "biology-101", "title": title, "folderId": within, "type": "text/url",
        "webLinkUrl": "https://example.org/x",
    });
    created(&client.post("/direct/content", &body).await, "content")
}

/// The path of the item within the service.
async fn path(client: &Client, id: &str) -> String {
    text(
        &read(client, &format!("/direct/content/{id}")).await,
        "resourceId",
    )
}

both! {
    async fn the_list_of_a_site_tells_where_each_item_is(app: TestApp) {
        for eid in ["student1", "instructor1"] {
            let client = app.user(eid).await;
            let items = of_site(&client).await;
            for it in &items {
                let digits = text(it, "modifiedDate");
                assert!(digits.len() == 17 && digits.bytes().all(|it| it.is_ascii_digit()), "{digits}");
                let url = text(it, "url");
                let below = url.strip_prefix("http://127.0.0.1:8080/access/content/group/biology-101/");
                assert!(below.is_some(), "{url}");
                assert_eq!(url.ends_with('/'), it["type"] == "collection");
                assert_eq!(it["quota"].is_string(), it["type"] == "collection");
            }
            let root = &items[0];
            assert_eq!(root["container"], "/content/group/");
            assert_eq!(root["resourceId"], "/group/biology-101/");
            assert!(text(root, "usage").parse::<u64>().is_ok() && text(root, "quota").parse::<u64>().is_ok());
            let link = named(&items, "Tree of Life");
            assert_eq!((&link["type"], &link["webLinkUrl"]), (&json!("text/url"), &json!("https://www.onezoom.org/")));
            let shown = items.iter().filter(|it| it["container"] == "/content/group/biology-101/").count();
            assert_eq!(root["numChildren"], shown, "{eid}");
        }
    }

    async fn a_folder_is_a_tree(app: TestApp) {
        const TREE: &str = "/direct/content/resources/group/biology-101";
        let teacher = app.user("instructor1").await;
        let week = text(named(&of_site(&teacher).await, "Week 1"), "id");
        let inner = folder(&teacher, "Slides & more", Some(&week)).await;
        link(&teacher, "Deep", &inner).await;
        let tree = |query: &'static str| {
            let teacher = &teacher;
            async move { read(teacher, &format!("{TREE}.json{query}")).await["content_collection"][0].take() }
        };
        let (one, all, none) = (tree("").await, tree("?depth=all").await, tree("?depth=0").await);
        let count = |node: &Value| node["resourceChildren"].as_array().expect("a list").len();
        assert_eq!(count(&none), 0);
        let children = one["resourceChildren"].as_array().expect("a list");
        assert!(children.iter().all(|it| count(it) == 0) && children.len() == count(&all));
        let week = all["resourceChildren"].as_array().expect("a list").iter().find(|it| it["name"] == "Week 1");
        let slides = week.expect("the folder")["resourceChildren"].as_array().expect("a list");
        let slides = slides.iter().find(|it| it["name"] == "Slides & more").expect("the folder");
        assert_eq!(slides["resourceChildren"][0]["name"], "Deep");
        let part = read(&teacher, &format!("{TREE}/Week%201/Slides%20&%20more.json")).await;
        assert_eq!(part["content_collection"][0]["resourceChildren"][0]["name"], "Deep");
        assert_eq!(count(&tree("?depth=all&timestamp=29990101000000000").await), 0);
        assert_eq!(tree("?depth=all&timestamp=19990101000000000").await, all);
        for path in [
            "/group/none", "/group/biology-101/none", "/group/biology-101/Tree%20of%20Life", "/user/x", "/attachment/biology-101",
            "/group/biology-101?depth=some", "/group/biology-101?depth=-1", "/group/biology-101?timestamp=1",
        ] {
            let path = format!("/direct/content/resources{path}");
            teacher.get(&path).await.expect(StatusCode::BAD_REQUEST);
        }
    }

    async fn t3_what_is_closed_is_nowhere_for_those_who_may_not_see_it(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let at = |days: i64| app.service().now().timestamp_millis() + days * 86_400_000;
        let mut ids = Vec::new();
        for (title, closed) in [
            ("hide", json!({"hidden": true})),
            ("later", json!({"releaseDate": at(1)})),
            ("before", json!({"retractDate": at(-1)})),
        ] {
            let outer = folder(&teacher, title, None).await;
            let inner = folder(&teacher, &format!("in-{title}"), Some(&outer)).await;
            ids.push(link(&teacher, &format!("CANARY-{title}"), &inner).await);
            ids.push(inner);
            teacher.put(&format!("/direct/content/{outer}"), &closed).await.expect(StatusCode::NO_CONTENT);
            // What comes into a closed folder is closed too.
            ids.push(link(&teacher, &format!("CANARY-new-{title}"), &outer).await);
            ids.push(outer);
        }
        let outputs = [
            format!("{SITE}.json"), format!("{SITE}.html"), "/direct/content.json?siteId=biology-101".to_owned(),
            "/direct/content.json?_search=CANARY".to_owned(), "/direct/content.atom?siteId=biology-101".to_owned(),
            "/direct/content/resources/group/biology-101.json?depth=all".to_owned(), FOLDER.to_owned(),
            "/direct/content/user/me.json".to_owned(),
        ];
        for (eid, sees) in [("student1", false), ("ta1", true), ("instructor1", true)] {
            let client = app.user(eid).await;
            let expected = if sees { StatusCode::OK } else { StatusCode::NOT_FOUND };
            for path in &outputs {
                let answer = client.get(path).await;
                let answer = answer.expect(StatusCode::OK).text();
                let shown = answer.contains("CANARY") || answer.contains("in-hide") || answer.contains("later");
                assert!(sees || !shown, "{eid} {path}");
            }
            for id in &ids {
                client.get(&format!("/direct/content/{id}.json")).await.expect(expected);
            }
            let canary = "/access/content/group/biology-101/hide/in-hide/CANARY-hide";
            let expected = if sees { StatusCode::FOUND } else { StatusCode::NOT_FOUND };
            client.get(canary).await.expect(expected);
            let html = "/direct/content/htmlForRef.json?ref=/content/group/biology-101/hide/in-hide/CANARY-hide";
            let expected = if sees { StatusCode::OK } else { StatusCode::NOT_FOUND };
            client.get(html).await.expect(expected);
            let total = client.get(&format!("{SITE}.json?_count=true")).await;
            let total = total.header("X-Total-Count").map(ToOwned::to_owned);
            if let Some(total) = total {
                assert_eq!(total, of_site(&client).await.len().to_string(), "{eid}");
            }
        }
        // What is opened again is there again, with everything in it.
        let hide = &ids[3];
        teacher.put(&format!("/direct/content/{hide}"), &json!({"hidden": false})).await.expect(StatusCode::NO_CONTENT);
        let student = app.user("student1").await;
        assert!(has(&of_site(&student).await, "CANARY-hide"));
    }

    async fn a_folder_is_a_page_with_relative_links(app: TestApp) {
        let student = app.user("student1").await;
        let page = student.get(FOLDER).await;
        let page = page.expect(StatusCode::OK).text();
        assert!(page.contains("href=\"./Week%201/\"") && page.contains("href=\"./Tree%20of%20Life\""), "{page}");
        assert!(!page.contains("Solutions"));
        let without = student.get(FOLDER.trim_end_matches('/')).await;
        assert_eq!(without.expect(StatusCode::FOUND).header("Location"), Some(FOLDER));
        let link = student.get("/access/content/group/biology-101/Tree%20of%20Life").await;
        assert_eq!(link.expect(StatusCode::FOUND).header("Location"), Some("https://www.onezoom.org/"));
        student.get("/access/content/group/biology-101/none").await.expect(StatusCode::NOT_FOUND);
        let sent = student.post(FOLDER, &json!({})).await;
        sent.expect(StatusCode::METHOD_NOT_ALLOWED);
        for path in ["group/a/../b", "group/a/%2e%2e/b", "group/a/x%00", "group/a/b%2Fc", "group//a"] {
            student.get(&format!("/access/content/{path}")).await.expect(StatusCode::BAD_REQUEST);
        }
        let html = read(&student, "/direct/content/htmlForRef.json?ref=/content/group/biology-101/Tree%20of%20Life").await;
        assert!(html.as_str().is_some_and(|it| it.starts_with("<a href=")), "{html}");
        student.get("/direct/content/htmlForRef.json").await.expect(StatusCode::BAD_REQUEST);
    }

    async fn what_is_moved_or_renamed_takes_along_what_is_in_it(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let [a, b] = [folder(&teacher, "A", None).await, folder(&teacher, "B", None).await];
        let inner = folder(&teacher, "inner", Some(&a)).await;
        let leaf = link(&teacher, "leaf", &inner).await;
        let action = |id: &str, name: &str| format!("/direct/content/{id}/{name}");
        let moved = teacher.post(&action(&inner, "move"), &json!({"folderId": b, "name": "in n\u{e9}r"})).await;
        moved.expect(StatusCode::OK);
        assert_eq!(path(&teacher, &leaf).await, "/group/biology-101/B/in n\u{e9}r/leaf");
        // The same name in another form of Unicode is the same name.
        let body = json!({"siteId": "biology-101", "folderId": b, "title": "in ne\u{301}r"});
        teacher.post("/direct/content", &body).await.expect(StatusCode::CONFLICT);
        for (id, body, status) in [
            (&b, json!({"folderId": inner}), StatusCode::BAD_REQUEST),
            (&b, json!({"folderId": b}), StatusCode::BAD_REQUEST),
            (&b, json!({"folderId": leaf}), StatusCode::BAD_REQUEST),
            (&b, json!({"folderId": "none"}), StatusCode::BAD_REQUEST),
            (&b, json!({"name": "A"}), StatusCode::CONFLICT),
            (&b, json!({"name": "../x"}), StatusCode::BAD_REQUEST),
            (&b, json!({"name": "x".repeat(256)}), StatusCode::BAD_REQUEST),
            (&b, json!({"name": 7}), StatusCode::BAD_REQUEST),
            (&b, json!({}), StatusCode::BAD_REQUEST),
            (&b, json!({"name": "B"}), StatusCode::OK),
        ] {
            let answer = teacher.post(&action(id, "move"), &body).await;
            assert_eq!(answer.status, status, "{body}: {}", answer.text());
        }
        let copied = teacher.post(&action(&b, "copy"), &json!({"folderId": a, "name": "C"})).await;
        let copy = copied.json();
        assert_eq!((&copy["resourceId"], &copy["numChildren"]), (&json!("/group/biology-101/A/C/"), &json!(1)), "{copy}");
        let student = app.user("student1").await;
        let all = of_site(&student).await;
        assert!(all.iter().any(|it| it["resourceId"] == "/group/biology-101/A/C/in n\u{e9}r/leaf"));
        teacher.post(&action(&a, "copy"), &json!({"folderId": text(&copy, "id")})).await.expect(StatusCode::BAD_REQUEST);
        teacher.post(&action(&b, "copy"), &json!({"folderId": a, "name": "C"})).await.expect(StatusCode::CONFLICT);
        teacher.delete(&format!("/direct/content/{a}")).await.expect(StatusCode::NO_CONTENT);
        let left = of_site(&teacher).await;
        assert!(!left.iter().any(|it| text(it, "resourceId").contains("/A/")));
        assert!(has(&left, "leaf"));
        let root = text(&left[0], "id");
        teacher.delete(&format!("/direct/content/{root}")).await.expect(StatusCode::CONFLICT);
        teacher.post(&action(&root, "move"), &json!({"name": "x"})).await.expect(StatusCode::CONFLICT);
    }

    async fn dos_names_and_depths_have_limits(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (title, name) in [
            ("../../etc", ".._.._etc"), ("con", "con"), ("%2e%2e", "%2e%2e"), ("\u{1d11e}.pdf", "\u{1d11e}.pdf"), ("a;b", "a_b"),
            ("<b>&\"'", "<b>&\"'"), ("x.json", "x.json"), ("a:b", "a:b"),
        ] {
            let id = folder(&teacher, title, None).await;
            assert_eq!(path(&teacher, &id).await, format!("/group/biology-101/{name}/"));
            let url = text(&read(&teacher, &format!("/direct/content/{id}")).await, "url");
            let below = url.strip_prefix("http://127.0.0.1:8080").expect("our address");
            teacher.get(below).await.expect(StatusCode::OK);
        }
        for title in ["..", ".", " "] {
            let body = json!({"siteId": "biology-101", "title": title});
            teacher.post("/direct/content", &body).await.expect(StatusCode::BAD_REQUEST);
        }
        let mut within = folder(&teacher, "deep", None).await;
        let deep = within.clone();
        let mut depth = 1;
        let status = loop {
            let body = json!({"siteId": "biology-101", "title": "d", "folderId": within});
            let answer = teacher.post("/direct/content", &body).await;
            if answer.status != StatusCode::CREATED {
                break answer.status;
            }
            within = created(&answer, "content");
            depth += 1;
        };
        assert_eq!((depth, status), (12, StatusCode::CONFLICT));
        let path = path(&teacher, &within).await;
        teacher.get(&format!("/access/content{path}")).await.expect(StatusCode::OK);
        teacher.get(&format!("/direct/content/resources{}", path.trim_end_matches('/'))).await.expect(StatusCode::OK);
        let other = folder(&teacher, "other", None).await;
        let sunk = teacher.post(&format!("/direct/content/{deep}/move"), &json!({"folderId": other})).await;
        sunk.expect(StatusCode::CONFLICT);
        let long = "x".repeat(255);
        let mut within = other;
        let status = loop {
            let body = json!({"siteId": "biology-101", "title": long, "folderId": within});
            let answer = teacher.post("/direct/content", &body).await;
            if answer.status != StatusCode::CREATED {
                break answer.status;
            }
            within = created(&answer, "content");
        };
        assert_eq!(status, StatusCode::CONFLICT);
    }

    async fn hostile_items_are_refused_by_name(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let history = text(&list(&app.user("instructor2").await, "/direct/content/my.json", "content").await[0], "id");
        for (name, value) in [
            ("type", json!("application/pdf")),
            ("folderId", json!("none")), ("folderId", json!(history)),
            ("webLinkUrl", json!("https://example.org")), ("webLinkUrl", json!("javascript:alert(1)")),
        ] {
            let mut hostile = json!({"siteId": "biology-101", "title": "t"});
            hostile[name] = value.clone();
            let answer = teacher.post("/direct/content", &hostile).await;
            answer.expect(StatusCode::BAD_REQUEST);
            let told = answer.json()["error"]["fields"][0]["name"].take();
            assert_eq!(told, name, "{value}: {}", answer.text());
        }
        for url in ["javascript:alert(1)", "ftp://x", "/x", ""] {
            let body = json!({"siteId": "biology-101", "title": "t", "type": "text/url", "webLinkUrl": url});
            teacher.post("/direct/content", &body).await.expect(StatusCode::BAD_REQUEST);
        }
    }
}
