//! Nobody learns who voted for what: what others are answered is the same whoever chose which option.

use std::collections::BTreeMap;

use tests::is_left_out;

use super::*;

const FORMATS: [&str; 7] = ["json", "xml", "html", "csv", "atom", "rss", "ics"];

/// The addresses of all that can be asked for about a poll, its options and the votes `votes` in it.
fn addresses(poll: i64, options: &[i64], votes: &[String]) -> Vec<String> {
    let mut paths = Vec::new();
    for format in FORMATS {
        for path in [
            format!("poll/{poll}"),
            format!("poll/{poll}/option"),
            format!("poll/{poll}/vote"),
            format!("poll/{poll}/ballot"),
            format!("poll-option/poll/{poll}"),
            format!("poll-vote/poll/{poll}"),
            "poll/site/biology-101".to_owned(),
            "poll".to_owned(),
            "poll-option".to_owned(),
            "poll-vote".to_owned(),
        ] {
            paths.push(format!("{path}.{format}"));
        }
        for it in options {
            paths.push(format!("poll-option/{it}.{format}"));
        }
        for it in votes {
            paths.push(format!("poll-vote/{it}.{format}"));
        }
    }
    for query in [
        "_count=exact",
        "_order=currentUserVoted",
        "currentUserVoted=true",
        "_order=votes",
        "_order=voters",
        "voters=1",
        "_expand=owner,siteId",
        "_search=one",
        "_order=modifiedDate",
        "_fields=votes,voters,options",
    ] {
        paths.push(format!("poll.json?siteId=biology-101&{query}"));
    }
    for query in [
        "_count=exact",
        "_order=votes",
        "votes=1",
        "_expand=poll,owner",
        "_order=text_desc",
    ] {
        paths.push(format!("poll-option.json?siteId=biology-101&{query}"));
    }
    for query in [
        "_count=exact",
        "userId[ne]=x",
        "_order=voteDate",
        "_expand=userId,poll",
        "_order=userId",
        "pollOption=1",
    ] {
        paths.push(format!("poll-vote.json?siteId=biology-101&{query}"));
    }
    for it in options {
        paths.push(format!("poll-vote.json?pollOption={it}"));
    }
    let refs: Vec<_> = votes
        .iter()
        .map(|it| format!("/direct/poll-vote/{it}"))
        .collect();
    paths.push(format!(
        "batch.json?_refs=/direct/poll/{poll},/direct/poll/{poll}/vote,{}",
        refs.join(",")
    ));
    paths.push(format!(
        "poll/{poll}.json?includeVotes=true&includeOptions=true"
    ));
    let paths = paths.into_iter().map(|it| format!("/direct/{it}"));
    let others = [
        "/api/users/me/dashboard",
        "/api/users/me/notifications",
        "/api/users/me/sites",
    ];
    paths.chain(others.map(ToOwned::to_owned)).collect()
}

/// Everything that `client` is answered at these addresses, with all headers but those that are different each time.
async fn everything(
    client: &Client,
    poll: i64,
    options: &[i64],
    votes: &[String],
) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for path in addresses(poll, options, votes) {
        let answer = client.get(&path).await;
        assert!(
            !answer.status.is_server_error(),
            "{path}: {}",
            answer.status
        );
        let is_lasting = |it: &(&http::HeaderName, &http::HeaderValue)| {
            let name = it.0.as_str();
            !matches!(name, "date" | "server-timing") && !name.ends_with("request-id")
        };
        let headers: Vec<_> = answer.headers.iter().filter(is_lasting).collect();
        let text = without_request_ids(answer.text());
        all.insert(path, format!("{} {headers:?}\n{text}", answer.status));
    }
    all
}

/// Leaves the ids of requests out of what errors say.
fn without_request_ids(text: &str) -> String {
    let mut parts = Vec::new();
    for part in text.split_inclusive(['"', '>', '<', ' ']) {
        let id = part.trim_end_matches(['"', '<']);
        let is_id = id.len() == 16 && id.bytes().all(|it| it.is_ascii_hexdigit());
        parts.push(if is_id { "ID" } else { part });
    }
    parts.concat()
}

#[track_caller]
fn assert_equal(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) {
    for (path, answer) in one {
        let again = &other[path];
        assert!(answer == again, "{path}:\n{answer}\n--- and\n{again}");
    }
}

