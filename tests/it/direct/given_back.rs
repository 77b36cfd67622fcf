//! Every form comes back with what was typed: found from the registrations, sent with a mistake and without a session.

use std::collections::BTreeSet;

use entity_core::engine::Route;
use entity_core::{Registry, Verb};
use http::header::ACCEPT;
use http::{Method, StatusCode};
use serde_json::json;
use tests::{Answer, Client, TestApp, both};

use super::form::{plain, untouched};
use super::{browser, created, text};

const BOUNDARY: &str = "a-boundary";

fn encoded(pairs: &[(String, String)]) -> String {
    entity_formats::write_pairs(pairs.iter().map(|it| (&*it.0, &*it.1)))
}

/// The names of the lines and boxes of text in a page.
fn lines(page: &Answer) -> BTreeSet<String> {
    let tags = page.text().split('<').filter(|it| {
        it.starts_with("textarea ") || (it.starts_with("input ") && it.contains(" type=\"text\""))
    });
    let name = |tag: &str| Some(plain(tag.split_once(" name=\"")?.1.split('"').next()?));
    tags.filter_map(name).collect()
}

/// Returns the fields that a browser sends of the form in `page` after a text was typed into each, and the typed texts.
fn typed(page: &Answer) -> (Vec<(String, String)>, Vec<String>) {
    let lines = lines(page);
    let mut texts = Vec::new();
    let pairs = untouched(page)
        .into_iter()
        .enumerate()
        .map(|(at, (name, value))| match lines.contains(&name) {
            true => {
                texts.push(format!("Typed-{at}-here"));
                (name, format!("Typed-{at}-here"))
            }
            false => (name, value),
        });
    (pairs.collect(), texts)
}

#[track_caller]
fn assert_back(answer: &Answer, texts: &[String], what: &str) {
    assert!(answer.status.is_client_error(), "{what}: {}", answer.status);
    for it in texts {
        assert!(
            answer.text().contains(it.as_str()),
            "{what}: {it} is gone, {}: {}",
            answer.status,
            answer.text()
        );
    }
    let keys = answer.text().contains("<dt><code>");
    assert!(!keys, "{what} names keys: {}", answer.text());
}

/// Sends a form with a mistake, and without a session; returns whether something was typed.
async fn send_both(client: &Client, stranger: &Client, path: &str, page: &Answer) -> bool {
    let (mut pairs, texts) = typed(page);
    pairs.push(("zzMistake".to_owned(), "1".to_owned()));
    let sent = encoded(&pairs);
    assert_back(&client.post_form(path, &sent).await, &texts, path);
    let ended = stranger.post_form(path, &sent).await;
    ended.expect(StatusCode::UNAUTHORIZED);
    assert_back(&ended, &texts, path);
    !texts.is_empty()
}

/// The id of an entity of the type, if `client` sees one.
async fn any(client: &Client, route: &Route) -> Vec<String> {
    let list = client
        .get(&format!(
            "/direct/{}.json?_limit=3&siteId=biology-101",
            route.prefix
        ))
        .await;
    let list = match list.status {
        StatusCode::OK => list,
        _ => {
            client
                .get(&format!("/direct/{}.json?_limit=3", route.prefix))
                .await
        }
    };
    let found: serde_json::Value = serde_json::from_slice(&list.body).unwrap_or_default();
    let items = found[format!("{}_collection", route.prefix)]
        .as_array()
        .cloned()
        .unwrap_or_default();
    items.iter().map(|it| text(it, "entityId")).collect()
}

