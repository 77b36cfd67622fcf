//! Voting: the statuses that clients know, times, how many options, other votes, and two votes at once.

use futures::future::join_all;
use sea_orm::{ConnectionTrait as _, Database as Connection, Statement};

use super::*;

/// Counts the rows with votes in the poll.
async fn rows(app: &TestApp, poll: i64) -> i64 {
    let connection = Connection::connect(app.database().url()).await;
    let connection = connection.expect("it connects");
    let sql = format!("SELECT count(*) AS n FROM poll_vote WHERE poll_id = '{poll}'");
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    let row = connection
        .query_one_raw(statement)
        .await
        .expect("an answer");
    row.expect("a row").try_get("", "n").expect("a number")
}

async fn send_body(client: &Client, path: &str, media_type: &str, body: &str) -> Answer {
    let body = body.to_owned().into();
    client
        .send(http::Method::POST, path, media_type, body)
        .await
}

both! {
    async fn the_statuses_of_votes_are_those_that_clients_know(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let (id, options) = make(&teacher, json!({"minOptions": 1, "maxOptions": 2, "limitVoting": false})).await;
        let (_, foreign) = make(&teacher, json!({})).await;
        for way in ["new", "vote", "own"] {
            for (chosen, status) in [
                (vec![], StatusCode::BAD_REQUEST),
                (options.clone(), StatusCode::BAD_REQUEST),
                (vec![foreign[0]], StatusCode::BAD_REQUEST),
                (vec![options[0], 1], StatusCode::BAD_REQUEST),
            ] {
                send(&student, way, id, &chosen).await.expect(status);
            }
            for fields in [
                json!({"pollId": "x", "pollOption": options[0]}),
                json!({"pollId": id, "pollOption": "x"}),
                json!({"pollId": id, "pollOption": [options[0], "x"]}),
                json!({"pollId": true, "pollOption": options[0]}),
            ] {
                let path = match way {
                    "own" => format!("/direct/poll/{id}/vote"),
                    way => format!("/direct/poll-vote/{way}"),
                };
                student.post(&path, &fields).await.expect(StatusCode::NOT_ACCEPTABLE);
            }
        }
        for way in ["new", "vote"] {
            let path = format!("/direct/poll-vote/{way}");
            for fields in [json!({}), json!({"pollOption": options[0]}), json!({"pollId": 1, "pollOption": options[0]})] {
                student.post(&path, &fields).await.expect(StatusCode::BAD_REQUEST);
            }
            student.post(&path, &json!({"pollId": id, "pollOption": options[0], "x": 1})).await.expect(StatusCode::BAD_REQUEST);
        }
        assert_eq!(rows(&app, id).await, 0);
        let made = student.post("/direct/poll-vote/new", &json!({"pollId": id, "pollOption": options[0]})).await;
        let vote = created(&made, "poll-vote");
        let own = read(&student, &format!("/direct/poll-vote/{vote}.json")).await;
        assert_eq!(own["pollOption"], json!([options[0]]));
        assert_eq!(own, made.json());
        for way in ["vote", "own"] {
            send(&student, way, id, &options[1..]).await.expect(StatusCode::OK);
            let mut sorted = options[1..].to_vec();
            sorted.sort_unstable();
            let own = read(&student, &format!("/direct/poll-vote/{vote}.json")).await;
            assert_eq!(own["pollOption"], json!(sorted), "the same vote");
        }
        assert_eq!(rows(&app, id).await, 1);
    }

    async fn votes_are_sent_in_every_form(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let (id, options) = make(&teacher, json!({"maxOptions": 2})).await;
        let (one, two) = (options[0], options[1]);
        let xml = |inner: &str| format!("<poll-vote><pollId>{id}</pollId>{inner}</poll-vote>");
        for (number, (media_type, sent, expected)) in [
            (FORM, format!("pollId={id}&pollOption={one}&pollOption={two}"), vec![one, two]),
            (FORM, format!("pollId={id}&pollOption={two}"), vec![two]),
            (FORM, format!("pollId={id}&pollOption={one}%0D%0A{two}"), vec![one, two]),
            (JSON, json!({"pollId": id.to_string(), "pollOption": one.to_string()}).to_string(), vec![one]),
            (JSON, json!({"pollId": id, "pollOption": [one, one]}).to_string(), vec![one]),
            (XML, xml(&format!("<pollOption>{two}</pollOption>")), vec![two]),
            (XML, xml(&format!("<pollOption><o>{one}</o><o>{two}</o></pollOption>")), vec![one, two]),
        ]
        .into_iter()
        .enumerate()
        {
            let (way, status) = match number % 2 {
                0 => ("new", StatusCode::CREATED),
                _ => ("vote", StatusCode::OK),
            };
            let student = app.user(&format!("student{}", number + 1)).await;
            send_body(&student, &format!("/direct/poll-vote/{way}"), media_type, &sent).await.expect(status);
            let own = list(&student, &format!("/direct/poll/{id}/vote.json"), "poll-vote").await;
            let mut expected = expected;
            expected.sort_unstable();
            assert_eq!(own[0]["pollOption"], json!(expected), "{sent}");
        }
    }

    async fn votes_count_between_opening_and_closing_by_the_clock_of_the_service(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let fields = json!({"voteOpen": at(&app, 10), "voteClose": at(&app, 20), "limitVoting": false});
        let (id, options) = make(&teacher, fields).await;
        for (seconds, status) in [
            (9, StatusCode::FORBIDDEN),
            (1, StatusCode::OK),
            (9, StatusCode::OK),
            (1, StatusCode::FORBIDDEN),
            (100, StatusCode::FORBIDDEN),
        ] {
            app.advance(TimeDelta::seconds(seconds));
            assert_eq!(vote(&teacher, id, &options[..1]).await, status, "after {seconds} more");
        }
        send(&student, "new", id, &options[..1]).await.expect(StatusCode::FORBIDDEN);
        send(&student, "own", id, &options[..1]).await.expect(StatusCode::FORBIDDEN);
    }

    async fn a_vote_stays_or_changes_as_the_poll_says(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        for limited in [true, false] {
            let (id, options) = make(&teacher, json!({"limitVoting": limited})).await;
            assert_eq!(poll(&student, id).await["currentUserVoted"], false);
            assert_eq!(vote(&student, id, &options[..1]).await, StatusCode::OK);
            for way in ["vote", "own", "new"] {
                let again = send(&student, way, id, &options[1..2]).await.status;
                let done = if way == "new" { StatusCode::CREATED } else { StatusCode::OK };
                assert_eq!(again, if limited { StatusCode::FORBIDDEN } else { done }, "{way}");
            }
            let seen = poll(&student, id).await;
            assert_eq!((&seen["currentUserVoted"], &seen["voters"]), (&json!(true), &json!(1)));
            let counted = if limited { [1, 0, 0] } else { [0, 1, 0] };
            for (option, votes) in seen["options"].as_array().expect("a list").iter().zip(counted) {
                assert_eq!(option["votes"], votes);
            }
            assert_eq!(seen["votes"][0]["pollOption"], options[usize::from(!limited)]);
            assert_eq!(rows(&app, id).await, 1);
        }
    }

    async fn two_votes_at_once_count_once(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        for limited in [true, false] {
            let (id, options) = make(&teacher, json!({"limitVoting": limited})).await;
            let ways = ["new", "vote", "own", "new", "vote", "own"];
            let votes = ways.iter().enumerate().map(|(number, way)| {
                let (student, options) = (&student, &options);
                async move { send(student, way, id, &options[number % 3..][..1]).await.status }
            });
            let done = join_all(votes).await;
            let count = done.iter().filter(|it| it.is_success()).count();
            let refused = done.iter().filter(|it| **it == StatusCode::FORBIDDEN).count();
            assert_eq!((count, refused), if limited { (1, 5) } else { (6, 0) }, "{done:?}");
            assert_eq!(rows(&app, id).await, 1);
            let seen = poll(&teacher, id).await;
            assert_eq!(seen["voters"], 1);
            let counted: i64 = seen["options"].as_array().expect("a list").iter().map(|it| whole(it, "votes")).sum();
            assert_eq!(counted, 1);
        }
    }

    async fn the_database_itself_takes_no_second_vote(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let (id, options) = make(&teacher, json!({})).await;
        assert_eq!(vote(&student, id, &options[..1]).await, StatusCode::OK);
        let connection = Connection::connect(app.database().url()).await.expect("it connects");
        let sql = format!(
            "INSERT INTO poll_vote SELECT '1', poll_id, chosen, site_id, user_id, vote_date, place, version \
             FROM poll_vote WHERE poll_id = '{id}'"
        );
        let columns = "INSERT INTO poll_vote (vote_id, poll_id, chosen, site_id, user_id, vote_date, place, version) SELECT";
        let sql = sql.replace("INSERT INTO poll_vote SELECT", columns);
        let error = connection.execute_unprepared(&sql).await.expect_err("a second row");
        assert!(error.to_string().to_lowercase().contains("unique"), "{error}");
    }

    async fn a_ballot_is_a_form(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let (id, options) = make(&teacher, json!({"maxOptions": 2, "text": "Tea & cake?"})).await;
        let page = student.get(&format!("/direct/poll/{id}.html")).await;
        assert!(page.text().contains(&format!("href=\"/direct/poll/{id}/ballot.html\"")), "{}", page.text());
        let ballot = student.get(&format!("/direct/poll/{id}/ballot.html")).await;
        assert!(ballot.expect(StatusCode::OK).text().contains("Tea &#38; cake?"), "{}", ballot.text());
        assert!(ballot.text().contains(&format!("/direct/poll/{id}/vote\"")), "{}", ballot.text());
        let form = format!("pollOption=&pollOption={}&pollOption={}", options[0], options[2]);
        let path = format!("/direct/poll/{id}/vote");
        send_body(&student, &path, FORM, &form).await.expect(StatusCode::OK);
        let page = student.get(&format!("/direct/poll/{id}.html")).await;
        assert!(!page.text().contains("ballot.html"), "a vote stays as it is: {}", page.text());
        let own = read(&student, &format!("/direct/poll/{id}/ballot.json")).await;
        assert_eq!(own["sendings"], json!([]));
        assert_eq!(own["prompts"][0]["choices"][2]["isChosen"], true);
    }
}
