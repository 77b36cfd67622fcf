//! The callers who see the number of votes of each option, and the time from which they do.

use super::*;

/// The number of votes for the first option, wherever `client` may ask for it. All answers must agree.
async fn shown(client: &Client, poll: i64, option: i64) -> Option<i64> {
    let mut found = Vec::new();
    let whole = read(client, &format!("/direct/poll/{poll}.json")).await;
    let of_poll = |poll: &Value| {
        let options = poll["options"].as_array().expect("a list").clone();
        let own = options.into_iter().find(|it| it["optionId"] == option);
        own.expect("the option")["votes"].as_i64()
    };
    found.push(of_poll(&whole));
    assert_eq!(whole["voters"].is_null(), found[0].is_none(), "{whole}");
    let all = list(client, OF_BIOLOGY, "poll").await;
    found.extend(all.iter().filter(|it| it["pollId"] == poll).map(of_poll));
    found.push(read(client, &format!("/direct/poll-option/{option}.json")).await["votes"].as_i64());
    for path in [
        format!("/direct/poll/{poll}/option.json"),
        format!("/direct/poll-option.json?pollId={poll}"),
    ] {
        let all = list(client, &path, "poll-option").await;
        let own = all.iter().filter(|it| it["optionId"] == option);
        found.extend(own.map(|it| it["votes"].as_i64()));
    }
    assert_eq!(found.len(), 5, "{found:?}");
    assert!(found.iter().all(|it| *it == found[0]), "{found:?}");
    found[0]
}

both! {
    async fn results_are_shown_when_the_poll_says_so(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let (voter, other) = (app.user("student1").await, app.user("student2").await);
        let (helper, admin) = (app.user("ta1").await, app.user("admin").await);
        let callers = [&voter, &other, &helper, &teacher, &admin];
        // While the poll is open, and when it is over: who of the callers sees results.
        let table: [(&str, [bool; 5], [bool; 5]); 4] = [
            ("open", [true, true, true, true, true], [true, true, true, true, true]),
            ("afterVoting", [true, false, false, false, false], [true, false, false, true, true]),
            ("afterClosing", [false, false, false, false, false], [true, true, true, true, true]),
            ("never", [false, false, false, false, false], [false, false, false, true, true]),
        ];
        for (display, during, after) in table {
            let fields = json!({"displayResult": display, "voteClose": at(&app, 60)});
            let (id, options) = make(&teacher, fields).await;
            for (caller, sees) in callers.iter().zip(during) {
                let is_voter = std::ptr::eq(*caller, &raw const voter);
                // Before anybody has voted, those who see results see none; and nobody has voted yet.
                let sees = sees && !(is_voter && display == "afterVoting");
                assert_eq!(shown(caller, id, options[0]).await, sees.then_some(0), "{display}, unvoted");
            }
            assert_eq!(vote(&voter, id, &options[..1]).await, StatusCode::OK);
            for (number, (caller, sees)) in callers.iter().zip(during).enumerate() {
                assert_eq!(shown(caller, id, options[0]).await, sees.then_some(1), "{display}, open, {number}");
            }
            app.advance(TimeDelta::seconds(59));
            assert_eq!(shown(&other, id, options[0]).await, during[1].then_some(1), "{display}, at the last second");
            app.advance(TimeDelta::seconds(1));
            for (number, (caller, sees)) in callers.iter().zip(after).enumerate() {
                assert_eq!(shown(caller, id, options[0]).await, sees.then_some(1), "{display}, over, {number}");
            }
        }
    }

    async fn y60_what_was_promised_at_the_first_vote_stays(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let (id, options) = make(&teacher, json!({"displayResult": "never"})).await;
        let path = format!("/direct/poll/{id}");
        for display in ["open", "afterVoting"] {
            teacher.put(&path, &json!({"displayResult": display})).await.expect(StatusCode::NO_CONTENT);
        }
        teacher.put(&path, &json!({"displayResult": "sometimes"})).await.expect(StatusCode::BAD_REQUEST);
        // A dry run of a vote tells no result.
        let dry = student.clone().with_header(http::HeaderName::from_static("prefer"), "tx=rollback");
        let before = read(&student, &format!("{path}.json")).await;
        let ballot = json!({"pollOption": [options[0]]});
        let told = dry.post(&format!("{path}/vote.json"), &ballot).await.expect(StatusCode::OK).json();
        assert_eq!(told, before);
        assert_eq!(vote(&teacher, id, &options[..1]).await, StatusCode::OK);
        assert_eq!((shown(&student, id, options[0]).await, shown(&teacher, id, options[0]).await), (None, Some(1)));
        let prefer = http::HeaderName::from_static("prefer");
        for client in [teacher.clone(), teacher.clone().with_header(prefer, "tx=rollback, return=representation")] {
            client.put(&path, &json!({"displayResult": "open"})).await.expect(StatusCode::CONFLICT);
        }
        assert_eq!(shown(&student, id, options[0]).await, None);
        // What ends early stays ended: its result is no longer that of a poll that runs.
        teacher.put(&path, &json!({"voteClose": at(&app, 60)})).await.expect(StatusCode::NO_CONTENT);
        teacher.put(&path, &json!({"voteClose": at(&app, 120)})).await.expect(StatusCode::NO_CONTENT);
        app.advance(TimeDelta::seconds(121));
        teacher.put(&path, &json!({"voteClose": at(&app, 60)})).await.expect(StatusCode::CONFLICT);
        teacher.put(&path, &json!({"description": "x"})).await.expect(StatusCode::CONFLICT);
    }
}
