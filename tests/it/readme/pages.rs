//! Labels that documents tell people to click are on the pages: each way is gone from the start page, as its reader.
//!
//! A way is a numbered list of labels in bold, or labels in bold with arrows between them. Other labels in bold must be
//! on the page to which the way before them leads.

use http::StatusCode;
use http::header::{ACCEPT, LOCATION};
use tests::{Answer, Client, TestApp, above_storage};

use super::{README, USING, prose};
use crate::direct::form::plain;

const START: &str = "/portal";
const ARROW: &str = "** → **";

/// The names and values that a form sends.
type Pairs = Vec<(String, String)>;

/// A visitor at a page.
struct Visitor {
    client: Client,
    path: String,
    page: String,
}

/// A hint of a document, in its order.
#[derive(Debug, PartialEq)]
enum Hint {
    /// Click through these from the start page.
    Way(Vec<String>),
    /// Open this address.
    Address(String),
    /// This is on the page.
    Label(String),
}

impl Visitor {
    async fn of(app: &TestApp, eid: &str) -> Self {
        let client = app
            .user(eid)
            .await
            .with_header(ACCEPT, "text/html,*/*;q=0.8");
        let mut visitor = Self {
            client,
            path: String::new(),
            page: String::new(),
        };
        visitor.open(START).await;
        visitor
    }

    async fn open(&mut self, path: &str) {
        let answer = self.client.get(path).await;
        self.arrive(path.to_owned(), answer).await;
    }

    /// Goes where the answer leads.
    async fn arrive(&mut self, path: String, mut answer: Answer) {
        self.path = path;
        for _ in 0..4 {
            let Some(next) = answer.header(LOCATION) else {
                break;
            };
            let next = local(next).to_owned();
            self.path = next;
            answer = self.client.get(&self.path).await;
        }
        answer.expect(StatusCode::OK);
        answer.text().clone_into(&mut self.page);
    }

    /// Follows the link, or presses the button, that has this label.
    async fn click(&mut self, label: &str) {
        if let Some(href) = link(&self.page, label) {
            self.open(local(&href)).await;
        } else if let Some((action, pairs)) = button(&self.page, label) {
            let path = action.unwrap_or_else(|| self.path.clone());
            let pairs = pairs.iter().map(|it| (it.0.as_str(), it.1.as_str()));
            let form = entity_formats::write_pairs(pairs);
            let answer = self.client.post_form(&path, &form).await;
            self.arrive(path, answer).await;
        } else {
            panic!(
                "{} has no link and no button `{label}`: {}",
                self.path,
                text(&self.page)
            );
        }
    }

    fn sees(&self, label: &str) {
        let shown = text(&self.page);
        assert!(
            shown.contains(label),
            "{} says nowhere `{label}`: {shown}",
            self.path
        );
    }

    async fn follow(&mut self, hints: &[Hint]) {
        self.open(START).await;
        for hint in hints {
            match hint {
                Hint::Label(label) => self.sees(label),
                Hint::Address(path) => self.open(path).await,
                Hint::Way(labels) => {
                    self.open(START).await;
                    for label in labels {
                        self.click(label).await;
                    }
                }
            }
        }
    }
}

/// The path behind the address of the service.
fn local(address: &str) -> &str {
    address
        .strip_prefix("http://127.0.0.1:8080")
        .unwrap_or(address)
}

/// The text that people read, with one space for each gap.
fn text(html: &str) -> String {
    let mut text = String::new();
    for piece in html.split('<') {
        let inside = piece.split_once('>').map_or(piece, |it| it.1);
        text.push(' ');
        text.push_str(&plain(inside));
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, value) = tag.split_once(&format!(" {name}=\""))?;
    Some(plain(value.split('"').next()?))
}

/// The elements of this name: the attributes, the content and where it begins.
fn elements<'a>(page: &'a str, name: &str) -> Vec<(&'a str, &'a str, usize)> {
    let (begin, end) = (format!("<{name} "), format!("</{name}>"));
    let found = page.match_indices(&begin).filter_map(|(at, _)| {
        let (head, rest) = page.split_at(at).1.split_once('>')?;
        Some((head, rest.split(&*end).next()?, at))
    });
    found.collect()
}

fn link(page: &str, label: &str) -> Option<String> {
    let links = elements(page, "a").into_iter();
    let mut links = links.filter(|it| text(it.1) == label);
    links.find_map(|it| attribute(it.0, "href"))
}

