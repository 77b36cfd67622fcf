//! Topics, posts, comments and marks in each state that the policy names.

use chrono::TimeDelta;
use entity_core::wire::Millis;
use entity_providers::talk::conversations::{
    ConversationAgreement, ConversationSettings, Topic, TopicComment, TopicMark, TopicPost,
    TopicTag,
};
use http::Method;
use serde_json::{Value, json};

use super::requests::{JSON, Question, Shows};
use super::rows::Rows;
use super::subject::Subject;
use super::world::{Caller, World, made, place};

fn comment(subject: &Subject, post: &TopicPost, author: &str) -> TopicComment {
    TopicComment {
        id: subject.id.clone(),
        post_id: post.id.clone(),
        topic_id: post.topic_id.clone(),
        site_id: post.site_id.clone(),
        message: subject.marker.clone(),
        creator: author.to_owned(),
        created: made(),
        modifier: author.to_owned(),
        modified: made(),
        version: 1,
        ..TopicComment::default()
    }
}

fn mark(subject: &Subject, topic: &Topic, user: &str) -> TopicMark {
    TopicMark {
        mark_id: subject.id.clone(),
        site_id: topic.site_id.clone(),
        topic_id: topic.id.clone(),
        user_id: user.to_owned(),
        bookmarked: true,
        modified: made(),
        ..TopicMark::default()
    }
}

/// The settings of a site in which everything is switched on, with a text.
fn settings(id: &str, site: &str, text: &str) -> ConversationSettings {
    ConversationSettings {
        id: id.to_owned(),
        site_id: site.to_owned(),
        allow_bookmarking: true,
        allow_reactions: true,
        allow_upvoting: true,
        allow_anon_posting: true,
        allow_pinning: true,
        guidelines: text.to_owned(),
        modified: made(),
        version: 1,
        ..ConversationSettings::default()
    }
}

impl World {
    /// A tag, settings, or an agreement.
    pub(super) async fn of_site(&self, kind: &str, state: &str, caller: &Caller) -> Subject {
        let marker = self.new_marker();
        let site = self.sites[place(state)].clone();
        let user = &self.owner(state, caller, "peer").id;
        let mut rows = Rows::default();
        let id = match kind {
            "conversations-tag" => {
                let digits = marker.trim_start_matches(|it: char| !it.is_ascii_digit());
                let id = format!("9{digits}");
                rows.add(TopicTag {
                    id: id.clone(),
                    site_id: site.clone(),
                    label: marker.clone(),
                    version: 1,
                    ..TopicTag::default()
                });
                id
            }
            "conversations-settings" => {
                rows.settings.push(settings(&marker, &site, &marker));
                marker.clone()
            }
            _ => {
                let id = format!("{marker}:{user}");
                rows.add(ConversationAgreement {
                    agreement_id: id.clone(),
                    site_id: site.clone(),
                    user_id: user.clone(),
                    agreed: made(),
                    ..ConversationAgreement::default()
                });
                id
            }
        };
        let is_new = state.starts_with("in-");
        if !is_new && state != "unknown" {
            self.store(rows).await;
        }
        Subject {
            id,
            site,
            marker: if is_new { self.new_marker() } else { marker },
            ..Subject::default()
        }
    }

    /// A topic, a post or a comment, whose text is the word to look for, or a mark at a topic with that title.
    pub(super) async fn conversation(&self, kind: &str, state: &str, caller: &Caller) -> Subject {
        let place = place(state);
        let marker = self.new_marker();
        let is_topic = kind == "conversations";
        let author = &self.owner(state, caller, "author").id;
        let mut topic = self.new_topic(&marker, &self.sites[place]);
        let mut post = TopicPost {
            id: format!("{marker}-post"),
            topic_id: topic.id.clone(),
            site_id: topic.site_id.clone(),
            depth: 1,
            message: if is_topic { "Text" } else { &marker }.to_owned(),
            creator: author.clone(),
            created: made(),
            modifier: author.clone(),
            modified: made(),
            answers_to: self.people["author"].id.clone(),
            version: 1,
            ..TopicPost::default()
        };
        match state {
            "below" => topic.for_instructors = true,
            "unanswered" => topic.must_post_before_viewing = true,
            "private" => post.private_post = true,
            "concealed" if !is_topic => post.hidden = true,
            "draft" | "own-draft" if !is_topic => post.draft = true,
            _ if is_topic => self.set(&mut topic, state, author),
            _ => {}
        }
        let mut rows = Rows::default();
        let mut subject = Subject {
            id: topic.id.clone(),
            site: topic.site_id.clone(),
            group: topic.id.clone(),
            user: post.id.clone(),
            marker: marker.clone(),
            ..Subject::default()
        };
        let is_there = place != "unknown" && !(is_topic && state.starts_with("in-"));
        match kind {
            "conversations-post" if !state.starts_with("in-") => subject.id.clone_from(&post.id),
            "conversations-comment" if !state.starts_with("in-") => {
                subject.id = format!("{marker}-comment");
                "Text".clone_into(&mut post.message);
                rows.add(comment(&subject, &post, author));
                // The post is the instructor's own, whoever comments on it.
                post.creator.clone_from(&self.people["author"].id);
            }
            "conversations-mark" => {
                let user = &self.owner(state, caller, "peer").id;
                subject.id = format!("{}:{user}", topic.id);
                topic.title.clone_from(&marker);
                topic.for_instructors = state == "own-below";
                rows.add(mark(&subject, &topic, user));
            }
            _ => {}
        }
        if is_there {
            rows.settings
                .push(settings(&topic.site_id, &topic.site_id, ""));
            rows.add_first(post);
            rows.add_first(topic);
            self.store(rows).await;
        }
        if state.starts_with("in-") {
            subject.marker = self.new_marker();
        }
        subject
    }

