//! Passwords: Argon2id, at most one verification for each core at a time, and a short queue for the rest.
//!
//! One verification keeps a core busy for some 40 ms and holds 19 MiB. Without a limit a burst of logins would take
//! every core and the memory of the machine; with it the burst waits, and a login that finds the queue full is refused
//! before any work was done for it. The queue is that of the logins among the [places](crate::guard::admission): names
//! of one network take turns, and no name is tried twice at the same time.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use entity_core::{Error, Result};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::Semaphore;
use unicode_normalization::UnicodeNormalization as _;

use crate::base::class::Class;
use crate::guard::admission::{self, Admission, ClientKey};

/// The longest password, in bytes.
pub const MAX_PASSWORD: usize = 1024;

const LANES: u32 = 1;

/// The cost of hashing a password. Hashes that cost less are made anew when somebody logs in with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordCost {
    /// The memory that it takes, in KiB.
    pub memory: u32,
    /// The number of passes over the memory.
    pub passes: u32,
}

impl PasswordCost {
    /// A cost too low to protect passwords: for tests of other things, which log in all the time.
    pub const NEXT_TO_NONE: Self = Self {
        memory: 8,
        passes: 1,
    };
}

impl Default for PasswordCost {
    /// Returns the minimum of OWASP's Password Storage Cheat Sheet.
    fn default() -> Self {
        Self {
            memory: 19_456,
            passes: 2,
        }
    }
}

/// Hashes and verifies passwords. One for a service.
#[derive(derive_more::Debug, Clone)]
#[debug("Passwords {{ free: {:?} }}", self.workers.available_permits())]
pub struct Passwords {
    argon2: Arc<Argon2<'static>>,
    cost: PasswordCost,
    /// The hash of a password that nobody knows, verified when there is no account: that takes as long.
    dummy: Arc<str>,
    admission: Arc<Admission>,
    workers: Arc<Semaphore>,
    runs: Arc<AtomicU64>,
}

/// A place among the logins. Holding one is the right to a verification.
#[derive(Debug)]
pub struct Permit {
    _place: admission::Permit,
}

/// The result of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verified {
    /// The password is wrong, or there is no account.
    Wrong,
    /// The password is right.
    Right,
    /// The password is right, and its hash is weaker than those made today.
    RightButWeak,
}

impl Passwords {
    /// Verifies as many passwords at a time as `cores`. New hashes have this `cost`.
    pub(crate) fn new(cores: usize, cost: PasswordCost, admission: Arc<Admission>) -> Result<Self> {
        let params = Params::new(cost.memory, cost.passes, LANES, None).map_err(Error::internal)?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let nobody = crate::guard::session::id::SessionId::generate()?;
        let dummy = hash(&argon2, nobody.expose().as_bytes())?;
        let cores = cores.max(1);
        Ok(Self {
            argon2: Arc::new(argon2),
            cost,
            dummy: dummy.into(),
            admission,
            workers: Arc::new(Semaphore::new(cores)),
            runs: Arc::default(),
        })
    }

    /// A place for a try of `name` from `address`, before anything is done for it.
    ///
    /// # Errors
    /// The queue is full; this name or network has all of it that one may have.
    pub async fn queue(&self, name: &str, address: IpAddr) -> Result<Permit> {
        let who = self.admission.login(name, address);
        self.enter(who).await
    }

    /// Takes a place for a user who is logged in and gives the present password to change it. The user and the limit of
    /// tries have been checked before.
    ///
    /// # Errors
    /// The queue is full.
    pub async fn queue_change(&self) -> Result<Permit> {
        self.enter(self.admission.new_password()).await
    }

    async fn enter(&self, who: ClientKey) -> Result<Permit> {
        let place = self.admission.lane(Class::Login).enter(who).await?;
        Ok(Permit { _place: place })
    }

    /// Returns the number of hashes and verifications since it was made: a login costs the same, whoever it is for.
    pub fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    /// Verifies `password` against `stored`, the hash of the account. Without an account it takes as long
    /// and is wrong.
    ///
    /// # Errors
    /// The stored hash can't be read.
    pub async fn verify(
        &self,
        _place: &Permit,
        password: &SecretString,
        stored: Option<&str>,
    ) -> Result<Verified> {
        let (argon2, password) = (Arc::clone(&self.argon2), password.clone());
        let cost = self.cost;
        let exists = stored.is_some();
        let stored = stored.map_or_else(|| Arc::clone(&self.dummy), Arc::from);
        let verified = self
            .work(move || verify_any(&argon2, cost, password.expose_secret(), &stored))
            .await?;
        Ok(if exists { verified } else { Verified::Wrong })
    }