both! {
    async fn y4_every_form_of_creating_and_changing_comes_back(app: TestApp) {
        let (admin, stranger) = (browser(&app, "admin").await, app.anonymous().with_header(ACCEPT, "text/html"));
        let registry = Registry::from_inventory().expect("types that go together");
        let (mut new, mut edited) = (0, 0);
        for route in registry.routes() {
            let prefix = route.prefix;
            let page = admin.get(&format!("/direct/{prefix}/new.html")).await;
            if route.capabilities().contains(&"create") && page.status == StatusCode::OK {
                new += usize::from(send_both(&admin, &stranger, &format!("/direct/{prefix}"), &page).await);
            }
            if !route.capabilities().contains(&"update") {
                continue;
            }
            for id in any(&admin, route).await.iter().take(1) {
                let path = format!("/direct/{prefix}/{}", entity_core::encode_segment(id));
                let page = admin.get(&format!("{path}/edit.html")).await;
                if page.status == StatusCode::OK {
                    edited += usize::from(send_both(&admin, &stranger, &path, &page).await);
                }
            }
        }
        assert!(new >= 20 && edited >= 15, "{new} {edited}");
    }

    async fn y4_every_form_of_an_action_comes_back(app: TestApp) {
        let stranger = app.anonymous().with_header(ACCEPT, "text/html");
        let clients = [browser(&app, "instructor1").await, browser(&app, "student1").await];
        let registry = Registry::from_inventory().expect("types that go together");
        let (mut refused, mut asking) = (0, 0);
        for route in registry.routes() {
            // A body that is a file as a whole is no form.
            for action in route.actions.iter().filter(|it| it.verb == Verb::Post && !it.takes_whole_files()) {
                let mut path = format!("/direct/{}", route.prefix);
                if action.is_on_entity {
                    // There is none, or none any more.
                    path.push_str("/4711");
                }
                path = format!("{path}/{}", action.name);
                for _ in action.arguments.iter().filter(|it| it.is_required) {
                    path.push_str("/4711");
                }
                let fields: Vec<_> = match action.asks {
                    [] => vec!["something".to_owned()],
                    asks => asks.iter().filter(|it| !it.is_for_programs && it.choices.is_empty()).map(|it| it.name.to_owned()).collect(),
                };
                let is_text = |name: &String| !action.asks.iter().any(|it| it.name == name && matches!(it.kind, entity_core::schema::Kind::Boolean));
                let pairs: Vec<_> = fields.into_iter().filter(is_text).enumerate().map(|(at, it)| (it, format!("Typed-{at}-here"))).collect();
                let texts: Vec<_> = pairs.iter().map(|it| it.1.clone()).collect();
                let ended = stranger.post_form(&path, &encoded(&pairs)).await;
                if ended.status == StatusCode::UNAUTHORIZED {
                    assert_back(&ended, &texts, &path);
                    assert!(ended.text().contains("You are not logged in any more"), "{path}: {}", ended.text());
                }
                for client in &clients {
                    let answer = client.post_form(&path, &encoded(&pairs)).await;
                    if answer.status.is_client_error() {
                        assert_back(&answer, &texts, &path);
                        refused += 1;
                        asking += usize::from(!action.asks.is_empty());
                    }
                }
            }
        }
        assert!(refused >= 60 && asking >= 12, "{refused} {asking}");
    }

    async fn y4_every_form_of_a_page_and_every_questionnaire_comes_back(app: TestApp) {
        let stranger = app.anonymous().with_header(ACCEPT, "text/html");
        let registry = Registry::from_inventory().expect("types that go together");
        let student = browser(&app, "student1").await;
        let quizzes = student.get("/direct/sam_pub/context/biology-101.json").await.json();
        for quiz in quizzes["sam_pub_collection"].as_array().expect("a list") {
            student.post_form(&format!("/direct/sam_pub/{}/begin", text(quiz, "id")), "_method=POST").await;
        }
        let mut sent = BTreeSet::new();
        for client in [student, browser(&app, "instructor1").await] {
            for route in registry.routes() {
                let readers = route.actions.iter().filter(|it| it.verb == Verb::Get && it.is_on_entity && it.arguments.is_empty());
                let names: Vec<_> = readers.map(|it| format!("/{}", it.name)).chain([String::new()]).collect();
                for id in any(&client, route).await {
                    for name in &names {
                        let address = format!("/direct/{}/{}{name}", route.prefix, entity_core::encode_segment(&id));
                        let page = client.get(&format!("{address}.html")).await;
                        if page.status != StatusCode::OK || !page.header("content-type").is_some_and(|it| it.starts_with("text/html")) {
                            continue;
                        }
                        for form in page.text().split("<form method=\"post\"").skip(1) {
                            let form = form.split("</form>").next().unwrap_or_default();
                            let target = |mark: &str| Some(plain(form.split_once(mark)?.1.split('"').next()?));
                            let of = |mark: &str, form: &str| form.split(mark).skip(1).filter_map(|it| Some(plain(it.split('"').next()?))).collect::<BTreeSet<_>>();
                            let Some(path) = target(" formaction=\"").or_else(|| target(" action=\"")) else { continue };
                            // What only says go has nothing that was typed.
                            let texts = of(" name=\"", form);
                            let texts: Vec<_> = texts.iter().filter(|it| lines(&page).contains(*it)).enumerate()
                                .map(|(at, it)| (it.clone(), format!("Typed-{at}-here"))).collect();
                            let shape = path.split('/').filter(|it| it.len() < 25).collect::<Vec<_>>().join("/");
                            if texts.is_empty() || path.ends_with("/session/current") || !sent.insert(shape) {
                                continue;
                            }
                            let pairs = [&texts[..], &[("zzMistake".to_owned(), "1".to_owned())]].concat();
                            let typed: Vec<_> = texts.iter().map(|it| it.1.clone()).collect();
                            let ended = stranger.post_form(&path, &encoded(&pairs)).await;
                            ended.expect(StatusCode::UNAUTHORIZED);
                            assert_back(&ended, &typed, &path);
                            let answer = client.post_form(&path, &encoded(&pairs)).await;
                            if answer.status.is_client_error() {
                                assert_back(&answer, &typed, &path);
                            }
                        }
                    }
                }
            }
        }
        assert!(sent.iter().any(|it| it.contains("quiz-attempt")) && sent.len() >= 4, "{sent:?}");
    }

    async fn y4_a_mistake_in_the_form_of_an_action_stands_at_its_field(app: TestApp) {
        let (teacher, student) = (browser(&app, "instructor1").await, browser(&app, "student1").await);
        // Too few options, too many, and none of the poll.
        let poll = any(&student, Registry::from_inventory().expect("types").route("poll").expect("polls")).await;
        for id in &poll {
            let ballot = student.get(&format!("/direct/poll/{id}/ballot.html")).await;
            if ballot.status != StatusCode::OK || !ballot.text().contains("formaction") {
                continue;
            }
            let page = student.post_form(&format!("/direct/poll/{id}/vote"), "pollOption=").await;
            page.expect(StatusCode::BAD_REQUEST);
            assert!(page.text().contains("id=\"prompt-1-error\"") && page.text().contains("href=\"#prompt-1\""), "{}", page.text());
            assert!(page.text().contains("formaction=\"/direct/poll/"), "{}", page.text());
        }
        let page = teacher.post_form("/direct/syllabus-item/bulk/biology-101", "title=Typed+at+length&firstDate=never").await;
        if page.status == StatusCode::BAD_REQUEST {
            assert!(page.text().contains("value=\"Typed at length\"") && page.text().contains("value=\"never\""), "{}", page.text());
        }
        let grades = format!("/direct/assignment/{}/import", open_assignment(&teacher).await);
        let page = teacher.post_form(&grades, "csv=++&preview=false&preview=true").await;
        page.expect(StatusCode::BAD_REQUEST);
        for part in ["name=\"preview\" type=\"checkbox\" value=\"true\" checked", "id=\"import-csv-error\"", "href=\"#import-csv\"", "aria-describedby=\"import-csv-hint import-csv-error\""] {
            assert!(page.text().contains(part), "{part}: {}", page.text());
        }
        let refused = teacher.clone().with_header(ACCEPT, "application/json").post_form(&grades, "csv=x").await;
        assert_eq!(refused.header("content-type"), Some("application/json"));
    }

    async fn y4_work_that_is_refused_comes_back_whatever_the_reason(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, browser(&app, "student6").await);
        let open = open_assignment(&student).await;
        let stranger = app.anonymous().with_header(ACCEPT, "text/html");
        let long = format!("Typed {}", "at length ".repeat(9_000));
        let path = format!("/direct/assignment/{open}/submit");
        let fields = |text: &str| vec![("submittedText".to_owned(), text.to_owned()), ("draft".to_owned(), "false".to_owned())];
        for (client, text, status) in [
            (&stranger, "Typed by a stranger", StatusCode::UNAUTHORIZED),
            (&student, &*long, StatusCode::PAYLOAD_TOO_LARGE),
            (&browser(&app, "instructor2").await, "Typed elsewhere", StatusCode::FORBIDDEN),
        ] {
            for with_files in [false, true] {
                let page = match with_files {
                    true => with_file(client, &path, &fields(text)).await,
                    false => client.post_form(&path, &encoded(&fields(text))).await,
                };
                page.expect(status);
                assert_back(&page, &[format!("{text}</textarea>")], "submit");
                assert!(page.text().contains(&format!("action=\"{path}\" enctype=\"multipart/form-data\"")), "{}", page.text());
            }
        }
        let news = format!("siteId=biology-101&title=Typed&body={}", "a".repeat(70_000));
        let page = browser(&app, "instructor1").await.post_form("/direct/announcement", &news).await;
        page.expect(StatusCode::PAYLOAD_TOO_LARGE);
        assert!(page.text().contains(&"a".repeat(70_000)));
        let program = teacher.post_form("/direct/announcement", &news).await;
        assert!(program.expect(StatusCode::PAYLOAD_TOO_LARGE).text().contains("65536"), "{}", program.text());
        // It was closed or deleted meanwhile.
        let now = json!({"context": "biology-101", "title": "Short", "openTime": "2026-11-20T10:00:00Z", "dueTime": "2026-11-20T11:00:00Z", "closeTime": "2026-11-20T12:00:00Z"});
        let closed = created(&teacher.post("/direct/assignment.json", &now).await, "assignment");
        let path = format!("/direct/assignment/{closed}/submit");
        let page = student.post_form(&path, &encoded(&fields("Typed too late"))).await;
        page.expect(StatusCode::CONFLICT);
        assert_back(&page, &["Typed too late</textarea>".to_owned()], "closed");
        teacher.delete(&format!("/direct/assignment/{closed}")).await.expect(StatusCode::NO_CONTENT);
        let page = student.post_form(&path, &encoded(&fields("Typed for nothing"))).await;
        page.expect(StatusCode::NOT_FOUND);
        assert_back(&page, &["Typed for nothing</textarea>".to_owned()], "deleted");
    }
}

/// The id of an assignment of the demo that is open.
async fn open_assignment(client: &Client) -> String {
    let all = client
        .get("/direct/assignment/site/biology-101.json")
        .await
        .json();
    let all = all["assignment_collection"]
        .as_array()
        .expect("a list")
        .clone();
    text(
        all.iter()
            .find(|it| it["title"] == "Lab report: onion cells")
            .expect("the report"),
        "id",
    )
}

async fn with_file(client: &Client, path: &str, fields: &[(String, String)]) -> Answer {
    let own = fields
        .iter()
        .map(|(name, value)| (format!("name=\"{name}\""), value.as_str()));
    let file = ("name=\"file\"; filename=\"\"".to_owned(), "");
    let part = |(head, value): (String, &str)| {
        format!("--{BOUNDARY}\r\nContent-Disposition: form-data; {head}\r\n\r\n{value}\r\n")
    };
    let parts: Vec<_> = own.chain([file]).map(part).collect();
    let body = format!("{}--{BOUNDARY}--\r\n", parts.concat());
    client
        .send(
            Method::POST,
            path,
            &format!("multipart/form-data; boundary={BOUNDARY}"),
            body.into(),
        )
        .await
}
