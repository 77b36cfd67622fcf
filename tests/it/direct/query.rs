//! The query parameters of lists of every type, and how the parts of a list hang together.

use http::StatusCode;
use http::header::IF_NONE_MATCH;
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, both};

use super::{created, follow, items, link, list, read, text};

const NEWS: &str = "/direct/announcement.json";

fn values(items: &[Value], key: &str) -> Vec<String> {
    items.iter().map(|it| text(it, key)).collect()
}

async fn announce(author: &Client, title: &str) -> String {
    let fields = json!({"siteId": "biology-101", "title": title, "body": "<p>Text</p>"});
    created(&author.post(NEWS, &fields).await, "announcement")
}

both! {
    async fn what_is_wrong_with_a_question_is_named(app: TestApp) {
        let admin = app.user("admin").await;
        for (query, name, word) in [
            ("announcement.json?nonsense=1", "nonsense", "parameter"),
            ("announcement.json?siteTitle[like]=x", "siteTitle[like]", "parameter"),
            ("announcement.json?title[near]=x", "title[near]", "like"),
            ("announcement.json?title%5Bnear%5D=x", "title[near]", "like"),
            ("announcement.json?createdOn[gt]=tomorrow", "createdOn[gt]", "instant"),
            ("announcement.json?createdOn[like]=2026", "createdOn[like]", "gt"),
            ("announcement.json?draft[gt]=true", "draft[gt]", "null"),
            ("announcement.json?draft=perhaps", "draft", "true or false"),
            ("announcement.json?body[gt]=a", "body[gt]", "like"),
            ("announcement.json?title[ne]=a&title[ne]=b", "title[ne]", "more than once"),
            ("announcement.json?releaseDate[null]=2", "releaseDate[null]", "true or false"),
            ("announcement.json?_order=siteTitle", "_order", "siteTitle"),
            ("announcement.json?_fields=title,nonsense", "_fields", "nonsense"),
            ("announcement.json?_expand=title", "_expand", "title"),
            ("announcement.json?_count=some", "_count", "exact"),
            ("announcement.json?_cursor=x", "_cursor", "gave out"),
            ("announcement.json?_cursor=&_page=1", "_cursor", "begin"),
            ("site.json?pubView[lt]=true", "pubView[lt]", "null"),
            ("user.json?firstName[in]=a&firstName[in]=b", "firstName[in]", "more than once"),
            ("membership.json?active[like]=t", "active[like]", "null"),
            ("session.json?_cursor=", "_cursor", "offered"),
            ("session.json?_search=x", "_search", "nothing"),
            ("site/biology-101.json?_fields=nonsense", "_fields", "nonsense"),
        ] {
            let answer = admin.get(&format!("/direct/{query}")).await;
            answer.expect(StatusCode::BAD_REQUEST);
            let field = answer.json()["error"]["fields"][0].take();
            assert_eq!(field["name"], name, "{query}");
            assert!(text(&field, "message").contains(word), "{query}: {field}");
        }
    }

    async fn every_type_takes_operators(app: TestApp) {
        let admin = app.user("admin").await;
        let all = values(&list(&admin, "/direct/user.json", "user").await, "eid");
        let some = list(&admin, "/direct/user.json?eid[ge]=student1&eid%5Blt%5D=student2", "user").await;
        let expected = all.iter().filter(|it| ("student1".."student2").contains(&it.as_str()));
        let mut found = values(&some, "eid");
        found.sort_unstable();
        let mut expected: Vec<_> = expected.cloned().collect();
        expected.sort_unstable();
        assert_eq!(found, expected);
        assert!(found.len() > 5, "{found:?}");
        let sites = list(&admin, "/direct/site.json?select=any&id[in]=biology-101,nowhere", "site").await;
        assert_eq!(values(&sites, "id"), ["biology-101"]);
        let courses = list(&admin, "/direct/site.json?select=any&type=course", "site").await;
        assert!(!courses.is_empty() && courses.iter().all(|it| it["type"] == "course"));
        let roster = "/direct/membership.json?siteId=biology-101";
        let staff = list(&admin, &format!("{roster}&memberRole[ne]=Student"), "membership").await;
        assert!(!staff.is_empty() && staff.iter().all(|it| it["memberRole"] != "Student"));
        let held = list(&admin, &format!("{NEWS}?releaseDate[null]=false"), "announcement").await;
        assert!(!held.is_empty() && held.iter().all(|it| it["releaseDate"].is_number()));
        let found = list(&admin, &format!("{NEWS}?title[like]=QUIZ&siteId[in]=biology-101"), "announcement").await;
        assert!(!found.is_empty());
        assert!(values(&found, "title").iter().all(|it| it.to_lowercase().contains("quiz")));
    }

    async fn letters_are_found_in_whatever_case(app: TestApp) {
        let author = app.user("instructor1").await;
        let id = announce(&author, "Zusätzliche ÜBUNG: 100%_fertig").await;
        for query in ["_search=übung", "_search=ZUSÄTZLICHE+Übung", "title[like]=100%25_F"] {
            let found = list(&author, &format!("{NEWS}?{query}"), "announcement").await;
            assert_eq!(values(&found, "id"), [id.as_str()], "{query}");
        }
        let found = list(&author, &format!("{NEWS}?title[like]=100__f"), "announcement").await;
        assert!(found.is_empty());
    }

    async fn x44_letters_are_found_with_whatever_accents(app: TestApp) {
        let (author, admin) = (app.user("instructor1").await, app.user("admin").await);
        for (title, words) in [
            ("Jiménez", vec!["jimenez", "JIMENEZ", "jiménez", "jime\u{301}nez", "imén"]),
            ("Jime\u{301}nez", vec!["jimenez", "jiménez", "jime\u{301}nez"]),
            ("Dvořák", vec!["dvorak", "DVOŘÁK"]),
            ("Straße", vec!["strasse", "STRASSE", "straße"]),
            ("Ёлка", vec!["елка", "ЁЛКА"]),
            ("Ngọc", vec!["ngoc"]),
            ("naive", vec!["naïve"]),
        ] {
            let id = announce(&author, &format!("Zqx {title}")).await;
            let body = format!("<p>{title}</p>");
            let change = json!({"body": body});
            author.put(&format!("/direct/announcement/{id}"), &change).await.expect(StatusCode::NO_CONTENT);
            for word in words {
                let word = entity_core::encode_segment(word);
                for query in [format!("_search={word}"), format!("title[like]={word}"), format!("body[like]={word}")] {
                    let found = list(&author, &format!("{NEWS}?{query}"), "announcement").await;
                    assert!(values(&found, "id").contains(&id), "{title}: {query}");
                }
            }
            // Equality is of the text as it is.
            let exact = list(&author, &format!("{NEWS}?title=Zqx%20Jimenez"), "announcement").await;
            assert!(exact.is_empty());
        }
        let user = json!({"eid": "zqx1", "firstName": "José", "lastName": "Jiménez", "password": "lectern-demo-2"});
        created(&admin.post("/direct/user.json", &user).await, "user");
        for query in ["_search=jose+jimenez", "lastName[like]=JIMENEZ", "firstName[like]=jos%C3%A9"] {
            let found = list(&admin, &format!("/direct/user.json?{query}"), "user").await;
            assert!(found.iter().any(|it| it["eid"] == "zqx1"), "{query}");
        }
        // A mark alone is not everywhere.
        let found = list(&admin, "/direct/user.json?_search=%CC%81", "user").await;
        assert!(found.is_empty());
    }

    async fn words_are_looked_for_in_the_text_and_not_in_the_markup(app: TestApp) {
        let author = app.user("instructor1").await;
        let body = "<p>R&amp;D &uuml;ber <em>Oka</em>pi</p><p>next <a href=\"https://example.org/qqq\">there</a></p>";
        let fields = json!({"siteId": "biology-101", "title": "Markup", "body": body});
        let id = created(&author.post(NEWS, &fields).await, "announcement");
        let found = async |query: &str| {
            let found = list(&author, &format!("{NEWS}?{query}&title=Markup"), "announcement").await;
            values(&found, "id") == [id.as_str()]
        };
        for query in [
            "_search=R%26D", "_search=okapi+ÜBER", "body[like]=r%26d+über+OKAPI+next+there", "title[like]=mark",
        ] {
            assert!(found(query).await, "{query}");
        }
        for query in ["em", "amp", "href", "noopener", "qqq", "okapinext", "%3Cp%3E", "uuml"] {
            assert!(!found(&format!("_search={query}")).await, "{query}");
            assert!(!found(&format!("body[like]={query}")).await, "{query}");
        }
        let path = format!("/direct/announcement/{id}");
        author.put(&path, &json!({"body": "<p>zorilla</p>"})).await.expect(StatusCode::NO_CONTENT);
        assert!(found("_search=zorilla").await && !found("_search=okapi").await);
        assert!(found("body=%3Cp%3Ezorilla%3C/p%3E").await, "a comparison is with the HTML");
        let site = author.get("/direct/site.json?description[like]=x").await;
        site.expect(StatusCode::BAD_REQUEST);
    }

    async fn only_chosen_fields_are_shown(app: TestApp) {
        let student = app.user("student1").await;
        let keys = |it: &Value| it.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
        let metadata = ["entityReference", "entityURL", "entityId", "entityTitle"];
        let expected = [&["title", "siteId"][..], &metadata].concat();
        for item in list(&student, &format!("{NEWS}?_fields=siteId,title"), "announcement").await {
            assert_eq!(keys(&item), expected);
        }
        let site = read(&student, "/direct/site/biology-101.json?_fields=").await;
        assert_eq!(keys(&site), metadata);
        let news = "/direct/announcement/site/biology-101.json?_fields=draft";
        assert_eq!(keys(&list(&student, news, "announcement").await[0])[0], "draft");
        let site = student.get("/direct/site/biology-101.xml?_fields=title").await;
        let xml = site.text();
        let document = roxmltree::Document::parse(xml).expect("XML");
        let names = document.root_element().children().filter(roxmltree::Node::is_element);
        let names: Vec<_> = names.map(|it| it.tag_name().name().to_owned()).collect();
        assert_eq!(names, [&["title"][..], &metadata].concat());
    }

    async fn the_count_is_what_paging_finds(app: TestApp) {
        for user in ["admin", "instructor1", "ta1", "student1"] {
            let client = app.user(user).await;
            for (prefix, query) in [
                ("announcement", "title[ne]=x"),
                ("announcement", "siteId=biology-101"),
                ("announcement", "_search=the"),
                ("site", "select=access"),
                ("site", "select=any"),
                ("site", "select=joinable"),
                ("site", "select=pubView"),
                ("site", "select=update"),
                ("membership", "active=true"),
                ("membership", "siteId=biology-101"),
                ("user", "eid[like]=student"),
                ("session", "_=1"),
            ] {
                let path = format!("/direct/{prefix}.json?{query}");
                let answer = client.get(&format!("{path}&_count=exact&_limit=1")).await;
                if answer.status == StatusCode::FORBIDDEN {
                    continue;
                }
                let whole = follow(&client, &format!("{path}&_limit=7"), prefix).await;
                let count = answer.header("X-Total-Count").expect("a count").to_owned();
                assert_eq!(count, whole.len().to_string(), "{user} {path}");
                let last = link(&answer, "last");
                assert_eq!(last.is_some(), !whole.is_empty(), "{user} {path}");
                if let Some(last) = last {
                    let last = items(&client.get(&last).await, prefix);
                    assert_eq!(last[0]["entityReference"], whole[whole.len() - 1]["entityReference"]);
                }
                let uncounted = client.get(&format!("{path}&_count=none")).await;
                assert_eq!(uncounted.header("X-Total-Count"), None);
                assert_eq!(link(&uncounted, "last"), None);
            }
        }
    }

    async fn the_next_part_is_named_as_the_client_began(app: TestApp) {
        let admin = app.user("admin").await;
        let by_start = admin.get("/direct/user.json?eid[ne]=x&_limit=3").await;
        let next = link(&by_start, "next").expect("more");
        assert_eq!(next, "/direct/user.json?eid%5Bne%5D=x&_start=3&_limit=3");
        let by_cursor = admin.get("/direct/user.json?eid[ne]=x&_limit=3&_cursor=").await;
        let next = link(&by_cursor, "next").expect("more");
        assert!(next.starts_with("/direct/user.json?eid%5Bne%5D=x&_cursor="), "{next}");
        let other = next.replace("eid%5Bne%5D=x", "eid%5Bne%5D=y");
        admin.get(&other).await.expect(StatusCode::BAD_REQUEST);
    }

    async fn a_walk_by_cursor_finds_what_paging_by_number_finds(app: TestApp) {
        let admin = app.user("admin").await;
        for (prefix, query) in [
            ("announcement", "_limit=3"),
            ("announcement", "_limit=2&_order=releaseDate_desc,title"),
            ("announcement", "_limit=2&_order=highlight"),
            ("site", "select=any&_limit=1&_order=type,title_desc"),
            ("user", "_limit=4"),
            ("user", "_limit=5&_order=type,firstName_desc"),
            ("membership", "siteId=biology-101&_limit=4"),
            ("membership", "siteId=biology-101&_limit=3&_order=memberRole_desc"),
        ] {
            let path = format!("/direct/{prefix}.json?{query}");
            let by_number = follow(&admin, &path, prefix).await;
            let by_cursor = follow(&admin, &format!("{path}&_cursor="), prefix).await;
            assert!(by_number.len() > 1, "{path}");
            assert_eq!(values(&by_cursor, "entityId"), values(&by_number, "entityId"), "{path}");
        }
    }

    async fn a_walk_neither_leaves_out_nor_repeats_what_stays(app: TestApp) {
        let author = app.user("instructor1").await;
        let mut kept = Vec::new();
        let mut doomed = Vec::new();
        for number in 10..34 {
            let id = announce(&author, &format!("Walk {number}")).await;
            match number % 4 {
                0 => doomed.push(id),
                _ => kept.push(id),
            }
        }
        let mut seen = Vec::new();
        let mut number = 0;
        let first = format!("{NEWS}?title[like]=walk&_order=title&_limit=5&_cursor=");
        let mut next = Some(first);
        while let Some(path) = next {
            let answer = author.get(&path).await;
            seen.extend(values(&items(&answer, "announcement"), "id"));
            next = link(&answer, "next");
            // Those at the end of this part and in the next one, and the first one of all.
            let (one, other) = (doomed.pop(), doomed.first().cloned());
            doomed.retain(|it| Some(it) != other.as_ref());
            for id in one.iter().chain(&other) {
                author.delete(&format!("/direct/announcement/{id}")).await.expect(StatusCode::NO_CONTENT);
            }
            for title in ["Walk 00", "Walk 12 and a half", "Walk 99"] {
                number += 1;
                announce(&author, &format!("{title} {number}")).await;
            }
            assert!(number < 60, "the walk has no end");
        }
        let times = |id: &String| seen.iter().filter(|it| *it == id).count();
        assert!(kept.iter().all(|it| times(it) == 1), "{seen:?}");
        assert!(seen.iter().all(|it| times(it) == 1), "{seen:?}");
    }

    async fn references_are_shown_to_those_who_may_read_them(app: TestApp) {
        let (admin, student) = (app.user("admin").await, app.user("student1").await);
        let path = format!("{NEWS}?siteId=biology-101&_expand=siteId,createdBy&_fields=title");
        for item in list(&admin, &path, "announcement").await {
            assert_eq!(item["siteIdEntity"]["entityReference"], "/site/biology-101");
            assert_eq!(item["siteIdEntity"]["title"], "Biology 101: Cells and Life", "{item}");
            assert!(item["createdByEntity"]["eid"].is_string(), "{item}");
        }
        let shown = list(&student, &path, "announcement").await;
        assert!(!shown.is_empty());
        for item in shown {
            assert_eq!(item["siteIdEntity"]["id"], "biology-101");
            assert_eq!(item["createdByEntity"], Value::Null, "{item}");
        }
        let own = list(&student, "/direct/membership.json?_expand=userId,siteId", "membership").await;
        assert!(!own.is_empty());
        for item in own {
            assert_eq!(item["userIdEntity"]["eid"], "student1");
            assert_eq!(item["siteIdEntity"]["id"], item["siteId"]);
        }
        let id = values(&list(&admin, &path, "announcement").await, "entityId").remove(0);
        let one = admin.get(&format!("/direct/announcement/{id}.xml?_expand=siteId")).await;
        let xml = one.text();
        let document = roxmltree::Document::parse(xml).expect("XML");
        let site = document.descendants().find(|it| it.has_tag_name("siteIdEntity"));
        let site = site.expect("the site").children().find(|it| it.has_tag_name("title"));
        assert_eq!(site.and_then(|it| it.text()), Some("Biology 101: Cells and Life"));
    }

    async fn x11_what_other_programs_add_to_a_query_says_nothing(app: TestApp) {
        let student = app.user("student1").await;
        let said_nothing = "_=1&n=100&d=7&nocache=1&no-cache=1&utm_source=x&utm_medium=y&fbclid=z&gclid=w";
        for path in [
            "/direct/site.json", "/direct/assignment/my.json", "/direct/assignment/site/biology-101.json",
            "/direct/content/site/biology-101.json", "/direct/calendar/my.json?firstDate=2026-11-01&lastDate=2026-11-30",
            "/direct/membership.json", "/direct/poll/site/biology-101.json", "/direct/gradebook/site/biology-101.json",
            "/direct/user/current.json", "/api/users/me/sites", "/api/users/me/announcements",
        ] {
            let sign = if path.contains('?') { '&' } else { '?' };
            let (plain, with) = (read(&student, path).await, read(&student, &format!("{path}{sign}{said_nothing}")).await);
            assert_eq!(plain, with, "{path}");
        }
        // Where they are declared they count.
        let two = list(&student, "/direct/announcement/user.json?n=2&utm_source=x", "announcement").await;
        assert_eq!(two.len(), 2);
        for wrong in ["utmsource=x", "_x=1", "nn=1", "fbclids=1"] {
            student.get(&format!("/direct/site.json?{wrong}")).await.expect(StatusCode::BAD_REQUEST);
        }
    }

    async fn x11_truth_values_are_read_in_every_way_that_programs_write_them(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        let lesson = list(&student, "/direct/lessons/site/biology-101.json", "lessons").await;
        let lesson = format!("/direct/lessons/lesson/{}.json?fullTree=", text(&lesson[0], "lessonId"));
        let id = text(&list(&teacher, "/direct/assignment/site/biology-101.json", "assignment").await[0], "id");
        let link = format!("/direct/assignment/deepLinkWithPermissions/biology-101/{id}.json?allowAddAssignment=");
        for start in [
            "/direct/membership.json?includeGroups=true&includeSites=", "/direct/site.json?published=", "/direct/announcement.json?draft[null]=",
            "/direct/announcement/user.json?a=", "/api/users/me/sites?pinned=", "/api/users/me/sites?envelope=", &lesson, &link,
        ] {
            let mut answers = Vec::new();
            for (yes, no) in [("true", "false"), ("True", "False"), ("TRUE", "FALSE"), ("1", "0")] {
                let mut both = Vec::new();
                for value in [yes, no] {
                    let mut answer = read(&teacher, &format!("{start}{value}")).await;
                    if let Some(fields) = answer.as_object_mut() { fields.remove("timestamp"); }
                    both.push(answer);
                }
                answers.push(both);
            }
            assert!(answers.windows(2).all(|it| it[0] == it[1]), "{start}");
        }
        let enveloped = read(&student, "/api/users/me/sites?envelope=1").await;
        assert_eq!(enveloped["status"], "success");
    }

    async fn what_is_shown_with_others_has_their_tag(app: TestApp) {
        let author = app.user("instructor1").await;
        let path = format!("{NEWS}?siteId=biology-101&_fields=title&_expand=siteId");
        let tag = |it: &Answer| it.header("ETag").expect("a tag").to_owned();
        let before = author.get(&path).await;
        assert_eq!(tag(&before), tag(&author.get(&path).await));
        let change = json!({"title": "Biology renamed"});
        author.put("/direct/site/biology-101.json", &change).await.expect(StatusCode::NO_CONTENT);
        let after = author.get(&path).await;
        assert_eq!(items(&after, "announcement")[0]["siteIdEntity"]["title"], "Biology renamed");
        assert_ne!(tag(&before), tag(&after));
        let stale = author.clone().with_header(IF_NONE_MATCH, &tag(&before));
        stale.get(&path).await.expect(StatusCode::OK);
        let fresh = author.clone().with_header(IF_NONE_MATCH, &tag(&after));
        fresh.get(&path).await.expect(StatusCode::NOT_MODIFIED);
        let one = format!("/direct/announcement/{}", text(&items(&after, "announcement")[0], "entityId"));
        let (alone, beside) = (author.get(&one).await, author.get(&format!("{one}?_expand=siteId")).await);
        assert!(alone.header("Last-Modified").is_some());
        // The site changes without the announcement.
        assert_eq!(beside.header("Last-Modified"), None);
        assert_ne!(tag(&alone), tag(&beside));
    }

    async fn a_description_tells_operators_and_references(app: TestApp) {
        let described = read(&app.anonymous(), "/direct/announcement/describe.json").await;
        let field = |name: &str| {
            let fields = described.pointer("/fields").and_then(Value::as_array).expect("fields");
            fields.iter().find(|it| it["name"] == name).expect("the field").clone()
        };
        assert_eq!(field("draft")["operators"], json!(["eq", "ne", "in", "null"]));
        assert_eq!(field("siteTitle")["operators"], json!([]));
        assert_eq!(field("siteId")["references"], "site");
        assert_eq!(field("title")["references"], Value::Null);
    }
}
