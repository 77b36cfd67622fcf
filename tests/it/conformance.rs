//! The checks that every type has to pass: our own types pass them, faulty ones do not.

mod faults;

mod syllabus {
    use entity_providers::syllabus::SyllabusItem;

    lectern_testing::conformance!(SyllabusItem, {
        "attachments": [{"name": "a & b.pdf", "url": "https://example.edu/a.pdf"}],
    });
}

mod term {
    use entity_providers::term::Term;

    lectern_testing::conformance!(Term, {"from": "2026-09-01T00:00:00Z", "to": "2027-02-01T00:00:00Z"});
}

mod announcement {
    use entity_providers::announcement::Announcement;

    lectern_testing::conformance!(Announcement, {
        "attachments": [{"name": "a & b.pdf", "url": "https://example.edu/a.pdf"}],
    });
}

mod assignment {
    use entity_providers::assignment::Assignment;

    lectern_testing::conformance!(Assignment, {
        "attachments": [{"name": "a & b.pdf", "url": "https://example.edu/a.pdf"}],
        "gradeScaleMaxPoints": "100",
        "inGradebook": false,
        "openTime": "2026-11-01T10:00:00Z",
        "dueTime": "2026-12-01T10:00:00Z",
        "closeTime": "2026-12-01T10:00:00Z",
    });
}

mod calendar {
    use entity_providers::calendar::CalendarEvent;

    lectern_testing::conformance!(CalendarEvent, {
        "attachments": [{"name": "a & b.pdf", "url": "https://example.edu/a.pdf"}],
        "duration": 5_400_000,
        "recurrenceRule": "FREQ=DAILY;COUNT=3",
        "timeZone": "Europe/Berlin",
    });
}

mod gradebook {
    use lectern_testing::Backend;
    use lectern_testing::conformance::{CHECKS, Suite};
    use serde_json::json;

    /// The checks that write the same name again and again, which these types refuse: no two of a site have one name.
    const REPEATING: [&str; 2] = ["fields_come_back_as_they_were_sent", "versions_hold"];

    async fn prove(backend: Backend) {
        for prefix in ["gradebook-item", "gradebook-category"] {
            let Some(suite) = Suite::start(backend, prefix, json!({})).await else {
                return;
            };
            let suite = suite.expect("a type that is served");
            for (name, check) in CHECKS {
                if !REPEATING.contains(&name) {
                    let verdict = check(&suite).await;
                    assert!(verdict.is_ok(), "{prefix} {name}: {verdict:?}");
                }
            }
        }
    }

    #[tokio::test]
    async fn sqlite() {
        prove(Backend::Sqlite).await;
    }

    #[tokio::test]
    async fn postgres() {
        prove(Backend::Postgres).await;
    }
}