both! {
    async fn others_see_the_same_before_and_after_a_vote_for_each_option(app: TestApp) {
        if is_left_out(&app) {
            return;
        }
        let teacher = app.user("instructor1").await;
        let voter = app.user("student1").await;
        let other = app.user("student2").await;
        let (helper, admin) = (app.user("ta1").await, app.user("admin").await);
        for display in ["never", "afterClosing", "afterVoting"] {
            let fields = json!({"displayResult": display, "limitVoting": false});
            let (id, options) = make(&teacher, fields).await;
            let others = [&other, &helper, &teacher, &admin];
            // The id of the vote is known to nobody but the voter; it must tell nothing even so.
            let mut before = Vec::new();
            for client in others {
                before.push(everything(client, id, &options, &[]).await);
            }
            let mut after: Vec<BTreeMap<String, String>> = Vec::new();
            for chosen in [&options[..1], &options[1..2]] {
                assert_eq!(vote(&voter, id, chosen).await, StatusCode::OK);
                let own = list(&voter, &format!("/direct/poll/{id}/vote.json"), "poll-vote").await;
                let key = vec![text(&own[0], "key")];
                for (number, client) in others.iter().enumerate() {
                    let silent = everything(client, id, &options, &[]).await;
                    assert_equal(&before[number], &silent);
                    let asking = everything(client, id, &options, &key).await;
                    for (path, answer) in &asking {
                        let is_vote = path.contains(&format!("/poll-vote/{}.", key[0]));
                        assert!(!is_vote || answer.starts_with("404") || answer.starts_with("406"), "{path}: {answer}");
                    }
                    match after.get(number) {
                        Some(former) => assert_equal(former, &asking),
                        None => after.push(asking),
                    }
                }
            }
        }
    }

    async fn where_results_are_open_they_do_not_say_whose_they_are(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let (one, two) = (app.user("student1").await, app.user("student2").await);
        let watching = [app.user("student3").await, app.user("admin").await];
        let (id, options) = make(&teacher, json!({"limitVoting": false})).await;
        let mut seen: Vec<BTreeMap<String, String>> = Vec::new();
        // The same result twice, with the votes of the two exchanged.
        for (first, second) in [(0, 1), (1, 0)] {
            for (client, option) in [(&one, first), (&two, second)] {
                assert_eq!(vote(client, id, &options[option..][..1]).await, StatusCode::OK);
            }
            for (number, client) in watching.iter().enumerate() {
                let all = everything(client, id, &options, &[]).await;
                assert_eq!(poll(client, id).await["voters"], 2);
                match seen.get(number) {
                    Some(former) => assert_equal(former, &all),
                    None => seen.push(all),
                }
            }
        }
    }

    async fn a_vote_is_that_of_its_sender_whoever_it_names(app: TestApp) {
        let (teacher, other) = (app.user("instructor1").await, app.user("student2").await);
        let (id, options) = make(&teacher, json!({})).await;
        let named = id_of(&app.user("student1").await).await;
        let for_other = json!({"pollId": id, "pollOption": options[0], "userId": named});
        created(&other.post("/direct/poll-vote/new", &for_other).await, "poll-vote");
        assert_eq!(poll(&other, id).await["votes"].as_array().map(Vec::len), Some(1), "the own vote");
    }

    async fn neither_events_nor_the_archive_tell_of_what_was_chosen(app: TestApp) {
        use sea_orm::{ConnectionTrait as _, Database as Connection, Statement};
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let (id, options) = make(&teacher, json!({"text": "Said in the archive"})).await;
        let chosen = options[1].to_string();
        let made = send(&student, "new", id, &options[1..2]).await;
        let key = created(&made, "poll-vote");
        let connection = Connection::connect(app.database().url()).await.expect("it connects");
        for (table, said) in [
            ("outbox", "kind || ' ' || reference || ' ' || coalesce(details, '')"),
            ("audit", "method || ' ' || path"),
        ] {
            let sql = format!("SELECT {said} AS said FROM {table}");
            let statement = Statement::from_string(connection.get_database_backend(), sql);
            let rows = connection.query_all_raw(statement).await.expect("rows");
            let said = rows.iter().map(|it| it.try_get::<String>("", "said").expect("a text"));
            let of_vote: Vec<_> = said.filter(|it| it.contains("poll-vote")).collect();
            assert!(!of_vote.is_empty(), "{table} tells that there was a vote");
            assert!(of_vote.iter().all(|it| !it.contains(&chosen)), "{of_vote:?}");
        }
        let path = app.database().folder().join("polls.zip");
        server::operate::archive::export(app.service(), SITE, &path, |_| ()).await.expect("an archive");
        let mut zip = zip::ZipArchive::new(std::fs::File::open(path).expect("a file")).expect("an archive");
        let mut said = false;
        for number in 0..zip.len() {
            let mut file = zip.by_index(number).expect("a part");
            let name = file.name().expect("a name").into_owned();
            assert!(!name.contains("poll-vote") && !name.contains("poll_vote"), "{name}");
            let mut content = Vec::new();
            std::io::Read::read_to_end(&mut file, &mut content).expect("bytes");
            let content = String::from_utf8_lossy(&content);
            said |= content.contains("Said in the archive");
            assert!(!content.contains(&format!("\"{key}\"")), "{name}");
        }
        assert!(said, "the poll is in the archive");
    }
}
