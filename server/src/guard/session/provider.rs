//! `/direct/session`: the caller's own session. Ids stay secret: here a session is known by its handle.

use std::borrow::Cow;
use std::sync::Arc;

use entity_core::schema::{Field, Kind, Role, Schema};
use entity_core::{
    Access, Action, ActionResult, Answers, Arguments, Context, Delete, Entity, Error, Fields, List,
    Need, Operation, Page, Permit, Provider, Read, Result, Search, Update, Verb, search,
};
use serde::Serialize;

use super::id::SessionId;
use super::{Session, Sessions};
use crate::base::own;
use crate::guard::auth::login;

/// The address that stands for the session of the request.
const CURRENT: &str = "current";

/// A session, as clients see it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEntity {
    id: Option<String>,
    active: bool,
    user_id: Option<String>,
    user_eid: Option<String>,
    creation_time: i64,
    last_accessed_time: i64,
    current_time: i64,
    max_inactive_interval: i64,
    attribute_names: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    csrf_token: Option<String>,
    #[serde(skip)]
    session: Option<Arc<Session>>,
}

static SCHEMA: Schema = Schema {
    doc: "A session: who is logged in, and since when.",
    fields: &[
        Field::new(
            "id",
            Kind::Text(64),
            "The public name; null for the session of the request itself.",
        )
        .nullable()
        .role(Role::Id),
        Field::new("active", Kind::Boolean, "Always true."),
        Field::new(
            "userId",
            Kind::Text(99),
            "The internal id of the user; null if nobody is logged in.",
        )
        .nullable(),
        Field::new(
            "userEid",
            Kind::Text(255),
            "The external id of the user; null if nobody is logged in.",
        )
        .nullable(),
        Field::new("creationTime", Kind::Millis, "When it began."),
        Field::new("lastAccessedTime", Kind::Millis, "When it was last used."),
        Field::new(
            "currentTime",
            Kind::Millis,
            "The present time of the service.",
        ),
        Field::new(
            "maxInactiveInterval",
            Kind::Integer,
            "How many seconds it may go unused.",
        ),
        Field::new("attributeNames", Kind::List, "Not told: null.").nullable(),
        Field::new(
            "csrfToken",
            Kind::Text(64),
            "The token that unsafe requests send as `X-CSRF-Token`.",
        )
        .nullable(),
    ],
    has_feed: false,
    has_events: false,
    has_site: false,
    look: entity_core::schema::Look::PLAIN,
};

impl Entity for SessionEntity {
    fn schema() -> &'static Schema {
        &SCHEMA
    }

    fn id(&self) -> Cow<'_, str> {
        self.id.as_deref().unwrap_or(CURRENT).into()
    }

    fn title(&self) -> Option<Cow<'_, str>> {
        Some("session".into())
    }

    fn is_secret(&self) -> bool {
        self.csrf_token.is_some()
    }
}

impl SessionEntity {
    /// The session of a request that has none. Its user is known where the request itself proved who sends it.
    fn none(cx: &Context, sessions: &Sessions) -> Self {
        let now = cx.now().timestamp_millis();
        let user = cx.caller().user.as_deref();
        Self {
            id: None,
            active: true,
            user_id: user.map(|it| it.id.clone()),
            user_eid: user.map(|it| it.eid.clone()),
            creation_time: now,
            last_accessed_time: now,
            current_time: now,
            max_inactive_interval: sessions.timeout().num_seconds(),
            attribute_names: None,
            csrf_token: None,
            session: None,
        }
    }

    /// `session` under its public name, without what only its owner may know.
    fn named(cx: &Context, sessions: &Sessions, session: Arc<Session>) -> Self {
        Self {
            id: Some(session.handle().to_owned()),
            user_id: Some(session.user().id.clone()),
            user_eid: Some(session.user().eid.clone()),
            creation_time: session.created().timestamp_millis(),
            last_accessed_time: sessions.last_accessed(&session).timestamp_millis(),
            max_inactive_interval: session.max_inactive().num_seconds(),
            session: Some(session),
            ..Self::none(cx, sessions)
        }
    }

    /// `session` as the one of the request.
    fn current(cx: &Context, sessions: &Sessions, session: Arc<Session>) -> Self {
        Self {
            id: None,
            csrf_token: Some(session.csrf_token().to_owned()),
            ..Self::named(cx, sessions, session)
        }
    }

    fn is_of(&self, cx: &Context) -> bool {
        match (&self.session, &cx.caller().session) {
            (None, _) => true,
            (Some(session), Some(own)) => session.handle() == &**own,
            (Some(_), None) => false,
        }
    }
}

/// The sessions.
#[derive(Clone, Copy, Debug)]
pub struct SessionProvider;

