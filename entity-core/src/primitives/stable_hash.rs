//! A hash of texts that stays the same with every version of the service.

/// Returns a hash of `text` over the whole range of numbers. It serves an order that looks random and stays the same
/// with every version of the service. Anybody who knows `text` can compute it, so it keeps no secret.
///
/// ```
/// assert_eq!(entity_core::primitives::stable_hash("a"), entity_core::primitives::stable_hash("a"));
/// assert_ne!(entity_core::primitives::stable_hash("a"), entity_core::primitives::stable_hash("b"));
/// ```
pub fn stable_hash(text: &str) -> u64 {
    // FNV-1a, whose lower bits are scattered best: the remainder of a division takes all of them into account.
    let start = 0xcbf2_9ce4_8422_2325_u64;
    text.bytes().fold(start, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
