//! The forums of the two courses of the demo university.

use chrono::TimeDelta;
use entity_core::db;
use entity_core::wire::Millis;
use entity_core::{Context, Demo, Result};

use super::{Forum, ForumMessage, ForumReading, ForumTopic};
use crate::base::university::{BIOLOGY, HISTORY};

/// How a topic is kept.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Open,
    Draft,
    Moderated,
    PostFirst,
}
use Mark::{Draft, Moderated, Open, PostFirst};

/// A topic: its title, its description, how it is kept, and its messages.
struct Thread(&'static str, &'static str, Mark, &'static [Said]);

/// A message: its author, the message above it, its title and its text. The message above is so many before this one; 0 if
/// it begins a thread.
struct Said(&'static str, usize, &'static str, &'static str);

const LAB: &[Said] = &[
    Said(
        "student1",
        0,
        "Which stain for onion cells?",
        "<p>The sheet says iodine, the slides say methylene blue.</p>",
    ),
    Said(
        "ta1",
        1,
        "Re: Which stain for onion cells?",
        "<p>Iodine. The blue one is for your own cheek.</p>",
    ),
    Said(
        "student2",
        1,
        "Re: Which stain for onion cells?",
        "<p>Thank you, I had the same question.</p>",
    ),
    Said(
        "student3",
        0,
        "Lost: a lab coat",
        "<p>Size M, with a burn mark on the left sleeve.</p>",
    ),
];
const EXAM: &[Said] = &[
    Said(
        "instructor1",
        0,
        "What the exam is about",
        "<p>Chapters 1 to 6. Ask here.</p>",
    ),
    Said(
        "student2",
        1,
        "Re: What the exam is about",
        "<p>Will there be drawings?</p>",
    ),
];
const MARSH: &[Said] = &[Said(
    "instructor1",
    0,
    "Why do mangroves grow in salt water?",
    "<p>Write what you think before you read the others.</p>",
)];
const GUILDS: &[Said] = &[
    Said(
        "instructor2",
        0,
        "Who was left out?",
        "<p>Find one example in the sources of week 2.</p>",
    ),
    Said(
        "student1",
        1,
        "Re: Who was left out?",
        "<p>Weavers from the villages around the town.</p>",
    ),
];

const QUESTIONS: &[Thread] = &[
    Thread("The lab", "Stains, slides and lost coats", Open, LAB),
    Thread(
        "The exam",
        "Answers come from the instructor",
        Moderated,
        EXAM,
    ),
];
const READING: &[Thread] = &[
    Thread("The salt marsh", "Write first, then read", PostFirst, MARSH),
    Thread("Mutants", "Not ready yet", Draft, &[]),
];
const SOURCES: &[Thread] = &[Thread("Guilds", "Masters and outsiders", Open, GUILDS)];

/// The forums: the site, the author, the title and the topics.
const FORUMS: &[(&str, &str, &str, &[Thread])] = &[
    (
        BIOLOGY,
        "instructor1",
        "Questions about the course",
        QUESTIONS,
    ),
    (BIOLOGY, "instructor1", "Reading circle", READING),
    (HISTORY, "instructor2", "Reading the sources", SOURCES),
];

/// Adds the forums with what is in them, and returns the number of forums.
pub(super) async fn fill(cx: &Context, demo: &Demo) -> Result<usize> {
    for ((site, author, title, topics), day) in FORUMS.iter().zip([22, 21, 20]) {
        let author = demo.person(author)?.to_owned();
        let (site, made) = ((*site).to_owned(), days_ago(cx, day));
        let forum = Forum {
            key: db::new_number::<Forum>(cx).await?,
            site_id: site.clone(),
            title: (*title).to_owned(),
            creator: author.clone(),
            modifier: author.clone(),
            created: made,
            modified: made,
            version: 1,
            ..Forum::default()
        };
        db::insert(cx, &forum).await?;
        for (Thread(title, description, mark, said), day) in topics.iter().zip([19, 18]) {
            let made = days_ago(cx, day);
            let topic = ForumTopic {
                key: db::new_number::<ForumTopic>(cx).await?,
                forum: forum.key.clone(),
                site_id: site.clone(),
                title: (*title).to_owned(),
                short_description: (*description).to_owned(),
                is_draft: *mark == Draft,
                is_moderated: *mark == Moderated,
                is_post_first: *mark == PostFirst,
                creator: author.clone(),
                modifier: author.clone(),
                created: made,
                modified: made,
                version: 1,
                ..ForumTopic::default()
            };
            db::insert(cx, &topic).await?;
            tell(cx, demo, &topic, said).await?;
        }
    }
    Ok(FORUMS.len())
}

/// Adds the messages of a topic, one a day. The authors of replies have read what they reply to.
async fn tell(cx: &Context, demo: &Demo, topic: &ForumTopic, said: &[Said]) -> Result<()> {
    let mut told: Vec<ForumMessage> = Vec::new();
    for (Said(author, back, title, body), day) in said.iter().zip([9, 8, 7, 6]) {
        let author_id = demo.person(author)?.to_owned();
        let above = told.iter().rev().nth(back.saturating_sub(1));
        let above = above.filter(|_| *back > 0);
        let key = db::new_number::<ForumMessage>(cx).await?;
        let made = days_ago(cx, day);
        let message = ForumMessage {
            thread: above.map_or_else(|| key.clone(), |it| it.thread.clone()),
            reply_to: above.and_then(|it| it.key.parse().ok()),
            indent_index: above.map_or(0, |it| it.indent_index.saturating_add(1)),
            key,
            topic: topic.key.clone(),
            site_id: topic.site_id.clone(),
            title: (*title).to_owned(),
            body: (*body).to_owned(),
            is_approved: !topic.is_moderated || author.starts_with("instructor"),
            modified_by: author_id.clone(),
            author_id,
            created: made,
            modified: made,
            version: 1,
            ..ForumMessage::default()
        };
        db::insert(cx, &message).await?;
        if let Some(above) = above {
            ForumReading::insert(cx, above, &message.author_id).await?;
        }
        told.push(message);
    }
    Ok(())
}

fn days_ago(cx: &Context, days: i64) -> Millis {
    let then = cx.now().checked_sub_signed(TimeDelta::days(days));
    Millis(then.unwrap_or(cx.now()))
}
