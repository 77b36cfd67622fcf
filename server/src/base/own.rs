//! Things that everybody has of their own, such as sessions and private feeds.

use entity_core::{Context, Operation, Permit, Result};

/// Returns the permission of the caller. A super user may see and remove those of others, and nothing else.
pub(crate) async fn permit(cx: &Context, is_own: bool, operation: Operation) -> Result<Permit> {
    if is_own {
        return Ok(Permit::Allowed);
    }
    let is_superuser = cx.authorizer().is_superuser(cx).await?;
    Ok(match operation {
        Operation::Read | Operation::Delete if is_superuser => Permit::Allowed,
        _ if is_superuser => Permit::Forbidden,
        _ => Permit::Hidden,
    })
}
