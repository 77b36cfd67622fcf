//! Links of invitations, which reach people by a way that the service does not know: a letter, a message.
//!
//! A link has a secret. Whoever is logged in and has it may accept the invitation, whatever they are called here: an
//! address that nobody verified finds no invitation. It is told once, to those who look after the members, and the
//! table keeps a hash of it.

use entity_core::db::{self, Secret};
use entity_core::reply::{Questionnaire, Sending};
use entity_core::{
    Action, ActionResult, Answers, Arguments, Context, Error, Need, Result, Verb, shape, token,
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};

use super::{Invitation, invitation, write};
use crate::people::membership::join::is_member;
use crate::people::membership::rules::MANAGES_MEMBERS;

/// The address of links, before the secret. A secret has the form of the id of a session, so no log has it.
const CLAIM: &str = "/direct/invitation/claim";
const SECRET: &str = "The secret in the link.";

/// The actions for links.
pub(super) fn actions() -> Vec<Action<Invitation>> {
    vec![
        Action::entity(Verb::Post, "link", Need::Site(MANAGES_MEMBERS), renew)
            .done("There is a new link; the old one no longer works.")
            .label("Make a new link")
            .doc(
                "Makes a new link with which whoever is logged in may accept the invitation. It is told in the answer \
                 and never again; the link that there was leads nowhere any more.",
            )
            .answers(Answers::Entity),
        Action::collection(Verb::Get, "claim", Need::Session, ask)
            .argument("secret", SECRET)
            .unlinked()
            .doc("Asks whoever has the link of an invitation whether they accept it.")
            .answers(Answers::Value(shape::of::<Questionnaire>)),
        Action::collection(Verb::Post, "claim", Need::Session, claim)
            .done("You have joined {}.")
            .argument("secret", SECRET)
            .unlinked()
            .doc(
                "Makes the caller, who has the link of an invitation, a member of the site. It is refused with 409 if \
                 whoever invited may not give this role any more.",
            )
            .answers(Answers::Nothing),
    ]
}

/// Returns a new secret and what is kept of it.
pub(super) fn secret() -> Result<(String, Secret)> {
    let secret = token::new_token()?;
    let hash = Secret::new(token::hash(&secret));
    Ok((secret, hash))
}

/// Returns the invitation, which tells its link.
pub(super) fn told(cx: &Context, invitation: Invitation, secret: &str) -> Invitation {
    Invitation {
        link: Some(format!("{}{CLAIM}/{secret}", cx.base_url())),
        ..invitation
    }
}

/// `POST invitation/id/link`
async fn renew(
    cx: &Context,
    invitation: Invitation,
    _: Arguments,
) -> Result<ActionResult<Invitation>> {
    let (secret, hash) = secret()?;
    db::note::<Invitation>(cx, &invitation.id, "secret_hash", hash.expose()).await?;
    Ok(ActionResult::Entity(told(cx, invitation, &secret)))
}

/// `GET invitation/claim/secret`
async fn ask(cx: &Context, arguments: Arguments) -> Result<ActionResult<Invitation>> {
    let Invitation {
        site_title,
        member_role,
        invited_by_display_name,
        expires,
        ..
    } = of_secret(cx, &arguments).await?;
    let title = format!("{invited_by_display_name} invites you to {site_title} as {member_role}");
    Ok(ActionResult::Questionnaire(Questionnaire {
        title,
        ends_on: Some(expires),
        prompts: Vec::new(),
        sendings: vec![Sending {
            path: format!("{CLAIM}/{}", arguments.argument("secret")?),
            label: "Accept".to_owned(),
        }],
        ..Questionnaire::default()
    }))
}

/// `POST invitation/claim/secret`
async fn claim(cx: &Context, arguments: Arguments) -> Result<ActionResult<Invitation>> {
    let invitation = of_secret(cx, &arguments).await?;
    // Whoever is there already, such as who invited and tries the link, does not use it up.
    if is_member(cx, &invitation.site_id).await? {
        return Err(Error::conflict("you are a member of this site already"));
    }
    write::accept(cx, invitation).await
}

/// The invitation to whose link the secret belongs, as one to the caller.
async fn of_secret(cx: &Context, arguments: &Arguments) -> Result<Invitation> {
    let hash = token::hash(arguments.argument("secret")?);
    let of_hash = invitation::Entity::find().filter(invitation::Column::SecretHash.eq(hash));
    let found: Vec<Invitation> = db::load(cx, of_hash).await?;
    let mut found = found.into_iter().filter(|it| it.expires > cx.now());
    let invitation = found.next().ok_or_else(Error::not_found)?;
    Ok(Invitation {
        is_own: true,
        ..invitation
    })
}
