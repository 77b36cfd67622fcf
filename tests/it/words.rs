//! Pages are in words: as whoever one opens them, people read no ids, no names that only programs know and no instants as
//! numbers outside the details for programs, and no link leads to a refusal.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use http::header::{ACCEPT, LOCATION};
use tests::{Answer, Client, TestApp, above_storage, is_full};

use crate::direct::form::plain;

/// The maximum number of pages of one shape that a long test looks at.
const MOST_ALIKE: usize = 3;
/// Words with a capital within that people use.
const WORDS: [&str; 1] = ["iCalendar"];
/// Elements that people don't read: what is in the second ones is folded away, for programs.
const UNREAD: [&str; 5] = ["head", "style", "script", "code", "datalist"];
const FOLDED: &str = "<details class=\"programs\">";

/// Returns the text of a page that people read, with the values of fields that they may fill in.
fn visible(page: &str) -> String {
    let mut rest = page.to_owned();
    while let Some((before, after)) = rest.split_once(FOLDED) {
        let (_, after) = after.split_once("</details>").unwrap_or_default();
        rest = format!("{before} {after}");
    }
    for name in UNREAD {
        let (begin, end) = (format!("<{name}"), format!("</{name}>"));
        let mut kept = String::new();
        let mut pieces = rest.split(&*begin);
        kept.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            // `<header` begins like `<head`.
            match piece.starts_with(['>', ' ']) {
                true => kept.push_str(piece.split_once(&*end).unwrap_or_default().1),
                false => kept.extend([&*begin, piece]),
            }
        }
        rest = kept;
    }
    let mut text = String::new();
    for piece in rest.split('<') {
        let (tag, inside) = piece.split_once('>').unwrap_or(("", piece));
        let is_typed = tag.starts_with("input ")
            && ["text", "number"]
                .iter()
                .any(|it| tag.contains(&format!("type=\"{it}\"")));
        let value = tag.split_once(" value=\"").filter(|_| is_typed);
        let value = value.and_then(|it| it.1.split('"').next());
        for part in [value.unwrap_or_default(), inside] {
            text.push(' ');
            text.push_str(&plain(part));
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the parts of a text that are no words for people.
fn keys(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let tokens = text.split(|c| !is_part(c));
    let strange = tokens.filter(|it| is_id(it) || is_name(it) || is_instant(it));
    strange.map(ToOwned::to_owned).collect()
}

/// Returns whether there are 32 hexadecimal digits, with hyphens or without.
fn is_id(token: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_hexdigit();
    let digits = token.chars().filter(|it| *it != '-');
    let is_grouped = token
        .split('-')
        .map(str::len)
        .collect::<Vec<_>>()
        .ends_with(&[4, 4, 4, 12]);
    (is_grouped || !token.contains('-')) && digits.clone().all(is_digit) && digits.count() >= 32
}

/// Returns whether programs call something so: `dueTime`, `term_eid`, `TRUE_FALSE`.
fn is_name(token: &str) -> bool {
    let letters: Vec<char> = token.chars().collect();
    let is_cased = letters
        .windows(2)
        .any(|it| it[0].is_ascii_lowercase() && it[1].is_ascii_uppercase());
    let is_camel = is_cased
        && letters[0].is_ascii_lowercase()
        && letters.iter().all(char::is_ascii_alphanumeric);
    let is_snake = token.split('_').count() > 1 && token.split('_').all(|it| !it.is_empty());
    (is_camel || is_snake) && !WORDS.contains(&token)
}

/// Returns whether it is a number of milliseconds since 1970.
fn is_instant(token: &str) -> bool {
    token.len() == 13 && token.bytes().all(|it| it.is_ascii_digit())
}

/// The addresses of the pages that a page links to.
fn links(page: &str) -> BTreeSet<String> {
    let anchors = page.split("<a ").skip(1);
    let hrefs = anchors.filter_map(|it| {
        it.split('>')
            .next()?
            .split_once("href=\"")?
            .1
            .split('"')
            .next()
    });
    let paths = hrefs.filter_map(|it| {
        let it = plain(it);
        let it = it.split('#').next().unwrap_or_default();
        let path = it.strip_prefix("http://127.0.0.1:8080").unwrap_or(it);
        let is_ours = path.starts_with('/') && !path.starts_with("//");
        (is_ours && !is_left_out(path)).then(|| path.to_owned())
    });
    paths.collect()
}

/// Returns whether what is there is no page, the same page in another order, or for programs.
fn is_left_out(path: &str) -> bool {
    let (stem, query) = path.split_once('?').unwrap_or((path, ""));
    let is_data = ["json", "xml", "csv", "atom", "rss", "ics"];
    let is_data = is_data.iter().any(|it| stem.ends_with(&format!(".{it}")));
    is_data || query.contains("_order=") || stem.contains("describe") || stem.starts_with("/api/")
}

/// The path without the parts that tell one from others of its kind.
fn shape(path: &str) -> String {
    let (stem, query) = path.split_once('?').unwrap_or((path, ""));
    let is_word = |it: &&str| !it.contains(|c: char| c.is_ascii_digit() || c == '%');
    let words = stem
        .split('/')
        .map(|it| Some(it).filter(is_word).unwrap_or("*"));
    let names = query.split('&').filter_map(|it| it.split('=').next());
    let words = words.collect::<Vec<_>>().join("/");
    format!("{words}?{}", names.collect::<Vec<_>>().join("&"))
}

/// Returns the faults of a page: that it refuses whoever follows a link to it, or text in it that people can't read.
fn complaints(answer: &Answer) -> Vec<String> {
    let is_open = answer.status.is_success() || answer.status.is_redirection();
    let is_page = answer
        .header("content-type")
        .is_some_and(|it| it.starts_with("text/html"));
    match (is_open, is_page) {
        (false, _) => vec![answer.status.to_string()],
        (true, true) => keys(&visible(answer.text())).into_iter().collect(),
        (true, false) => Vec::new(),
    }
}

/// Follows links from the start page on. Returns how many kinds of pages there are, and what is wrong with them.
async fn walk(client: &Client, start: &str, alike: usize) -> (usize, Vec<String>) {
    let mut waiting = VecDeque::from([(start.to_owned(), String::new())]);
    let mut seen = BTreeSet::new();
    let mut shapes: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    while let Some((path, origin)) = waiting.pop_front() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let number = shapes.entry(shape(&path)).or_default();
        *number += 1;
        if *number > alike {
            continue;
        }
        let answer = client.get(&path).await;
        let mut complaints = complaints(&answer);
        // Values of settings and paths of requests are for those who look after the service.
        let is_for_operators = ["/direct/setting", "/direct/audit"]
            .iter()
            .any(|it| path.starts_with(it));
        complaints.retain(|it| !is_for_operators || it.contains(' '));
        let complaints = complaints.into_iter();
        wrong.extend(complaints.map(|it| format!("{it} at {path}, from {origin}")));
        let mut found = match answer
            .header("content-type")
            .is_some_and(|it| it.contains("html"))
        {
            true => links(answer.text()),
            false => BTreeSet::new(),
        };
        let moved = answer
            .header(LOCATION)
            .map(|it| format!("<a href=\"{it}\">"));
        found.extend(moved.iter().flat_map(|it| links(it)));
        waiting.extend(found.into_iter().map(|it| (it, path.clone())));
    }
    (shapes.len(), wrong)
}

above_storage! {
    async fn pages_are_in_words_and_their_links_are_open(app: TestApp) {
        if tests::is_left_out(&app) {
            return;
        }
        let alike = if is_full() { MOST_ALIKE } else { 1 };
        let html = |it: Client| it.with_header(ACCEPT, "text/html,*/*;q=0.5");
        let mut all = Vec::new();
        for (eid, least) in [
            ("", 5),
            ("student1", 100),
            ("ta1", 100),
            ("instructor1", 150),
            ("admin", 150),
        ] {
            let (client, start) = match eid {
                "" => (app.anonymous(), "/direct/site/university-news.html"),
                eid => (app.user(eid).await, "/portal"),
            };
            let (count, wrong) = walk(&html(client), start, alike).await;
            assert!(count >= least, "{eid}: {count}");
            all.extend(wrong.into_iter().map(|it| format!("{eid}: {it}")));
        }
        assert!(all.is_empty(), "{}:\n{}", all.len(), all.join("\n"));
    }
}

/// Words of programs, which no form says about its fields.
const FOR_PROGRAMS: [&str; 9] = [
    "null",
    "internal id",
    "external id",
    "The id",
    "The ids",
    "as text",
    "as a number",
    "since 1970",
    "milliseconds",
];

above_storage! {
    async fn hints_of_forms_speak_to_people(app: TestApp) {
        let (teacher, admin) = (app.user("instructor1").await, app.user("admin").await);
        let described = crate::direct::read(&teacher, "/direct/describe.json").await;
        let (mut forms, mut wrong) = (0, Vec::new());
        for prefix in described["types"].as_array().expect("types").iter().filter_map(|it| it["prefix"].as_str()) {
            for client in [&teacher, &admin] {
                let path = format!("/direct/{prefix}/new.html?siteId=biology-101");
                let page = client.get(&path).await;
                let hints = page.text().split("<p class=\"hint\"").skip(1);
                let hints: Vec<_> = hints.filter_map(|it| it.split("</p>").next()).collect();
                forms += usize::from(!hints.is_empty());
                let is_strange = |hint: &&&str| FOR_PROGRAMS.iter().any(|it| hint.contains(it));
                wrong.extend(hints.iter().filter(is_strange).map(|it| format!("{prefix}{it}")));
            }
        }
        assert!(forms >= 50, "{forms}");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[test]
fn ids_names_and_instants_are_told_from_words() {
    let page = "<html><head><title>aB</title></head><header>dueTime and 0123abcd-0123-4567-89ab-0123456789ab,\
        <input type=\"text\" value=\"1700000000000\"> McDonald, iCalendar, 2026-11-26, TRUE_FALSE</header>\
        <details class=\"programs\">closeTime</details><code>openTime</code>";
    let found = keys(&visible(page));
    let found: Vec<_> = found.iter().map(String::as_str).collect();
    let expected = [
        "0123abcd-0123-4567-89ab-0123456789ab",
        "1700000000000",
        "TRUE_FALSE",
        "dueTime",
    ];
    assert_eq!(found, expected);
}
