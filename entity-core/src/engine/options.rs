//! Options: the ids and titles that a form offers for a field whose value is the id of something.
//!
//! A field that refers to entities of a type is offered those of its site. Whatever else there is to choose from has a name,
//! which fields declare with `#[entity(offered = "group")]`, and a function that finds it.

use std::collections::HashMap;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::contract::context::Context;
use crate::contract::registry::Registry;
use crate::contract::reply::{Body, FormPurpose, Item, Offered};
use crate::engine::leads;
use crate::model::schema::{ACCOUNTS, Field, Role};
use crate::primitives::error::{Error, Result};

/// The maximum number of things that a form offers for one field. Where there are more, an id is typed.
pub const MOST: usize = 200;

/// Finds what there is to choose from, perhaps in a site: ids and titles, in order. What the caller may not know of is not
/// among them.
pub type Find = for<'a> fn(&'a Context, Option<&'a str>) -> BoxFuture<'a, Result<Vec<Choice>>>;

/// An option: its id, and its name for people.
pub type Choice = (String, String);

/// The registration of something to choose from; created by [`register_options!`](crate::register_options).
#[derive(Clone, Copy, Debug)]
pub struct OptionsRegistration {
    /// The name by which fields declare it.
    pub name: &'static str,
    /// The function that finds it.
    pub find: Find,
}

inventory::collect!(OptionsRegistration);

/// Registers what fields with `#[entity(offered = "name")]` are offered: `register_options!("name", find);`. The function is
/// a [`Find`].
#[macro_export]
macro_rules! register_options {
    ($name:expr, $find:expr) => {
        $crate::inventory::submit! {
            $crate::options::OptionsRegistration { name: $name, find: $find }
        }
    };
}

/// Returns the entities of the type `prefix` that the caller may list, in `site` if one is given: the values of `field`, and
/// the titles. Returns none if there are more than a form offers.
pub async fn listed(
    cx: &Context,
    prefix: &str,
    site: Option<&str>,
    field: &str,
) -> Result<Vec<Choice>> {
    let registry = cx.service::<Registry>()?;
    let Some(route) = registry.route(prefix) else {
        return Ok(Vec::new());
    };
    let of_site = route.schema.role(Role::Site).zip(site);
    let narrowed: Vec<_> = of_site
        .map(|(field, site)| (field.name, site.to_owned()))
        .into_iter()
        .collect();
    let Some(found) = leads::list(cx, &registry, route, &narrowed, MOST).await? else {
        return Ok(Vec::new());
    };
    if found.has_more {
        return Ok(Vec::new());
    }
    let mut choices = Vec::new();
    for item in &found.items {
        let data = serde_json::to_value(item.data()).map_err(Error::internal)?;
        let value = match data.get(field) {
            Some(Value::Number(it)) => it.to_string(),
            Some(Value::String(it)) => it.clone(),
            _ => item.id(),
        };
        choices.push((value, item.title().unwrap_or_else(|| item.id())));
    }
    Ok(choices)
}

/// Adds the options to `body`, if it is a form. The address of the form suggests the values in `query`.
pub(crate) async fn add(
    cx: &Context,
    registry: &Registry,
    query: &[(String, String)],
    body: &mut Body,
) -> Result<()> {
    let Body::Form(form) = body else {
        return Ok(());
    };
    let is_new = form.purpose == FormPurpose::Create;
    if !is_new && form.purpose != FormPurpose::Update {
        return Ok(());
    }
    let data = match &form.item {
        Some(item) => serde_json::to_value(item.data()).map_err(Error::internal)?,
        None => Value::Null,
    };
    let present = |field: &Field| {
        let suggested = query.iter().find(|it| it.0 == field.name);
        let stored = match data.get(field.name) {
            Some(Value::Number(it)) => Some(it.to_string()),
            other => other.and_then(Value::as_str).map(ToOwned::to_owned),
        };
        stored.or_else(|| suggested.map(|it| it.1.clone()))
    };
    let site = form.schema.role(Role::Site).and_then(present);
    let mut known: HashMap<&str, Vec<Choice>> = HashMap::new();
    for field in form.schema.writable(is_new) {
        let name = field.offered.or_else(|| field.refers_to());
        let Some(name) = name.filter(|_| !form.left_out.contains(&field.name)) else {
            continue;
        };
        // What never changes and is suggested is what it is.
        let is_settled = field.offered.is_none() && !field.may_be_written(false);
        let settled = present(field).filter(|it| is_settled && !it.is_empty());
        let choices = match (settled, known.get(name)) {
            (Some(id), _) => only(cx, name, &id).await?,
            (None, Some(choices)) => choices.clone(),
            (None, None) => {
                let choices = choices(cx, registry, name, site.as_deref()).await?;
                known.entry(name).or_insert(choices).clone()
            }
        };
        if !choices.is_empty() {
            form.offered.push(Offered {
                field: field.name,
                choices,
            });
        }
    }
    Ok(())
}

/// Returns what the form of an action offers for those of its `fields` that say so, in `site` if there is one.
pub(crate) async fn of_fields(
    cx: &Context,
    fields: &[Field],
    site: Option<&str>,
) -> Result<Vec<Offered>> {
    let mut offered = Vec::new();
    for (field, name) in fields.iter().filter_map(|it| Some((it.name, it.offered?))) {
        let registry = cx.service::<Registry>()?;
        let choices = choices(cx, &registry, name, site).await?;
        offered.push(Offered { field, choices });
    }
    Ok(offered)
}

/// Returns the entity of the type `prefix` with this id, if the caller may read it.
async fn only(cx: &Context, prefix: &str, id: &str) -> Result<Vec<Choice>> {
    let found = leads::find(cx, prefix, &[id.to_owned()]).await?;
    let found = found.iter().filter_map(Item::title);
    Ok(found.map(|title| (id.to_owned(), title)).collect())
}

/// Returns what is offered in `site` under this name, or of the type with this prefix.
pub(super) async fn choices(
    cx: &Context,
    registry: &Registry,
    name: &str,
    site: Option<&str>,
) -> Result<Vec<Choice>> {
    let mut all = inventory::iter::<OptionsRegistration>.into_iter();
    // Whom an entity of a site names is a member of it.
    let name = match (name, site) {
        (ACCOUNTS, Some(_)) => "member",
        _ => name,
    };
    match all.find(|it| it.name == name) {
        Some(registered) => (registered.find)(cx, site).await,
        None if registry.route(name).is_some() => {
            let site = site.filter(|_| name != "site");
            listed(cx, name, site, "").await
        }
        None => Ok(Vec::new()),
    }
}
