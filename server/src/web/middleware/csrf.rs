//! Refuses unsafe requests that another site made a browser send.

use entity_core::Result;

use crate::guard::csrf::{self, Verdict};
use crate::guard::session::bearer;
use crate::web::app::App;
use crate::web::request_body::RequestBody;
use crate::web::request_context::RequestContext;

/// Refuses the request if [`csrf::decide`] says so.
///
/// # Errors
/// Another site sent it; it lacks the token of its session; its body can't be read.
pub(crate) async fn check(
    app: &App,
    context: &RequestContext,
    body: &mut RequestBody,
) -> Result<()> {
    let token = context.session.as_ref().map(|it| it.csrf_token());
    let parts = &context.parts;
    if bearer::read(&parts.headers).is_some() {
        return Ok(());
    }
    match csrf::decide(&app.csrf, &parts.method, &parts.headers, token) {
        Verdict::Pass => Ok(()),
        Verdict::Foreign => Err(csrf::foreign()),
        Verdict::IfUploadHoldsToken if context.brings_files() => {
            // Whoever reads the files demands it.
            body.owed_token = token.map(ToOwned::to_owned);
            Ok(())
        }
        Verdict::IfUploadHoldsToken | Verdict::WithoutToken => Err(csrf::without_token()),
        Verdict::IfFormHoldsToken => {
            let token = token.unwrap_or_default().to_owned();
            let config = &app.config;
            body.read(context, config.limits.form_body.0, config.timeouts.body)
                .await?;
            match csrf::form_holds(&body.bytes, &token) {
                true => Ok(()),
                false => Err(csrf::without_token()),
            }
        }
    }
}
