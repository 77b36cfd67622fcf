//! The type-erased operations of a provider: typed gate → [`Reply`]. Written once, for every type.

mod place;

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::contract::access::{Need, Operation, Scope};
use crate::contract::action::{Action, Argument, Arguments, Handler, Outcome};
use crate::contract::context::Context;
use crate::contract::gate;
use crate::contract::provider::{
    Create, Delete, List, Provider, Read, RunSearch, Update, run_search,
};
use crate::contract::registry::{ActionRoute, Call, Registry, Route, Runner};
use crate::contract::search::{Grammar, Page, Search, Window, find};
use crate::engine::expand::project;
use crate::engine::offer::{self, Shown};
use crate::model::entity::Entity;
use crate::model::projection::Projection;
use crate::model::schema::Schema;
use crate::words::error::{Error, ErrorKind, Result};
use crate::words::verb::Verb;
use crate::{
    contract::reply::{Abilities, Body, Collection, Effect, Form, FormPurpose, Item, Reply, Value},
    words::reference::Reference,
};

use place::Place;

pub(crate) fn read<'a, P: Read>(cx: &'a Context, call: Call<'a>) -> BoxFuture<'a, Result<Reply>> {
    Box::pin(async move {
        let entity = gate::read::<P>(cx, call.id).await?;
        entity_reply::<P>(cx, call, entity, Effect::Read).await
    })
}

pub(crate) fn load<'a, P: Read>(
    cx: &'a Context,
    ids: &'a [String],
) -> BoxFuture<'a, Result<Vec<Item>>> {
    Box::pin(async move {
        let found = gate::read_many::<P>(cx, ids).await?;
        let items = found.into_iter().map(|it| Item::new(P::PREFIX, it));
        Ok(items.collect())
    })
}

pub(crate) fn is_done<'a, P: Read>(
    cx: &'a Context,
    id: &'a str,
) -> BoxFuture<'a, Result<Option<bool>>> {
    Box::pin(async move {
        let entity = gate::read::<P>(cx, id).await?;
        P::is_done(cx, &entity).await
    })
}

pub(crate) fn list<'a, P: List>(cx: &'a Context, call: Call<'a>) -> BoxFuture<'a, Result<Reply>> {
    Box::pin(async move {
        gate::admit(cx.caller(), P::ACCESS.read)?;
        let search = Grammar::of::<P>()?.parse(call.query)?;
        let (page, total) = run_search::<P>(cx, search.clone()).await?;
        let place = Place::of(&search, &page, total)?;
        let mut reply = collection_reply::<P>(cx, call, page, search.window(), place).await?;
        if call.wants_abilities {
            reply.abilities = list_abilities::<P>(cx, call.route, search.site()).await?;
            reply.abilities.actions = offer::on(cx, call.route, None).await?;
        }
        Ok(reply)
    })
}

pub(crate) fn create<'a, P: Create>(
    cx: &'a Context,
    call: Call<'a>,
) -> BoxFuture<'a, Result<Reply>> {
    Box::pin(async move {
        let entity = gate::create::<P>(cx, call.input).await?;
        call.preconditions.judge_absence()?;
        let reference = Reference::entity(P::PREFIX, entity.id());
        entity_reply::<P>(cx, call, entity, Effect::Created(reference)).await
    })
}

pub(crate) fn create_form<'a, P: Create>(
    cx: &'a Context,
    _call: Call<'a>,
) -> BoxFuture<'a, Result<Reply>> {
    Box::pin(async move {
        gate::admit(cx.caller(), P::ACCESS.create)?;
        match gate::may_create::<P>(cx, None).await? {
            true => Ok(form_reply::<P>(cx, None, FormPurpose::Create)),
            false => Err(Error::forbidden()),
        }
    })
}

pub(crate) fn update<'a, P: Update>(
    cx: &'a Context,
    call: Call<'a>,
) -> BoxFuture<'a, Result<Reply>> {
    Box::pin(async move {
        if call.is_form() {
            return form_about::<P>(cx, call.id, Operation::Update, FormPurpose::Update).await;
        }
        let entity = gate::update::<P>(cx, call.id, call.input, call.preconditions).await?;
        let reference = Reference::entity(P::PREFIX, entity.id());
        entity_reply::<P>(cx, call, entity, Effect::Updated(reference)).await
    })
}

