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

const UPVOTE: Endpoint = of_topic(Endpoint::post(
    "/api/sites/{siteId}/topics/{topicId}/upvote",
    "voteForTopicOfSite",
))
.doc("Votes for a topic.")
.answers::<Option<Nothing>>(&vote);

const UNUPVOTE: Endpoint = of_topic(Endpoint::post(
    "/api/sites/{siteId}/topics/{topicId}/unupvote",
    "takeBackVoteForTopicOfSite",
))
.doc("Takes back the vote of the caller for a topic.")
.answers::<Option<Nothing>>(&take_back);

const REACT_TO_POST: Endpoint = of_post(Endpoint::post(
    "/api/sites/{siteId}/topics/{topicId}/posts/{postId}/reactions",
    "reactToPostOfTopic",
))
.doc("Gives and takes back reactions of the caller to a post: those that are sent. Answers with the number of each.")
.takes::<BTreeMap<String, bool>>()
.answers::<BTreeMap<&'static str, i64>>(&react);

const UPVOTE_POST: Endpoint = of_post(Endpoint::post(
    "/api/sites/{siteId}/topics/{topicId}/posts/{postId}/upvote",
    "voteForPostOfTopic",
))
.doc("Votes for a post.")
.answers::<Option<Nothing>>(&vote);

const UNUPVOTE_POST: Endpoint = of_post(Endpoint::post(
    "/api/sites/{siteId}/topics/{topicId}/posts/{postId}/unupvote",
    "takeBackVoteForPostOfTopic",
))
.doc("Takes back the vote of the caller for a post.")
.answers::<Option<Nothing>>(&take_back);
entity_core::register_endpoint!(
    REACT,
    UPVOTE,
    UNUPVOTE,
    REACT_TO_POST,
    UPVOTE_POST,
    UNUPVOTE_POST
);

/// Returns the topic and, if the path names one, the post of it.
async fn thing_of(cx: &Context, call: &Call) -> Result<(Topic, Option<TopicPost>)> {
    if call.variables.iter().any(|it| it.0 == "postId") {
        let (topic, post) = post_of(cx, call).await?;
        return Ok((topic, Some(post)));
    }
    Ok((topic_of(cx, call).await?, None))
}

async fn react(cx: &Context, call: Call) -> Result<BTreeMap<&'static str, i64>> {
    let (topic, post) = thing_of(cx, &call).await?;
    let (topic, post) = (&topic, post.as_ref());
    Thing { topic, post }.react(cx, &call.body()?).await?;
    let totals = match post {
        Some(post) => gate::read::<TopicPost>(cx, &post.id).await?.reaction_totals,
        None => gate::read::<Topic>(cx, &topic.id).await?.reaction_totals,
    };
    Ok(totals.0)
}

async fn set(cx: &Context, call: &Call, is_given: bool) -> Result<Option<Nothing>> {
    let (topic, post) = thing_of(cx, call).await?;
    let (topic, post) = (&topic, post.as_ref());
    Thing { topic, post }.vote(cx, is_given).await?;
    Ok(None)
}

async fn vote(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    set(cx, &call, true).await
}

async fn take_back(cx: &Context, call: Call) -> Result<Option<Nothing>> {
    set(cx, &call, false).await
}
