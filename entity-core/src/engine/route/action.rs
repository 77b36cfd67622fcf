//! Actions: gate → the function of the author → [`Reply`].

use std::sync::Arc;

use futures::future::BoxFuture;

use super::page_position::PagePosition;
use super::reply::{collection_reply, entity_reply, list_allowed_actions};
use crate::contract::access::{Need, Scope};
use crate::contract::action::any_result::{AnyActionResult, Shown};
use crate::contract::action::{Action, Argument, Arguments, Handler};
use crate::contract::context::Context;
use crate::contract::gate::{self, items};
use crate::contract::kind::{self, Lists, Reads};
use crate::contract::provider::Read;
use crate::contract::registry::{Call, Runner};
use crate::contract::reply::{AllowedActions, Body, Effect, Item, Reply};
use crate::contract::search::{Grammar, Page, Search, Window, select_items};
use crate::engine::offer;
use crate::primitives::error::{Error, ErrorKind, Result};
use crate::primitives::reference::Reference;
use crate::primitives::verb::Verb;

/// An action as it is declared, without the function that carries it out.
struct Declared {
    of: &'static dyn Reads,
    name: &'static str,
    verb: Verb,
    need: Need,
    grammar: Option<fn() -> Result<Grammar>>,
    parameters: &'static [(&'static str, &'static str)],
    arguments: Vec<Argument>,
    lists: Option<&'static dyn Lists>,
    is_list: bool,
    is_existence: bool,
}

/// A function that carries out an action on one entity.
type OnEntity = Box<
    dyn for<'a> Fn(&'a Context, Item, Arguments) -> BoxFuture<'a, Result<AnyActionResult>>
        + Send
        + Sync,
>;

/// A function that carries out an action on the collection.
type OnCollection = Box<
    dyn for<'a> Fn(&'a Context, Arguments) -> BoxFuture<'a, Result<AnyActionResult>> + Send + Sync,
>;

pub(crate) fn action<P: Read>(action: &Action<P>) -> Runner {
    let declared = Declared {
        of: kind::reads::<P>(),
        name: action.name,
        verb: action.verb,
        need: action.need.unwrap_or(Need::Superuser),
        grammar: action.grammar,
        parameters: action.parameters,
        arguments: action.arguments.clone(),
        lists: action.lists,
        is_list: action.answers.are_a_list(),
        is_existence: action.is_existence,
    };
    let name = action.name;
    match action.handler.clone() {
        Handler::Entity(handler) => on_entity(
            declared,
            Box::new(move |cx, item, arguments| {
                let handler = Arc::clone(&handler);
                Box::pin(async move {
                    let outcome = handler(cx, item.into_entity()?, arguments).await?;
                    Ok(AnyActionResult::of(outcome, name))
                })
            }),
        ),
        Handler::Collection(handler) => on_collection(
            declared,
            Box::new(move |cx, arguments| {
                let handler = Arc::clone(&handler);
                Box::pin(async move {
                    let outcome = handler(cx, arguments).await?;
                    Ok(AnyActionResult::of(outcome, name))
                })
            }),
        ),
    }
}

fn on_entity(declared: Declared, run: OnEntity) -> Runner {
    let action = Arc::new((declared, run));
    Arc::new(move |cx, call| {
        let action = Arc::clone(&action);
        Box::pin(async move {
            let (declared, run) = &*action;
            declared.run_on_entity(cx, call, run).await
        })
    })
}

fn on_collection(declared: Declared, run: OnCollection) -> Runner {
    let action = Arc::new((declared, run));
    Arc::new(move |cx, call| {
        let action = Arc::clone(&action);
        Box::pin(async move {
            let (declared, run) = &*action;
            declared.run_on_collection(cx, call, run).await
        })
    })
}

impl Declared {
    fn arguments(&self, call: Call<'_>) -> Result<Arguments> {
        let grammar = self.grammar.map(|it| it()).transpose()?;
        let grammar = grammar.map(|it| it.with(self.parameters));
        Ok(Arguments {
            path: Argument::values(&self.arguments, call.arguments),
            query: call.query.into(),
            input: call.input.clone(),
            search: grammar.map(|it| it.parse(call.query)).transpose()?,
        })
    }

    async fn run_on_entity(&self, cx: &Context, call: Call<'_>, run: &OnEntity) -> Result<Reply> {
        let prefix = self.of.prefix();
        let found = items::read_to_act(self.of, cx, call.id, self.need).await;
        let is_known = |error: &Error| error.kind() == ErrorKind::Forbidden;
        if self.is_existence && found.as_ref().is_err_and(is_known) {
            let about = Reference::entity(prefix, call.id);
            return self
                .reply(cx, call, Shown::Bare(Body::Empty).into(), about)
                .await;
        }
        let item = found?;
        let about = Reference::entity(prefix, item.id());
        if !self.verb.is_safe() {
            let state = items::state(cx, item.entity());
            call.preconditions.judge_write(state)?;
        }
        let outcome = run(cx, item, self.arguments(call)?).await?;
        self.reply(cx, call, outcome, about).await
    }

