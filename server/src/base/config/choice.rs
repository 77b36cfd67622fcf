//! The settings that are one word out of a few.

use super::value::Value;

macro_rules! choice {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

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

choice! {
    /// What the service is for.
    Profile {
        /// Trying and developing: everything that makes sense is allowed.
        Development = "development",
        /// Serving people: what is unsafe keeps the service from starting.
        Production = "production",
    }
}

choice! {
    /// Where proxies say for whom they ask.
    ProxyHeader {
        /// In `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Forwarded-Host`.
        XForwarded = "x-forwarded",
        /// In `Forwarded`, RFC 7239.
        Forwarded = "forwarded",
    }
}

choice! {
    /// Whether the session cookie says `Secure`.
    CookieSecure {
        /// When the request came in over TLS, or the public address is one with TLS.
        Auto = "auto",
        /// On every cookie.
        Always = "always",
        /// On none.
        Never = "never",
    }
}

choice! {
    /// With which requests of other sites browsers send the session cookie.
    SameSite {
        /// With links that are followed.
        Lax = "lax",
        /// With none: the first click on a link from outside is not logged in.
        Strict = "strict",
        /// With all. Browsers demand `Secure` for it.
        None = "none",
    }
}

choice! {
    /// How forged requests are told from real ones.
    CsrfMode {
        /// By the headers that browsers add.
        FetchMetadata = "fetch-metadata",
        /// By these and by a token of the session.
        Token = "token",
    }
}

choice! {
    /// What the login's answer gives as `sessionId`.
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