pub(crate) fn delete<'a, P: Delete>(
    cx: &'a Context,
    call: Call<'a>,
) -> BoxFuture<'a, Result<Reply>> {
    Box::pin(async move {
        if call.is_form() {
            return form_about::<P>(cx, call.id, Operation::Delete, FormPurpose::Delete).await;
        }
        let reference = gate::delete::<P>(cx, call.id, call.preconditions).await?;
        Ok(Reply {
            body: Body::Empty,
            effect: Effect::Deleted(reference),
            abilities: Abilities::default(),
            remarks: Vec::new(),
        })
    })
}

/// Returns the form with which the caller may do `operation` with an entity.
async fn form_about<P: Read>(
    cx: &Context,
    id: &str,
    operation: Operation,
    purpose: FormPurpose,
) -> Result<Reply> {
    let entity = gate::read::<P>(cx, id).await?;
    match gate::may::<P>(cx, &entity, operation).await? {
        true => Ok(form_reply::<P>(cx, Some(entity), purpose)),
        false => Err(Error::forbidden()),
    }
}

pub(crate) fn action<P: Read>(action: &Action<P>) -> Runner {
    let (name, verb) = (action.name, action.verb);
    let need = action.need.unwrap_or(Need::Superuser);
    let (grammar, parameters) = (action.grammar, action.parameters);
    let run_search = action.run_search;
    let is_list = action.answers.are_a_list();
    let is_existence = action.is_existence;
    let declared: Arc<[Argument]> = action.arguments.as_slice().into();
    let arguments = move |call: Call<'_>| {
        let grammar = grammar.map(|it| it()).transpose()?;
        call.to_arguments(&declared, grammar.map(|it| it.with(parameters)))
    };
    match action.handler.clone() {
        Handler::Entity(handler) => Arc::new(move |cx, call| {
            let (arguments, handler) = (arguments.clone(), Arc::clone(&handler));
            Box::pin(async move {
                let found = gate::read_to_act::<P>(cx, call.id, need).await;
                let is_known = |error: &Error| error.kind() == ErrorKind::Forbidden;
                if is_existence && found.as_ref().is_err_and(is_known) {
                    let about = Reference::entity(P::PREFIX, call.id);
                    let asked = (name, verb, need, run_search);
                    return action_reply::<P>(cx, call, Outcome::Done, asked, about).await;
                }
                let entity = found?;
                let about = Reference::entity(P::PREFIX, entity.id());
                if !verb.is_safe() {
                    call.preconditions.judge_write(gate::state(cx, &entity))?;
                }
                let outcome = handler(cx, entity, arguments(call)?).await?;
                let asked = (name, verb, need, run_search);
                action_reply::<P>(cx, call, outcome, asked, about).await
            })
        }),
        Handler::Collection(handler) => Arc::new(move |cx, call| {
            let (arguments, handler) = (arguments.clone(), Arc::clone(&handler));
            Box::pin(async move {
                let held = gate::demand_in_site(cx, need, call.site()).await;
                let is_closed = |error: &Error| error.kind() == ErrorKind::Unauthenticated;
                let outcome = match held {
                    Err(error) if is_list && need.is_public() && is_closed(&error) => {
                        arguments(call).map(|_arguments| Outcome::Collection {
                            page: Page::whole(Vec::new()),
                            window: Window::FIRST,
                        })?
                    }
                    held => {
                        held?;
                        if !verb.is_safe() {
                            call.preconditions.judge_absence()?;
                        }
                        handler(cx, arguments(call)?).await?
                    }
                };
                let asked = (name, verb, need, run_search);
                let about = Reference::collection(P::PREFIX);
                let mut reply = action_reply::<P>(cx, call, outcome, asked, about).await?;
                if call.wants_abilities && verb.is_safe() {
                    let beside = offer::beside(cx, call, name).await?;
                    reply.abilities.actions.extend(beside);
                }
                Ok(reply)
            })
        }),
    }
}

