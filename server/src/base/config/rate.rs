//! The rate limits: one row for each.
//!
//! A row declares the setting of the rate, the subject whose requests are counted, and the classes of requests that
//! count. Settings, header fields, the description of the API and the test of the manual follow from it.

use std::time::Duration;

use super::Network;
use super::problem::Problem;
use super::setting::{Setting, section};
use super::sheet::ConfigLayers;
use crate::base::class::Class;
use crate::base::metrics::RejectReason;

/// A limit on the requests of one subject in a second.
#[derive(Clone, Copy, Debug)]
pub struct RateLimit {
    /// The name in the fields `RateLimit-Policy` and `RateLimit`, and behind `rate.` in the settings.
    pub name: &'static str,
    /// The subject whose requests are counted.
    pub subject: RateSubject,
    /// Returns whether requests of a class count.
    pub counts: fn(Class) -> bool,
    /// The requests in a second; 0 is no limit.
    pub rate: fn(&RateSettings) -> u32,
}

/// The sender whose requests a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateSubject {
    /// One account.
    Account,
    /// All people of one network who are not logged in.
    Network,
}

impl RateSubject {
    /// The reason in `/metrics` and in the log.
    pub fn reason(self) -> RejectReason {
        match self {
            Self::Account => RejectReason::AccountRate,
            Self::Network => RejectReason::NetworkRate,
        }
    }

    /// The message of the answer 429.
    pub fn message(self) -> &'static str {
        match self {
            Self::Account => "you send too many requests: wait and try again",
            Self::Network => "your network sends too many requests: log in, or wait and try again",
        }
    }
}

macro_rules! rate_limits {
    ($(
        $(#[$doc:meta])*
        $name:ident = $key:literal, $variable:literal, $default:literal, of $subject:ident, $counts:expr;
    )*) => {
        section! {
            /// The rate limits of accounts and networks.
            pub struct RateSettings {
                $($(#[$doc])* $name: u32 = $key, $variable, $default;)*
                /// The requests of how many seconds may be sent at once.
                burst: Duration = "rate.burst", "LECTERN_RATE_BURST", "10";
                /// The networks of which strangers are not counted, such as those of a campus behind one address.
                exempt: Vec<Network> = "rate.exempt", "LECTERN_RATE_EXEMPT", "";
            }
        }

        /// All rate limits.
        pub const RATE_LIMITS: &[RateLimit] = &[$(RateLimit {
            name: stringify!($name),
            subject: RateSubject::$subject,
            counts: $counts,
            rate: |it| it.$name,
        }),*];
    };
}

rate_limits! {
    /// The number of requests an account may send in a second that only read, on the long run. 0: no limit.
    reads = "rate.reads", "LECTERN_RATE_READS", "50", of Account, |class| !class.may_write();
    /// The number of requests an account may send in a second that may change something. Operations of a batch
    /// count one by one. 0: no limit.
    writes = "rate.writes", "LECTERN_RATE_WRITES", "20", of Account, Class::may_write;
    /// The number of requests a network may send in a second of people who are not logged in. 0: no limit.
    strangers = "rate.strangers", "LECTERN_RATE_STRANGERS", "20", of Network, |_any| true;
}
