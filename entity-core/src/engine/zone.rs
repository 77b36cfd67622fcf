//! The time zone by whose clock the caller reads and writes times, which a type of the service knows.

use futures::future::BoxFuture;

use crate::contract::context::Context;
use crate::primitives::error::Result;
use crate::primitives::recurrence::Tz;

/// Finds the zone of the caller, if it is known.
pub type Find = for<'a> fn(&'a Context) -> BoxFuture<'a, Result<Option<Tz>>>;

/// The registration of who knows the zones of callers; created by [`register_zone!`](crate::register_zone).
#[derive(Clone, Copy, Debug)]
pub struct ZoneRegistration(pub Find);

inventory::collect!(ZoneRegistration);

/// Registers who knows the zones of callers: `register_zone!(find);`. The function is a [`Find`]. Of several registrations
/// one is asked.
#[macro_export]
macro_rules! register_zone {
    ($find:expr) => {
        $crate::inventory::submit! {
            $crate::zone::ZoneRegistration($find)
        }
    };
}

/// Returns the zone of the caller, if it is known.
///
/// # Errors
/// Returns an error if it can't be looked up.
pub async fn of(cx: &Context) -> Result<Option<Tz>> {
    match inventory::iter::<ZoneRegistration>().next() {
        Some(found) => (found.0)(cx).await,
        None => Ok(None),
    }
}
