//! The endpoints that react to topics and posts, and vote for them.

use std::collections::BTreeMap;

use entity_core::endpoint::{Call, Endpoint};
use entity_core::{Context, Result, gate};

use super::super::reaction::Thing;
use super::super::{Topic, TopicPost};
use super::Nothing;
use super::topics::{of_topic, topic_of};
use super::writing::{of_post, post_of};

const REACT: Endpoint = of_topic(Endpoint::post(
    "/api/sites/{siteId}/topics/{topicId}/reactions",
    "reactToTopicOfSite",
))
.doc("Gives and takes back reactions of the caller to a topic: those that are sent. Answers with the number of each.")
.takes::<BTreeMap<String, bool>>()
.answers::<BTreeMap<&'static str, i64>>(&react);
entity_core::register_endpoint!(REACT);

const UPVOTE: Endpoint = of_topic(Endpoint::post(
    "/api/sites/{siteId}/topics/{topicId}/upvote",
    "voteForTopicOfSite",
))
.doc("Votes for a topic.")
.answers::<Option<Nothing>>(&vote);
entity_core::register_endpoint!(UPVOTE);

const UNUPVOTE: Endpoint = of_topic(Endpoint::post(
    "/api/sites/{siteId}/topics/{topicId}/unupvote",
    "takeBackVoteForTopicOfSite",
))
.doc("Takes back the vote of the caller for a topic.")
.answers::<Option<Nothing>>(&take_back);
entity_core::register_endpoint!(UNUPVOTE);

const REACT_TO_POST: Endpoint = of_post(Endpoint::post(
    "/api/sites/{siteId}/topics/{topicId}/posts/{postId}/reactions",
    "reactToPostOfTopic",
))
.doc("Gives and takes back reactions of the caller to a post: those that are sent. Answers with the number of each.")
.takes::<BTreeMap<String, bool>>()
.answers::<BTreeMap<&'static str, i64>>(&react_to_post);
entity_core::register_endpoint!(REACT_TO_POST);

const UPVOTE_POST: Endpoint = of_post(Endpoint::post(
    "/api/sites/{siteId}/topics/{topicId}/posts/{postId}/upvote",
    "voteForPostOfTopic",
))
.doc("Votes for a post.")
.answers::<Option<Nothing>>(&vote_for_post);
entity_core::register_endpoint!(UPVOTE_POST);

const UNUPVOTE_POST: Endpoint = of_post(Endpoint::post(
    "/api/sites/{siteId}/topics/{topicId}/posts/{postId}/unupvote",
    "takeBackVoteForPostOfTopic",
))
.doc("Takes back the vote of the caller for a post.")
.answers::<Option<Nothing>>(&take_back_from_post);
entity_core::register_endpoint!(UNUPVOTE_POST);

async fn react(cx: &Context, call: Call) -> Result<BTreeMap<&'static str, i64>> {
    let topic = topic_of(cx, &call).await?;
    let thing = Thing {
        topic: &topic,
        post: None,
    };
    thing.react(cx, &call.body()?).await?;
    let topic = gate::read::<Topic>(cx, &topic.id).await?;
    Ok(topic.reaction_totals.0)
}

async fn react_to_post(cx: &Context, call: Call) -> Result<BTreeMap<&'static str, i64>> {
    let (topic, post) = post_of(cx, &call).await?;
    let thing = Thing {
        topic: &topic,
        post: Some(&post),
    };
    thing.react(cx, &call.body()?).await?;
    let post = gate::read::<TopicPost>(cx, &post.id).await?;
    Ok(post.reaction_totals.0)
}

async fn set(cx: &Context, call: &Call, is_given: bool) -> Result<Option<Nothing>> {
    let topic = topic_of(cx, call).await?;
    let thing = Thing {
        topic: &topic,
        post: None,
    };
    thing.vote(cx, is_given).await?;
    Ok(None)
}

async fn set_of_post(cx: &Context, call: &Call, is_given: bool) -> Result<Option<Nothing>> {
    let (topic, post) = post_of(cx, call).await?;
    let thing = Thing {
        topic: &topic,
        post: Some(&post),
    };
    thing.vote(cx, is_given).await?;
    Ok(None)
}

async fn vote(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    set(cx, &call, true).await
}

async fn take_back(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    set(cx, &call, false).await
}

async fn vote_for_post(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    set_of_post(cx, &call, true).await
}

async fn take_back_from_post(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    set_of_post(cx, &call, false).await
}