async fn action_reply<P: Read>(
    cx: &Context,
    call: Call<'_>,
    outcome: Outcome<P>,
    asked: (&'static str, Verb, Need, Option<RunSearch<P>>),
    about: Reference,
) -> Result<Reply> {
    let (name, verb, need, run_search) = asked;
    let effect = match verb.is_safe() {
        true => Effect::Read,
        false => Effect::Acted(about.clone()),
    };
    let (page, window, place, site) = match outcome {
        it @ (Outcome::Done
        | Outcome::Value(_)
        | Outcome::Questionnaire(_)
        | Outcome::Bytes(_)
        | Outcome::File(_)
        | Outcome::Archive(_)
        | Outcome::Bundle(_)
        | Outcome::Stream(_)
        | Outcome::Incomplete(_)
        | Outcome::Forward(_)) => {
            return Ok(Reply {
                body: bare(it, name, verb)?,
                effect,
                abilities: Abilities::default(),
                remarks: Vec::new(),
            });
        }
        Outcome::Entity(entity) => {
            gate::require_answer::<P>(cx, need, &entity).await?;
            return entity_reply::<P>(cx, call, entity, effect).await;
        }
        Outcome::Created(entity) => {
            gate::require_answer::<P>(cx, need, &entity).await?;
            let reference = Reference::entity(P::PREFIX, entity.id());
            return entity_reply::<P>(cx, call, entity, Effect::Created(reference)).await;
        }
        Outcome::About(outcome, reference) => {
            return Box::pin(action_reply::<P>(cx, call, *outcome, asked, reference)).await;
        }
        it @ (Outcome::Remarked(..) | Outcome::Windowed(..)) => {
            let (outcome, remarks) = it.apart(|rest| rest.remarks(cx, &call, name));
            let mut reply = Box::pin(action_reply::<P>(cx, call, outcome, asked, about)).await?;
            reply.remarks.extend(remarks);
            return Ok(reply);
        }
        Outcome::Collection { page, window } => {
            let page = gate::retain::<P>(cx, page).await?;
            (page, window, Place::default(), None)
        }
        Outcome::List(search) => {
            let run = run_search.ok_or_else(|| {
                Error::internal("an action that is not declared `searched` returns a search")
            })?;
            let (page, total) = run(cx, search.clone()).await?;
            let place = Place::of(&search, &page, total)?;
            (page, search.window(), place, Some(search))
        }
        Outcome::Part {
            page,
            search,
            total,
        } => {
            let place = Place::of(&search, &page, total)?;
            let page = gate::retain::<P>(cx, page).await?;
            (page, search.window(), place, Some(search))
        }
        Outcome::Whole {
            entities,
            mut search,
        } => {
            // Each of them is looked at by itself.
            search.scope = Scope::Everything;
            let readable = gate::retain::<P>(cx, Page::whole(entities)).await?.items;
            let (page, total) = find(readable, &search)?;
            let place = Place::of(&search, &page, search.is_counted.then_some(total))?;
            (page, search.window(), place, Some(search))
        }
    };
    let reply = collection_reply::<P>(cx, call, page, window, place).await?;
    let site = site.as_ref().and_then(Search::site);
    with_list_abilities::<P>(cx, call, need, site, Reply { effect, ..reply }).await
}

/// Returns the body of an outcome that shows no entity.
fn bare<P: Provider>(outcome: Outcome<P>, name: &'static str, verb: Verb) -> Result<Body> {
    Ok(match outcome {
        Outcome::Done => Body::Empty,
        Outcome::Value(data) => Body::Value(Value::new(P::PREFIX, name, data)),
        Outcome::Questionnaire(it) => Body::Value(Value::of_questionnaire(P::PREFIX, name, it)),
        Outcome::Bytes(bytes) => Body::Bytes(bytes),
        Outcome::File(file) if verb.is_safe() => Body::File(file),
        Outcome::Bundle(bundle) if verb.is_safe() => Body::Bundle(bundle),
        Outcome::Stream(streaming) if verb.is_safe() => Body::Stream(streaming),
        Outcome::Archive(site) => Body::Archive(site),
        Outcome::Incomplete(error) => Body::Incomplete(error),
        Outcome::Forward(path) => Body::Forward(path),
        _ => {
            return Err(Error::internal(
                "an action that writes answers with what is streamed",
            ));
        }
    })
}

/// Adds the operations that the caller may run to `reply`, whose list was found by an action, if the call asks for
/// them.
async fn with_list_abilities<P: Provider>(
    cx: &Context,
    call: Call<'_>,
    need: Need,
    searched: Option<&str>,
    mut reply: Reply,
) -> Result<Reply> {
    if call.wants_abilities {
        let is_of_site = matches!(need.of(cx.caller()), Need::Site(_) | Need::SiteOrOwn(..));
        let site = searched.or_else(|| call.site().filter(|_| is_of_site));
        reply.abilities = list_abilities::<P>(cx, call.route, site).await?;
    }
    Ok(reply)
}

async fn entity_reply<P: Provider>(
    cx: &Context,
    call: Call<'_>,
    entity: P::Entity,
    effect: Effect,
) -> Result<Reply> {
    let abilities = match call.wants_abilities {
        true => abilities::<P>(cx, call.route, &entity).await?,
        false => Abilities::default(),
    };
    let item = Item::new(P::PREFIX, entity);
    item_reply(cx, call, (P::Entity::schema(), item), effect, abilities).await
}

async fn item_reply(
    cx: &Context,
    call: Call<'_>,
    (schema, item): (&'static Schema, Item),
    effect: Effect,
    abilities: Abilities,
) -> Result<Reply> {
    let projection = Projection::parse(call.query, schema)?;
    let mut item = [item];
    project(cx, call.registry, &projection, &mut item).await?;
    let [item] = item;
    Ok(Reply {
        body: Body::Entity(item),
        effect,
        abilities,
        remarks: cx.take_remarks(),
    })
}

async fn abilities<P: Provider>(
    cx: &Context,
    route: &Route,
    entity: &P::Entity,
) -> Result<Abilities> {
    // Where the id is the name of an action, the address means the action: it has no forms behind it.
    let id = entity.id();
    let is_taken = |it: &ActionRoute| !it.is_on_entity && it.name == id;
    let has_forms = !route.actions.iter().any(is_taken);
    // A page offers no form without a field.
    let has_fields = P::Entity::schema().writable(false).next().is_some();
    let (update, delete) = (route.update.is_some() && has_fields, route.delete.is_some());
    Ok(Abilities {
        removal: entity.removal(cx.caller().user_id()),
        update: has_forms && update && gate::may::<P>(cx, entity, Operation::Update).await?,
        delete: has_forms && delete && gate::may::<P>(cx, entity, Operation::Delete).await?,
        actions: offer::on(cx, route, Some(Shown::of(entity))).await?,
        ..Abilities::default()
    })
}

async fn list_abilities<P: Provider>(
    cx: &Context,
    route: &Route,
    site: Option<&str>,
) -> Result<Abilities> {
    Ok(Abilities {
        create: route.create.is_some() && gate::may_create::<P>(cx, site).await?,
        site: site.map(ToOwned::to_owned),
        ..Abilities::default()
    })
}

async fn collection_reply<P: Provider>(
    cx: &Context,
    call: Call<'_>,
    page: Page<P::Entity>,
    window: Window,
    place: Place,
) -> Result<Reply> {
    let items = page.items.into_iter();
    let collection = Collection {
        prefix: P::PREFIX,
        schema: P::Entity::schema(),
        items: items.map(|it| Item::new(P::PREFIX, it)).collect(),
        start: window.start,
        limit: window.limit,
        has_more: page.has_more,
        places: page.places,
        cursor: place.cursor,
        total: place.total,
        is_searched: place.is_searched,
        projection: Projection::parse(call.query, P::Entity::schema())?,
        walk: place.walk,
    };
    projected(cx, call.registry, collection).await
}

/// Returns `collection` under its projection, as far as an answer has room for it.
async fn projected(cx: &Context, registry: &Registry, mut collection: Collection) -> Result<Reply> {
    let Collection {
        projection, items, ..
    } = &mut collection;
    let shown = project(cx, registry, projection, items).await?;
    let collection = match shown >= collection.items.len() {
        true => collection,
        false => collection.first(shown)?,
    };
    Ok(Reply {
        body: Body::Collection(collection),
        effect: Effect::Read,
        abilities: Abilities::default(),
        remarks: Vec::new(),
    })
}

fn form_reply<P: Provider>(cx: &Context, entity: Option<P::Entity>, purpose: FormPurpose) -> Reply {
    let caller = cx.caller().user_id();
    let names = P::Entity::schema().fields.iter().map(|it| it.name);
    let left_out = names.filter(|it| !P::Entity::is_asked(entity.as_ref(), caller, it));
    let left_out = left_out.collect();
    let removal = entity.as_ref().and_then(|it| it.removal(caller));
    let form = Form {
        prefix: P::PREFIX,
        schema: P::Entity::schema(),
        item: entity.map(|it| Item::new(P::PREFIX, it)),
        purpose,
        left_out,
        offered: Vec::new(),
        refusal: None,
    };
    Reply {
        body: Body::Form(form),
        effect: Effect::Read,
        abilities: Abilities {
            removal,
            ..Abilities::default()
        },
        remarks: Vec::new(),
    }
}

impl Call<'_> {
    /// Returns whether the call asks for the form of the operation and not for the operation itself.
    fn is_form(self) -> bool {
        self.verb.is_safe()
    }

    fn to_arguments(self, declared: &[Argument], grammar: Option<Grammar>) -> Result<Arguments> {
        Ok(Arguments {
            path: Argument::values(declared, self.arguments),
            query: self.query.into(),
            input: self.input.clone(),
            search: grammar.map(|it| it.parse(self.query)).transpose()?,
        })
    }
}