    fn new_topic(&self, marker: &str, site: &str) -> Topic {
        let author = &self.people["author"].id;
        Topic {
            id: marker.to_owned(),
            title: "Topic".to_owned(),
            kind: "QUESTION".to_owned(),
            visibility: "SITE".to_owned(),
            site_id: site.to_owned(),
            creator: author.clone(),
            created: made(),
            modifier: author.clone(),
            modified: made(),
            version: 1,
            ..Topic::default()
        }
    }

    fn set(&self, topic: &mut Topic, state: &str, author: &str) {
        let at = |days| Some(Millis(self.app.service().now() + TimeDelta::days(days)));
        topic.title.clone_from(&topic.id);
        author.clone_into(&mut topic.creator);
        match state {
            "draft" | "own-draft" => topic.draft = true,
            "concealed" | "own-concealed" => topic.hidden = true,
            "unreleased" => topic.show_date = at(1),
            "over" => topic.hide_date = at(-1),
            "locked" => topic.locked = true,
            "staff" => {
                topic.for_instructors = true;
                "INSTRUCTORS".clone_into(&mut topic.visibility);
            }
            "mine" | "foreign" => {
                "GROUP".clone_into(&mut topic.visibility);
                topic.groups.push(state.to_owned());
            }
            _ => {}
        }
    }
}

/// A new topic, post or comment.
pub(super) fn draft(kind: &str, subject: &Subject) -> Value {
    let (site, group, marker) = (&subject.site, &subject.group, &subject.marker);
    match kind {
        "conversations" => json!({"siteId": site, "title": marker}),
        "conversations-tag" => json!({"siteId": site, "label": marker}),
        "conversations-post" => json!({"siteId": site, "topicId": group, "message": marker}),
        _ => json!({"siteId": site, "postId": subject.user, "message": marker}),
    }
}

/// Returns the body that changes a topic, a post or a comment.
pub(super) fn change(kind: &str) -> Value {
    match kind {
        "conversations" => json!({"title": "Changed"}),
        "conversations-tag" => json!({"label": "Changed"}),
        "conversations-settings" => json!({"siteLocked": true}),
        _ => json!({"message": "Changed"}),
    }
}

/// Makes the request to an endpoint.
pub(super) fn question(kind: &str, operation: &str, subject: &Subject) -> Question {
    let (method, path) = operation.split_once(':').expect("an address");
    let is_list = !path.contains("{topicId}") && method == "GET";
    let body = match path.rsplit('/').next().unwrap_or_default() {
        "pinned" | "hidden" | "locked" | "bookmarked" | "{setting}" => json!(true),
        "guidelines" => json!("<p>Be kind</p>"),
        "reactions" => json!({"KEY": true}),
        "stats" => json!({"interval": "ALL_TIME"}),
        "tags" => json!([{"label": subject.marker}]),
        "{tagId}" => json!({"label": "Changed"}),
        "markpostsviewed" => json!([subject.user]),
        "posts" | "comments" | "{postId}" | "{commentId}" => json!({"message": subject.marker}),
        _ => json!({"title": subject.marker}),
    };
    let path = path
        .replace("{siteId}", &subject.site)
        .replace("{topicId}", &subject.group)
        .replace("{postId}", &subject.user)
        .replace("{commentId}", &subject.id)
        .replace("{tagId}", &subject.id)
        .replace("{setting}", "allowUpvoting");
    let is_lists = is_list && kind == "conversations";
    match method {
        "GET" => Question::get(
            if is_lists {
                Shows::Lists
            } else {
                Shows::Status
            },
            [path],
        ),
        "DELETE" => Question::send(Method::DELETE, path, None),
        _ => {
            let method = method.parse().expect("a method");
            Question::send(method, path, Some((JSON, body.to_string())))
        }
    }
}