    async fn run_on_collection(
        &self,
        cx: &Context,
        call: Call<'_>,
        run: &OnCollection,
    ) -> Result<Reply> {
        let held = gate::demand_in_site(cx, self.need, call.site()).await;
        let is_closed = |error: &Error| error.kind() == ErrorKind::Unauthenticated;
        let outcome = match held {
            Err(error) if self.is_list && self.need.is_public() && is_closed(&error) => {
                self.arguments(call)?;
                Shown::Collection(Page::whole(Vec::new()), Window::FIRST).into()
            }
            held => {
                held?;
                if !self.verb.is_safe() {
                    call.preconditions.judge_absence()?;
                }
                run(cx, self.arguments(call)?).await?
            }
        };
        let about = Reference::collection(self.of.prefix());
        let mut reply = self.reply(cx, call, outcome, about).await?;
        if call.wants_allowed_actions && self.verb.is_safe() {
            let beside = offer::beside(cx, call, self.name).await?;
            reply.allowed_actions.actions.extend(beside);
        }
        Ok(reply)
    }

    /// Returns the reply to `call` with `outcome`. A write was about `about`, unless the outcome says otherwise.
    async fn reply(
        &self,
        cx: &Context,
        call: Call<'_>,
        outcome: AnyActionResult,
        about: Reference,
    ) -> Result<Reply> {
        let effect = match self.verb.is_safe() {
            true => Effect::Read,
            false => Effect::Acted(outcome.about.unwrap_or(about)),
        };
        let paging = outcome.paging.map(|it| it.headers(cx, &call, self.name));
        let mut reply = self.show(cx, call, outcome.shown, effect).await?;
        reply.headers.extend(outcome.headers);
        reply.headers.extend(paging.into_iter().flatten());
        Ok(reply)
    }

    async fn show(
        &self,
        cx: &Context,
        call: Call<'_>,
        shown: Shown,
        effect: Effect,
    ) -> Result<Reply> {
        let (page, window, position, search) = match shown {
            Shown::Bare(body) => {
                let is_streamed = matches!(body, Body::File(_) | Body::Bundle(_) | Body::Stream(_));
                if is_streamed && !self.verb.is_safe() {
                    return Err(Error::internal(
                        "an action that writes answers with what is streamed",
                    ));
                }
                return Ok(Reply {
                    body,
                    effect,
                    allowed_actions: AllowedActions::default(),
                    headers: Vec::new(),
                });
            }
            Shown::Entity(item) => {
                items::require_answer(self.of, cx, self.need, item.entity()).await?;
                return entity_reply(self.of, cx, call, item, effect).await;
            }
            Shown::Created(item) => {
                items::require_answer(self.of, cx, self.need, item.entity()).await?;
                let reference = Reference::entity(self.of.prefix(), item.id());
                return entity_reply(self.of, cx, call, item, Effect::Created(reference)).await;
            }
            Shown::Collection(page, window) => {
                let page = items::retain(self.of, cx, page).await?;
                (page, window, PagePosition::default(), None)
            }
            Shown::List(search) => {
                let lists = self.lists.ok_or_else(|| {
                    Error::internal("an action that is not declared `searched` returns a search")
                })?;
                let (page, total) = items::run_search(lists, cx, search.clone()).await?;
                let position = PagePosition::of(&search, &page, total)?;
                (page, search.window(), position, Some(search))
            }
            Shown::Part(page, search, total) => {
                let position = PagePosition::of(&search, &page, total)?;
                let page = items::retain(self.of, cx, page).await?;
                (page, search.window(), position, Some(search))
            }
            Shown::Whole(all, mut search) => {
                // Each of them is looked at by itself.
                search.scope = Scope::Everything;
                let readable = items::retain(self.of, cx, Page::whole(all)).await?.items;
                let (page, total) = select_items(readable, self.of.schema(), &search)?;
                let position =
                    PagePosition::of(&search, &page, search.is_counted.then_some(total))?;
                (page, search.window(), position, Some(search))
            }
        };
        let reply = collection_reply(self.of, cx, call, page, window, position).await?;
        let site = search.as_ref().and_then(Search::site);
        let allowed_actions = self.list_allowed_actions(cx, call, site).await?;
        Ok(Reply {
            effect,
            allowed_actions,
            ..reply
        })
    }

    /// Returns the operations that the caller may run beside a list that the action found, if the call asks for them.
    async fn list_allowed_actions(
        &self,
        cx: &Context,
        call: Call<'_>,
        searched: Option<&str>,
    ) -> Result<AllowedActions> {
        if !call.wants_allowed_actions {
            return Ok(AllowedActions::default());
        }
        let need = self.need.of(cx.caller());
        let is_of_site = matches!(need, Need::Site(_) | Need::SiteOrOwn(..));
        let site = searched.or_else(|| call.site().filter(|_| is_of_site));
        list_allowed_actions(self.of, cx, call.route, site).await
    }
}
