//! Numbers that look drawn by lot, and are the same whenever they are asked for.

/// Returns a number that is made of `text` and scattered over the whole range: for an order that looks drawn by lot and
/// stays as it is, with every version of the service. Whoever knows `text` knows the number, so it keeps no secret.
///
/// ```
/// assert_eq!(entity_core::words::scattered("a"), entity_core::words::scattered("a"));
/// assert_ne!(entity_core::words::scattered("a"), entity_core::words::scattered("b"));
/// ```
pub fn scattered(text: &str) -> u64 {
    // FNV-1a, whose lower bits are scattered best: the remainder of a division takes all of them into account.
    let start = 0xcbf2_9ce4_8422_2325_u64;
    text.bytes().fold(start, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