impl Provider for SessionProvider {
    type Entity = SessionEntity;
    const PREFIX: &'static str = "session";
    /// Reading is public because `current` is; [`Provider::permits`] leaves everybody their own only.
    const ACCESS: Access = Access {
        read: Need::Public,
        create: Need::Superuser,
        update: Need::Session,
        delete: Need::Session,
    };

    /// A super user may see and end the sessions of others, and keeps none of them alive.
    async fn permits(cx: &Context, entity: &SessionEntity, operation: Operation) -> Result<Permit> {
        own::permit(cx, entity.is_of(cx), operation).await
    }
}

impl Read for SessionProvider {
    /// Reads a session by its public name, or by the id itself, which only its owner knows.
    async fn read(cx: &Context, id: &str) -> Result<Option<SessionEntity>> {
        cx.user_id()?;
        let sessions = cx.service::<Sessions>()?;
        let found = match SessionId::parse(id) {
            Some(id) => sessions.find(&id).await?,
            None => sessions.find_by_handle(cx, id).await?,
        };
        Ok(found.map(|it| SessionEntity::named(cx, &sessions, it)))
    }
}

impl List for SessionProvider {
    /// The session of the request alone.
    async fn list(cx: &Context, search: &Search) -> Result<Page<SessionEntity>> {
        cx.user_id()?;
        let sessions = cx.service::<Sessions>()?;
        let session = own(cx, &sessions).await?;
        let items = session.map(|it| SessionEntity::current(cx, &sessions, it));
        search::select(items.into_iter().collect(), search)
    }
}

impl Update for SessionProvider {
    type Changes = Fields;

    /// Keeps it alive. There is nothing in it that a client could change, and every request of a session counts
    /// as a use of it already: like that to `current`, this one only has to arrive.
    async fn update(cx: &Context, current: SessionEntity, _: Fields) -> Result<SessionEntity> {
        if let Some(session) = &current.session {
            cx.service::<Sessions>()?.touch(session);
        }
        Ok(current)
    }
}

impl Delete for SessionProvider {
    async fn delete(cx: &Context, current: SessionEntity) -> Result<()> {
        let session = current.session.ok_or_else(Error::not_found)?;
        let sessions = cx.service::<Sessions>()?;
        login::end(
            &sessions,
            cx,
            session.id(),
            (session.handle(), &session.user().id),
        )
        .await
    }
}

impl entity_core::Actions for SessionProvider {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::on_collection(Verb::Get, CURRENT, Need::Public, |cx, _| {
                Box::pin(show_current(cx))
            })
            .doc("The session of the request; without one its user is null.")
            .parameters(&[("auto", "given: the request does not keep the session alive")])
            .answers(Answers::Entity),
            Action::on_collection(Verb::Put, CURRENT, Need::Session, |cx, args| {
                Box::pin(keep_alive(cx, args))
            })
            .doc("Keeps the session of the request alive.")
            .answers(Answers::Nothing),
            Action::on_collection(Verb::Post, CURRENT, Need::Session, |cx, args| {
                Box::pin(keep_alive(cx, args))
            })
            .doc("Keeps the session of the request alive.")
            .answers(Answers::Nothing),
            Action::on_collection(Verb::Delete, CURRENT, Need::Session, |cx, _| {
                Box::pin(end_current(cx))
            })
            .doc("Ends the session of the request: logs out.")
            .answers(Answers::Nothing),
        ]
    }
}

async fn show_current(cx: &Context) -> Result<ActionResult<SessionProvider>> {
    let sessions = cx.service::<Sessions>()?;
    let entity = match own(cx, &sessions).await? {
        Some(session) => SessionEntity::current(cx, &sessions, session),
        None => SessionEntity::none(cx, &sessions),
    };
    Ok(ActionResult::Entity(entity))
}

/// Every request counts as a use already; this one only has to arrive.
async fn keep_alive(cx: &Context, _: Arguments) -> Result<ActionResult<SessionProvider>> {
    let sessions = cx.service::<Sessions>()?;
    let session = own(cx, &sessions)
        .await?
        .ok_or_else(Error::unauthenticated)?;
    sessions.touch(&session);
    Ok(ActionResult::Done)
}

async fn end_current(cx: &Context) -> Result<ActionResult<SessionProvider>> {
    let sessions = cx.service::<Sessions>()?;
    let session = own(cx, &sessions)
        .await?
        .ok_or_else(Error::unauthenticated)?;
    login::end(
        &sessions,
        cx,
        session.id(),
        (session.handle(), &session.user().id),
    )
    .await?;
    Ok(ActionResult::Done)
}

async fn own(cx: &Context, sessions: &Sessions) -> Result<Option<Arc<Session>>> {
    match &cx.caller().session {
        Some(handle) => sessions.find_by_handle(cx, handle).await,
        None => Ok(None),
    }
}

entity_core::register!(SessionProvider);
