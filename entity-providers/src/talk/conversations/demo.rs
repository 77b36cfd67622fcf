//! Conversations of the first course of the demo university.

use chrono::TimeDelta;
use entity_core::db;
use entity_core::wire::Millis;
use entity_core::{Context, Demo, Result};

use super::{TagIds, Topic, TopicComment, TopicPost, TopicTag};
use crate::base::university::{BIOLOGY, LAB_A};

/// A topic: its author, its type, its title and text, how many hours ago it was written, its feature, and the posts.
struct Plan(
    &'static str,
    &'static str,
    [&'static str; 2],
    i64,
    Mark,
    &'static [Post],
);

/// A post: its author, its text, whether it answers the post before it, and the authors and texts of comments.
struct Post(
    &'static str,
    &'static str,
    bool,
    &'static [[&'static str; 2]],
);

/// The feature of a topic.
#[derive(PartialEq)]
enum Mark {
    Plain,
    Pinned,
    Hidden,
    ForLabA,
    ForInstructors,
}

const PLANS: &[Plan] = &[
    Plan(
        "student1",
        "QUESTION",
        [
            "How do I tell xylem from phloem?",
            "<p>Under the microscope both look like rings to me.</p>",
        ],
        60,
        Mark::Plain,
        &[
            Post(
                "student2",
                "<p>The stained ones are xylem, I think.</p>",
                false,
                &[],
            ),
            Post(
                "instructor1",
                "<p>Look at the walls: those of xylem are thick and <strong>stained red</strong>.</p>",
                false,
                &[["student1", "<p>Now I see it, thank you!</p>"]],
            ),
        ],
    ),
    Plan(
        "instructor1",
        "DISCUSSION",
        [
            "Which plant for the windowsill?",
            "<p>We watch one plant through the term. Suggest one, with a reason.</p>",
        ],
        48,
        Mark::Pinned,
        &[
            Post("student3", "<p>A bean: it grows fast.</p>", false, &[]),
            Post(
                "student1",
                "<p>But it needs something to climb on.</p>",
                true,
                &[],
            ),
            Post("ta1", "<p>There are sticks in the lab.</p>", true, &[]),
        ],
    ),
    Plan(
        "ta1",
        "DISCUSSION",
        [
            "Lab A: who brings what?",
            "<p>We need onions, salt and a sharp knife.</p>",
        ],
        30,
        Mark::ForLabA,
        &[Post("student1", "<p>I bring the onions.</p>", false, &[])],
    ),
    Plan(
        "instructor1",
        "QUESTION",
        [
            "What was hard in the first exercise?",
            "<p>To be shown after the exercise.</p>",
        ],
        20,
        Mark::Hidden,
        &[],
    ),
    Plan(
        "instructor1",
        "DISCUSSION",
        [
            "How strict are we with late reports?",
            "<p>Two came in on Monday.</p>",
        ],
        10,
        Mark::ForInstructors,
        &[Post(
            "ta1",
            "<p>One day is fine, I would say.</p>",
            false,
            &[],
        )],
    ),
];

/// Adds the topics with their posts and comments, and returns the number of topics.
pub(super) async fn fill(cx: &Context, demo: &Demo) -> Result<usize> {
    let mut tags = Vec::new();
    for label in ["Lectures", "Labs"] {
        let tag = TopicTag {
            id: db::new_number::<TopicTag>(cx).await?,
            site_id: BIOLOGY.to_owned(),
            label: label.to_owned(),
            version: 1,
            ..TopicTag::default()
        };
        db::insert(cx, &tag).await?;
        tags.push(tag.id);
    }
    for plan in PLANS {
        let mut topic = plan.topic(cx, demo)?;
        if plan.4 == Mark::ForLabA {
            topic.tags = TagIds(tags.last().cloned().into_iter().collect());
        }
        db::insert(cx, &topic).await?;
        let mut above: Option<TopicPost> = None;
        for (post, hours) in plan.5.iter().zip(1..) {
            let written = ago(cx, plan.3 - hours);
            let made = post.post(cx, demo, &topic, above.as_ref().filter(|_| post.2), written)?;
            db::insert(cx, &made).await?;
            for [author, text] in post.3 {
                let author = demo.person(author)?.to_owned();
                let comment = TopicComment {
                    id: cx.new_id(),
                    post_id: made.id.clone(),
                    topic_id: topic.id.clone(),
                    site_id: BIOLOGY.to_owned(),
                    message: (*text).to_owned(),
                    creator: author.clone(),
                    created: written,
                    modifier: author,
                    modified: written,
                    version: 1,
                    ..TopicComment::default()
                };
                db::insert(cx, &comment).await?;
            }
            above = Some(made);
        }
    }
    Ok(PLANS.len())
}

impl Plan {
    fn topic(&self, cx: &Context, demo: &Demo) -> Result<Topic> {
        let author = demo.person(self.0)?.to_owned();
        let written = ago(cx, self.3);
        let [title, message] = self.2.map(ToOwned::to_owned);
        let (visibility, groups) = match self.4 {
            Mark::ForLabA => ("GROUP", vec![demo.group(LAB_A)?.to_owned()]),
            Mark::ForInstructors => ("INSTRUCTORS", Vec::new()),
            _ => ("SITE", Vec::new()),
        };
        Ok(Topic {
            id: cx.new_id(),
            title,
            message,
            kind: self.1.to_owned(),
            site_id: BIOLOGY.to_owned(),
            creator: author.clone(),
            created: written,
            modifier: author,
            modified: written,
            visibility: visibility.to_owned(),
            for_instructors: self.4 == Mark::ForInstructors,
            groups,
            pinned: self.4 == Mark::Pinned,
            hidden: self.4 == Mark::Hidden,
            version: 1,
            ..Topic::default()
        })
    }
}

impl Post {
    fn post(
        &self,
        cx: &Context,
        demo: &Demo,
        topic: &Topic,
        above: Option<&TopicPost>,
        written: Millis,
    ) -> Result<TopicPost> {
        let author = demo.person(self.0)?.to_owned();
        let thread = above.map(|it| it.parent_thread.clone().unwrap_or_else(|| it.id.clone()));
        Ok(TopicPost {
            id: cx.new_id(),
            topic_id: topic.id.clone(),
            site_id: topic.site_id.clone(),
            parent_post: above.map(|it| it.id.clone()),
            parent_thread: thread,
            depth: above.map_or(1, |it| it.depth + 1),
            message: self.1.to_owned(),
            is_instructor: matches!(self.0, "instructor1" | "ta1"),
            creator: author.clone(),
            created: written,
            modifier: author,
            modified: written,
            answers_to: above.map_or(&topic.creator, |it| &it.creator).clone(),
            version: 1,
            ..TopicPost::default()
        })
    }
}

fn ago(cx: &Context, hours: i64) -> Millis {
    let before = TimeDelta::try_hours(hours).unwrap_or_default();
    let at = cx.now().checked_sub_signed(before);
    Millis(at.unwrap_or_else(|| cx.now()))
}
