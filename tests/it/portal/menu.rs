//! The menu of a site, on each page that belongs to it.

use http::header::ACCEPT;
use sea_orm::ConnectionTrait as _;
use tests::rows::databases;
use tests::{Client, TestApp, above_storage};

use crate::direct::browser;

const SITE: &str = "/direct/site/biology-101.html";
const NEWS: &str = "/direct/announcement/site/biology-101";

/// The entries of the menu on the page at `path`, each as its address, its label and whether it is marked.
async fn menu(client: &Client, path: &str) -> Vec<(String, String, bool)> {
    let page = client.get(path).await;
    let Some((_, menu)) = page.text().split_once("<nav class=\"menu\"") else {
        return Vec::new();
    };
    let (menu, _) = menu.split_once("</nav>").expect("an end");
    let entries = menu.split("<li>").skip(1).map(|it| {
        let (_, it) = it.split_once("href=\"").expect("a link");
        let (href, it) = it.split_once('"').expect("an address");
        let (attributes, it) = it.split_once("><bdi>").expect("a label");
        let (label, _) = it.split_once("</bdi>").expect("a label");
        (
            href.to_owned(),
            label.to_owned(),
            attributes.contains("aria-current"),
        )
    });
    entries.collect()
}

fn marked(menu: &[(String, String, bool)]) -> Vec<&str> {
    menu.iter()
        .filter(|it| it.2)
        .map(|it| it.1.as_str())
        .collect()
}

above_storage! {
    async fn each_page_of_a_site_has_its_menu_with_the_part_marked(app: TestApp) {
        let teacher = browser(&app, "instructor1").await;
        let news = teacher.get(&format!("{NEWS}.json")).await.json();
        let id = news["announcement_collection"][0]["id"].as_str().expect("an id").to_owned();
        let overview = menu(&teacher, SITE).await;
        let labels: Vec<_> = overview.iter().map(|it| it.1.as_str()).collect();
        assert_eq!(labels, [
            "Overview", "Syllabus", "Announcements", "Calendar", "Lessons", "Resources", "Assignments",
            "Tests &#38; Quizzes", "Gradebook", "Discussions", "Conversations", "People",
        ]);
        for (path, part) in [
            (SITE.to_owned(), "Overview"),
            (format!("{NEWS}.html"), "Announcements"),
            (format!("/direct/announcement/{id}.html"), "Announcements"),
            (format!("/direct/announcement/{id}/edit.html"), "Announcements"),
            ("/direct/announcement/new.html?siteId=biology-101".to_owned(), "Announcements"),
            ("/direct/gradebook/site/biology-101.html".to_owned(), "Gradebook"),
            ("/direct/membership/site/biology-101.html".to_owned(), "People"),
        ] {
            let found = menu(&teacher, &path).await;
            assert_eq!(found.len(), overview.len(), "{path}");
            assert_eq!(marked(&found), [part], "{path}");
        }
        for path in ["/portal", "/direct/site.html", "/direct/announcement.html", "/direct/user/current.html"] {
            assert_eq!(menu(&teacher, path).await, [], "{path}");
        }
    }

    async fn a_menu_leads_to_what_its_reader_may_open(app: TestApp) {
        let (student, stranger) = (browser(&app, "student1").await, app.anonymous());
        for client in [&student, &browser(&app, "instructor1").await] {
            for (href, label, _) in menu(client, SITE).await {
                let answer = client.get(&href.replace("&#38;", "&")).await;
                assert_eq!(answer.status, http::StatusCode::OK, "{label}");
            }
        }
        assert!(!menu(&student, SITE).await.iter().any(|it| it.1 == "People"));
        assert_eq!(menu(&stranger.with_header(ACCEPT, "text/html"), SITE).await, []);
    }

    async fn a_site_shows_what_it_has_a_tool_for(app: TestApp) {
        let student = browser(&app, "student1").await;
        for (place, tool) in [("1", "sakai.poll"), ("2", "gradebook-item")] {
            let sql = format!(
                "INSERT INTO site_page (id, site_id, title, position, layout) VALUES ('p{place}', 'biology-101', 'Own <{place}>', 9{place}, 0);
                 INSERT INTO site_tool (id, page_id, site_id, tool_id, title, position) VALUES ('t{place}', 'p{place}', 'biology-101', '{tool}', '', 0)"
            );
            databases(&app).await[0].execute_unprepared(&sql).await.expect("a tool");
        }
        let menu = menu(&student, SITE).await;
        let own = |it: &&(String, String, bool)| it.1.starts_with("Own");
        let own: Vec<_> = menu.iter().filter(own).map(|it| (it.0.as_str(), it.1.as_str())).collect();
        assert_eq!(own, [
            ("/direct/poll/site/biology-101.html", "Own &#60;1&#62;"),
            ("/direct/gradebook-item.html?siteId=biology-101", "Own &#60;2&#62;"),
        ]);
    }
}