    /// The hash of a new password.
    ///
    /// # Errors
    /// The queue is full; the password is too long or empty.
    pub async fn hash(&self, password: &str) -> Result<String> {
        if password.is_empty() || password.len() > MAX_PASSWORD {
            return Err(Error::field(
                "password",
                format!("must have 1 to {MAX_PASSWORD} bytes"),
            ));
        }
        let place = self.queue_change().await?;
        let (argon2, password) = (Arc::clone(&self.argon2), composed(password));
        let hashed = self
            .work(move || hash(&argon2, password.expose_secret().as_bytes()))
            .await;
        drop(place);
        hashed
    }

    /// Runs `work` on a thread that may block, when a core is free for it.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = Arc::clone(&self.workers)
            .acquire_owned()
            .await
            .map_err(Error::internal)?;
        self.runs.fetch_add(1, Ordering::Relaxed);
        tokio::task::spawn_blocking(move || {
            // The permit goes back when the work is done, also when nobody waits for it any more.
            let _permit = permit;
            work()
        })
        .await
        .map_err(Error::internal)?
    }
}

/// The form in which passwords are hashed and compared, whatever keyboard they were typed on: NFC, as RFC 8265 wants it.
fn composed(password: &str) -> SecretString {
    SecretString::from(password.nfc().collect::<String>())
}

/// Verifies a password, and the bytes that were sent if these are others: hashes made before may be of those. An account
/// that does not exist takes as long.
fn verify_any(
    argon2: &Argon2<'_>,
    cost: PasswordCost,
    password: &str,
    stored: &str,
) -> Result<Verified> {
    let composed = composed(password);
    match verify(argon2, cost, composed.expose_secret().as_bytes(), stored)? {
        Verified::Wrong if composed.expose_secret() != password => {
            match verify(argon2, cost, password.as_bytes(), stored)? {
                Verified::Wrong => Ok(Verified::Wrong),
                // It is made anew, of the composed form.
                Verified::Right | Verified::RightButWeak => Ok(Verified::RightButWeak),
            }
        }
        verified => Ok(verified),
    }
}

fn hash(argon2: &Argon2<'_>, password: &[u8]) -> Result<String> {
    argon2
        .hash_password(password)
        .map(|it| it.to_string())
        .map_err(|error| Error::internal(error.to_string()))
}

fn verify(
    argon2: &Argon2<'_>,
    cost: PasswordCost,
    password: &[u8],
    stored: &str,
) -> Result<Verified> {
    use argon2::password_hash::Error::PasswordInvalid;
    let unreadable = |error: argon2::password_hash::Error| {
        Error::internal(format!("a stored password hash can't be used: {error}"))
    };
    let parsed = PasswordHash::new(stored).map_err(|error| unreadable(error.into()))?;
    match argon2.verify_password(password, &parsed) {
        Ok(()) if is_weak(&parsed, cost) => Ok(Verified::RightButWeak),
        Ok(()) => Ok(Verified::Right),
        Err(PasswordInvalid) => Ok(Verified::Wrong),
        Err(error) => Err(unreadable(error)),
    }
}

/// Returns whether `stored` is a hash of `password`. It takes as long as it takes: not for answers to requests.
pub(crate) fn is_hash_of(password: &str, stored: &str) -> bool {
    PasswordHash::new(stored).is_ok_and(|it| {
        Argon2::default()
            .verify_password(password.as_bytes(), &it)
            .is_ok()
    })
}

