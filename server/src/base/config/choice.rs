//! The settings that are one word out of a few.

pub use tower_cookies::cookie::SameSite;

use super::value::Value;

macro_rules! words {
    ($name:ident { $($variant:ident = $word:literal),+ }) => {
        impl Value for $name {
            fn parse(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(format!("must be one of {}", [$($word),+].join(", "))),
                }
            }
        }
    };
}

macro_rules! choice {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        words! { $name { $($variant = $word),+ } }
    };
}

words! { SameSite { Lax = "lax", Strict = "strict", None = "none" } }

choice! {
    /// The purpose of the service.
    Profile {
        /// Trying and developing: everything that makes sense is allowed.
        Development = "development",
        /// Serving people: what is unsafe keeps the service from starting.
        Production = "production",
    }
}

choice! {
    /// The header in which proxies say for whom they ask.
    ProxyHeader {
        /// In `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Forwarded-Host`.
        XForwarded = "x-forwarded",
        /// In `Forwarded`, RFC 7239.
        Forwarded = "forwarded",
    }
}

choice! {
    /// The answers whose session cookie says `Secure`.
    CookieSecure {
        /// Those to requests that came in over TLS, and all if the public address is one with TLS.
        Auto = "auto",
        /// All.
        Always = "always",
        /// Those to requests that came in over TLS.
        Never = "never",
    }
}

choice! {
    /// The way to tell forged requests from real ones.
    CsrfMode {
        /// By the headers that browsers add.
        FetchMetadata = "fetch-metadata",
        /// By these and by a token of the session.
        Token = "token",
    }
}

choice! {
    /// The value of `sessionId` in the answer to a login.
    BodySessionId {
        /// The session's id, which is also the cookie's.
        Full = "full",
        /// Nothing: the id is in the cookie only.
        Omit = "omit",
    }
}

choice! {
    /// The form of log lines.
    LogFormat {
        /// Text at a terminal, JSON elsewhere.
        Auto = "auto",
        /// One JSON object a line.
        Json = "json",
        /// Text for people.
        Text = "text",
    }
}