/// Returns the target of a button, and the fields that its form sends if nobody fills it in.
fn button(page: &str, label: &str) -> Option<(Option<String>, Pairs)> {
    let mut buttons = elements(page, "button").into_iter();
    let (head, _, at) = buttons.find(|it| text(it.1) == label)?;
    let mut forms = elements(page, "form").into_iter().rev();
    let (form, content, _) = forms.find(|it| it.2 < at)?;
    let inputs = elements(content, "input").into_iter().map(|it| it.0);
    let hidden = inputs.filter(|it| attribute(it, "type").is_some_and(|it| it == "hidden"));
    let pairs = hidden.filter_map(|it| Some((attribute(it, "name")?, attribute(it, "value")?)));
    let action = attribute(head, "formaction").or_else(|| attribute(form, "action"));
    Some((action, pairs.collect()))
}

/// The part of a document below this heading, up to the next of its kind.
fn section(document: &str, heading: &str) -> String {
    let prose = prose(document);
    let level = heading.split(' ').next().unwrap_or_default();
    let (_, part) = prose.split_once(&format!("\n{heading}\n")).expect(heading);
    let end = format!("\n{level} ");
    part.split(&*end).next().unwrap_or_default().to_owned()
}

/// The ways and labels in a text.
fn hints(text: &str) -> Vec<Hint> {
    let is_step = |it: &str| it.starts_with(|c: char| c.is_ascii_digit()) && it.contains(". **");
    let mut found: Vec<Hint> = Vec::new();
    for line in text.lines() {
        let spans = line.split("**").collect::<Vec<_>>();
        let mut is_joined = is_step(line) && !line.starts_with("1. ");
        for (at, label) in spans.iter().enumerate().filter(|it| it.0 % 2 == 1) {
            let before = spans.get(at - 1).copied().unwrap_or_default();
            found.extend(addresses(before));
            let label = (*label).to_owned();
            let is_followed = spans.get(at + 1).is_some_and(|it| *it == " → ");
            match found.last_mut() {
                Some(Hint::Way(labels)) if is_joined => labels.push(label),
                _ if is_followed || is_step(line) => found.push(Hint::Way(vec![label])),
                _ => found.push(Hint::Label(label)),
            }
            is_joined = is_followed;
        }
        found.extend(addresses(spans.last().copied().unwrap_or_default()));
    }
    found
}

/// The addresses of pages in a text.
fn addresses(text: &str) -> impl Iterator<Item = Hint> {
    let spans = text.split('`').skip(1).step_by(2);
    let paths = spans.filter(|it| it.starts_with('/') && it.contains(".html"));
    paths.map(|it| Hint::Address(it.to_owned()))
}

above_storage! {
    async fn the_clicks_of_the_readme_lead_where_it_says(app: TestApp) {
        let part = section(README, "## Five minutes for people");
        let (student, teacher) = part.split_once("`instructor1`").expect("two people");
        assert!(student.contains("Log in as `student1`"), "{student}");
        for (eid, part) in [("student1", student), ("instructor1", teacher)] {
            let hints = hints(part);
            let [Hint::Way(labels)] = &*hints else {
                panic!("{eid} goes one way: {hints:?}");
            };
            assert!(labels.len() >= 4, "{labels:?}");
            Visitor::of(&app, eid).await.follow(&hints).await;
        }
    }

    async fn the_answers_for_students_and_teachers_are_on_the_pages(app: TestApp) {
        let mut count = 0;
        for (eid, heading) in [("student1", "## For students"), ("instructor1", "## For teachers")] {
            let mut visitor = Visitor::of(&app, eid).await;
            let part = section(USING, heading);
            for question in part.split("\n### ").skip(1) {
                let hints = hints(question);
                assert!(hints.iter().any(|it| !matches!(it, Hint::Label(_))), "{question}");
                visitor.follow(&hints).await;
                count += 1;
            }
        }
        assert!(count >= 10, "{count}");
    }
}

#[test]
fn ways_and_labels_are_told_apart() {
    let way = |labels: &[&str]| Hint::Way(labels.iter().map(|it| (*it).to_owned()).collect());
    let label = |it: &str| Hint::Label(it.to_owned());
    let arrows = format!("Go **A{ARROW}B**, and press **C**.\nOr **D**.");
    assert_eq!(hints(&arrows), [way(&["A", "B"]), label("C"), label("D")]);
    let address = hints("**A** is at `/direct/a.html`, with `/b`: **B**.");
    assert_eq!(
        address,
        [
            label("A"),
            Hint::Address("/direct/a.html".to_owned()),
            label("B")
        ]
    );
    let list = "So:\n\n1. **A**\n2. **B**\n\nThen:\n\n1. **C**\n2. **D**\n";
    assert_eq!(hints(list), [way(&["A", "B"]), way(&["C", "D"])]);
}