fn is_weak(stored: &PasswordHash, cost: PasswordCost) -> bool {
    let is_id = stored.algorithm == Algorithm::Argon2id.ident();
    let is_strong = Params::try_from(stored).is_ok_and(|it| {
        it.m_cost() >= cost.memory && it.t_cost() >= cost.passes && it.p_cost() >= LANES
    });
    !(is_id && is_strong)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn address() -> IpAddr {
        [192, 0, 2, 1].into()
    }

    fn secret(text: &str) -> SecretString {
        SecretString::from(text)
    }

    fn passwords(cores: usize) -> Passwords {
        Passwords::new(cores, PasswordCost::default(), Admission::for_tests()).unwrap()
    }

    async fn check(passwords: &Passwords, password: &str, stored: Option<&str>) -> Verified {
        let place = passwords.queue("ada", address()).await.unwrap();
        passwords
            .verify(&place, &secret(password), stored)
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn auth_1_a_password_is_taken_whole_and_as_it_is() {
        let passwords = passwords(2);
        for (password, other) in [
            (" lead", "lead"),
            ("trail ", "trail"),
            ("Case", "case"),
            (&"x".repeat(1024), &"x".repeat(1023)),
        ] {
            let stored = passwords.hash(password).await.unwrap();
            assert_eq!(
                check(&passwords, password, Some(&stored)).await,
                Verified::Right
            );
            assert_eq!(
                check(&passwords, other, Some(&stored)).await,
                Verified::Wrong
            );
        }
        assert!(passwords.hash(&"x".repeat(1025)).await.is_err());
        assert!(passwords.hash("").await.is_err());
    }

    #[tokio::test]
    async fn auth_3_hashes_say_how_they_were_made() {
        let passwords = passwords(1);
        let stored = passwords.hash("secret").await.unwrap();
        assert!(
            stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{stored}"
        );
        assert_ne!(stored, passwords.hash("secret").await.unwrap());
    }

    #[tokio::test]
    async fn auth_3_a_weaker_hash_is_noticed() {
        // Made by the reference program: `echo -n password | argon2 somesalt -id -t 2 -k 256 -p 1`.
        let stored =
            "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
        let passwords = passwords(1);
        assert_eq!(
            check(&passwords, "password", Some(stored)).await,
            Verified::RightButWeak
        );
        assert_eq!(
            check(&passwords, "passwore", Some(stored)).await,
            Verified::Wrong
        );
    }

    #[tokio::test]
    async fn x15_a_password_is_the_same_however_it_was_typed() {
        let (composed, decomposed) = ("p\u{e4}ssword", "pa\u{308}ssword");
        let passwords = passwords(1);
        for set in [composed, decomposed] {
            let stored = passwords.hash(set).await.unwrap();
            for typed in [composed, decomposed] {
                let verified = check(&passwords, typed, Some(&stored)).await;
                assert_eq!(verified, Verified::Right, "{set:?} {typed:?}");
            }
        }
        // Made before, of the bytes as they were sent.
        let stored = hash(&passwords.argon2, decomposed.as_bytes()).unwrap();
        let verified = check(&passwords, decomposed, Some(&stored)).await;
        assert_eq!(verified, Verified::RightButWeak);
    }

    #[tokio::test]
    async fn auth_2_without_an_account_every_password_is_wrong_and_costs_as_much() {
        let passwords = passwords(1);
        let stored = passwords.hash("secret").await.unwrap();
        assert_eq!(passwords.runs(), 1);
        for (stored, runs) in [(Some(stored.as_str()), 2), (None, 3)] {
            assert_eq!(check(&passwords, "anything", stored).await, Verified::Wrong);
            assert_eq!(passwords.runs(), runs);
        }
        let cost = |hash: &str| Params::try_from(&PasswordHash::new(hash).unwrap()).unwrap();
        let (nobody, somebody) = (cost(&passwords.dummy), cost(&stored));
        assert_eq!(
            (nobody.m_cost(), nobody.t_cost(), nobody.p_cost()),
            (somebody.m_cost(), somebody.t_cost(), somebody.p_cost())
        );
    }

    #[tokio::test]
    async fn auth_3_a_full_queue_is_told_before_any_work() {
        let passwords = passwords(2);
        let place = passwords.queue("ada", address()).await.unwrap();
        let tries = (0..100).map(|_| passwords.queue("ada", address()));
        let mut tries: Vec<_> = tries.map(Box::pin).collect();
        let refused = tries.iter_mut().filter_map(|it| it.as_mut().now_or_never());
        let errors: Vec<_> = refused.map(Result::unwrap_err).collect();
        assert_eq!(errors.len(), 92, "eight tries of one name wait");
        for error in errors {
            assert_eq!(error.kind(), entity_core::ErrorKind::TooManyRequests);
            assert!(error.retry_after().is_some());
        }
        // Another name of the same network has its turn at once.
        let other = passwords.queue("grace", address());
        assert!(other.now_or_never().is_some_and(|it| it.is_ok()));
        drop(tries);
        drop(place);
        assert!(passwords.queue("ada", address()).await.is_ok());
    }
}
