//! `/direct/server-config`: the settings of the service that everybody may know.
//!
//! Invariant: `settings` is all that is told. It is a list of its own, made of what every answer and every cookie
//! tells anyway, so that no other setting becomes public by being set.

use std::collections::BTreeMap;

use entity_core::search::select;
use entity_core::{
    Action, ActionResult, Actions, Answers, Arguments, Context, Entity, List, Need, Page, Read,
    Result, Search, Verb, shape,
};
use serde::Serialize;

/// The path at which programs and people log in.
const PORTAL: &str = "/portal";
/// The path below which files and users have their addresses.
const ACCESS: &str = "/access";

/// The facts about the service that its settings tell.
#[derive(Clone, Debug, Default)]
pub struct ServerFacts {
    /// The id of this server among those that run the service, as session cookies tell it.
    pub server_id: String,
}

/// A setting of the service that everybody may know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "server-config", access = Public, plural = "Settings", order = "name")]
pub struct ServerConfig {
    /// The name.
    #[entity(id, column, search)]
    name: String,
    /// The value.
    #[entity(column, search)]
    value: String,
    /// The type of the value: always `string`.
    #[entity(column)]
    r#type: &'static str,
}

entity_core::register!(ServerConfig);

impl ServerConfig {
    fn new(name: &str, value: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            value: value.into(),
            r#type: "string",
        }
    }
}

/// Returns what is told, by name.
fn settings(cx: &Context) -> Result<Vec<ServerConfig>> {
    let facts = cx.service::<ServerFacts>()?;
    let url = cx.base_url();
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let name = host.split(['/', ':']).next().unwrap_or_default();
    Ok(vec![
        ServerConfig::new("accessPath", ACCESS),
        ServerConfig::new("accessUrl", format!("{url}{ACCESS}")),
        ServerConfig::new("loggedOutUrl", format!("{url}{PORTAL}")),
        ServerConfig::new("portalPath", PORTAL),
        ServerConfig::new("portalUrl", format!("{url}{PORTAL}")),
        ServerConfig::new("serverId", facts.server_id.as_str()),
        ServerConfig::new("serverName", name),
        ServerConfig::new("serverUrl", url),
        ServerConfig::new("ui.service", "Lectern"),
        ServerConfig::new("userHomeUrl", format!("{url}{PORTAL}")),
    ])
}

impl Read for ServerConfig {
    async fn read(cx: &Context, id: &str) -> Result<Option<Self>> {
        Ok(settings(cx)?.into_iter().find(|it| it.name == id))
    }
}

impl List for ServerConfig {
    async fn list(cx: &Context, search: &Search) -> Result<Page<Self>> {
        select(settings(cx)?, search)
    }
}

impl Actions for ServerConfig {
    fn actions() -> Vec<Action<Self>> {
        let of_all = Answers::Value(shape::of::<BTreeMap<String, String>>);
        let of_texts = Answers::Value(shape::of::<Vec<String>>);
        vec![
            Action::collection(Verb::Get, "values", Need::Public, values)
                .doc("The values of all settings, by name.")
                .answers(of_all),
            Action::collection(Verb::Get, "names", Need::Public, names)
                .doc("The names of all settings.")
                .answers(of_texts),
            Action::collection(Verb::Get, "servers", Need::Public, servers)
                .doc("The id of the server that answers; others that run the service are not told.")
                .answers(of_texts),
        ]
    }
}

async fn values(cx: &Context, _arguments: Arguments) -> Result<ActionResult<ServerConfig>> {
    let values = settings(cx)?.into_iter().map(|it| (it.name, it.value));
    Ok(ActionResult::value(values.collect::<BTreeMap<_, _>>()))
}

async fn names(cx: &Context, _arguments: Arguments) -> Result<ActionResult<ServerConfig>> {
    let names = settings(cx)?.into_iter().map(|it| it.name);
    Ok(ActionResult::value(names.collect::<Vec<_>>()))
}

async fn servers(cx: &Context, _arguments: Arguments) -> Result<ActionResult<ServerConfig>> {
    let facts = cx.service::<ServerFacts>()?;
    Ok(ActionResult::value([facts.server_id.clone()]))
}
