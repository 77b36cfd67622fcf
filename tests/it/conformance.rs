//! The checks that every type has to pass: our own types pass them, faulty ones do not.

mod faults;

mod syllabus {
    use entity_providers::courses::syllabus::SyllabusItem;

    lectern_testing::conformance!(SyllabusItem, {
        "attachments": [{"name": "a & b.pdf", "url": "https://example.edu/a.pdf"}],
    });
}

mod chat {
    use entity_providers::talk::chat::ChatChannel;

    lectern_testing::conformance!(ChatChannel, {"filterType": "SelectMessagesByTime", "filterParam": 7});
}

mod webcontent {
    use entity_providers::courses::webcontent::WebContent;
    use lectern_testing::TestApp;
    use serde_json::{Value, json};

    lectern_testing::conformance!(WebContent, {"url": "https://example.edu/a?b=c&d"});

    async fn page(_app: &TestApp, site: &str, number: usize) -> Value {
        json!({
            "siteId": site,
            "title": format!("Page {number}"),
            "url": format!("https://example.edu/{number}"),
        })
    }

    lectern_testing::conformance!(made: WebContent, make = page);
}

mod news {
    use entity_providers::courses::webcontent::NewsFeed;

    lectern_testing::conformance!(NewsFeed, {"url": "https://example.edu/news.rss"});
}

mod webhook {
    use entity_providers::face::webhook::Webhook;

    lectern_testing::conformance!(Webhook, {"url": "https://example.edu/a?b=c&d", "kinds": ["annc.new"]});
}

mod content {
    use serde_json::json;

    /// Something without a folder is put into that of its site.
    const IN_FOLDERS: [&str; 1] = ["fields_come_back_as_they_were_sent"];

    async fn prove(backend: lectern_testing::Backend) {
        let given = json!({
            "webLinkUrl": "https://example.edu/a",
            "type": "text/url",
            "folderId": null,
            "releaseDate": "2026-11-01T10:00:00Z",
            "retractDate": "2027-11-01T10:00:00Z",
        });
        super::prove_all_but(&IN_FOLDERS, backend, "content", given).await;
    }

    super::on_both!();
}

mod term {
    use entity_providers::people::term::Term;

    lectern_testing::conformance!(Term, {"from": "2026-09-01T00:00:00Z", "to": "2027-02-01T00:00:00Z"});
}

mod task {
    use serde_json::json;

    /// A task is for one person, and the one check reads as somebody else than who wrote it. Tasks may be of no site, as those
    /// are that the other check makes.
    const OF_OTHERS: [&str; 2] = [
        "fields_come_back_as_they_were_sent",
        "entities_end_with_their_site",
    ];

    async fn prove(backend: lectern_testing::Backend) {
        let given = json!({
            "starts": 1_795_000_000_000_i64, "due": 1_796_000_000_000_i64, "priority": 4,
        });
        super::prove_all_but(&OF_OTHERS, backend, "task", given).await;
    }

    super::on_both!();
}

mod announcement {
    use entity_providers::courses::announcement::Announcement;

    lectern_testing::conformance!(Announcement, {
        "attachments": [{"name": "a & b.pdf", "url": "https://example.edu/a.pdf"}],
    });
}

mod assignment {
    use entity_providers::courses::assignment::Assignment;

    lectern_testing::conformance!(Assignment, {
        "attachments": [{"name": "a & b.pdf", "url": "https://example.edu/a.pdf"}],
        "gradeScaleMaxPoints": "100",
        "inGradebook": false,
        "openTime": "2026-11-01T10:00:00Z",
        "dueTime": "2026-12-01T10:00:00Z",
        "closeTime": "2026-12-01T10:00:00Z",
    });
}

mod conversations {
    use serde_json::json;

    /// A topic has groups for one visibility only.
    const GROUPED: [&str; 1] = ["fields_come_back_as_they_were_sent"];

    async fn prove(backend: lectern_testing::Backend) {
        let given = json!({"dueDate": null, "hideDate": null, "lockDate": null, "showDate": null, "visibility": "SITE"});
        super::prove_all_but(&GROUPED, backend, "conversations", given).await;
    }

    super::on_both!();
}

mod lessons {
    use entity_providers::courses::lessons::Lesson;

    lectern_testing::conformance!(Lesson, {"gradebookPoints": null, "parentId": null});
}

mod lesson_item {
    use entity_providers::courses::lessons::LessonItem;

    lectern_testing::conformance!(LessonItem);
}

mod forums {
    use entity_providers::talk::forums::Forum;

    lectern_testing::conformance!(Forum, {
        "attachments": [{"name": "a & b.pdf", "url": "https://example.edu/a.pdf"}],
        "openDate": 1_790_000_000,
        "closeDate": 1_800_000_000,
    });
}

mod poll {
    use entity_providers::courses::poll::Poll;

    lectern_testing::conformance!(Poll, {
        "minOptions": 1,
        "maxOptions": 2,
        "voteOpen": 1_790_000_000_000_i64,
        "voteClose": 1_800_000_000_000_i64,
    });
}

mod calendar {
    use entity_providers::courses::calendar::CalendarEvent;

    lectern_testing::conformance!(CalendarEvent, {
        "attachments": [{"name": "a & b.pdf", "url": "https://example.edu/a.pdf"}],
        "duration": 5_400_000,
        "firstTime": "2026-11-21T10:00:00Z",
        "lastTime": "2026-11-21T11:30:00Z",
        "recurrenceRule": "FREQ=DAILY;COUNT=3",
        "timeZone": "Europe/Berlin",
    });
}

mod gradebook {
    use serde_json::json;

    async fn prove(backend: lectern_testing::Backend) {
        for prefix in ["gradebook-item", "gradebook-category"] {
            super::prove_all_but(&[], backend, prefix, json!({})).await;
        }
    }

    super::on_both!();
}

mod quiz {
    use serde_json::json;

    /// A list of quizzes is empty unless it names a site, so that it shows less than can be read one by one.
    const OF_WHOLE_LISTS: [&str; 1] = ["callers_see_the_same_in_every_way"];

    async fn prove(backend: lectern_testing::Backend) {
        let given = json!({
            "startDate": 1_795_000_000_000_i64, "dueDate": 1_796_000_000_000_i64, "retractDate": 1_797_000_000_000_i64,
            "lateHandling": 2, "timeLimit": 600, "submissionsAllowed": 3,
        });
        super::prove_all_but(&OF_WHOLE_LISTS, backend, "sam_pub", given).await;
    }

    super::on_both!();
}

/// Makes a test for each kind of database of `prove`.
macro_rules! on_both {
    () => {
        #[tokio::test]
        async fn sqlite() {
            prove(lectern_testing::Backend::Sqlite).await;
        }

        #[tokio::test]
        async fn postgres() {
            prove(lectern_testing::Backend::Postgres).await;
        }
    };
}
use on_both;

/// Proves that the type `prefix` passes all checks but those with the names `left_out`.
async fn prove_all_but(
    left_out: &[&str],
    backend: lectern_testing::Backend,
    prefix: &str,
    given: serde_json::Value,
) {
    let Some(suite) = lectern_testing::conformance::Suite::start(backend, prefix, given).await
    else {
        return;
    };
    let suite = suite.expect("a type that is served");
    for (name, check) in lectern_testing::conformance::CHECKS {
        if !left_out.contains(&name) {
            let verdict = check(&suite).await;
            assert!(verdict.is_ok(), "{prefix} {name}: {verdict:?}");
        }
    }
}
