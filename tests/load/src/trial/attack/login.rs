//! One account that logs in without a pause, with its password.

use http::Method;
use tokio::time::Instant;

use super::super::ground::Ground;
use super::super::tally::{NO_ANSWER, Tally};
use super::repeat;
use crate::app::PASSWORD;

const WORKERS: usize = 32;

pub(super) async fn attack(ground: &Ground, until: Instant) -> Tally {
    let stranger = ground.stranger(0);
    repeat(WORKERS, until, move |_worker, _turn| {
        let stranger = stranger.clone();
        async move {
            let form = format!("username=student15&password={PASSWORD}");
            let form = ("application/x-www-form-urlencoded", form.into());
            let answer = stranger.try_request(Method::POST, "/api/login", Some(form));
            answer.await.map_or(NO_ANSWER, |it| it.status.as_u16())
        }
    })
    .await
}
