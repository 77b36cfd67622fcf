//! Preconditions of a request on the present state, evaluated in the order of RFC 9110, section 13.2.2.

use chrono::{DateTime, Utc};

use crate::primitives::error::{Error, Result};
use crate::primitives::version::Version;

/// The preconditions of a request on the state of what it reads or writes. The default has no condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// The states in which the request may proceed, from `If-Match` or `If-Unmodified-Since`.
    pub if_match: Option<IfMatch>,
    /// The versions from `If-None-Match`: a write of one of them is refused, and a read of one of them finds that the
    /// client has it already.
    pub if_none_match: Option<Versions>,
    /// The date from `If-Modified-Since`, in whole seconds as in HTTP: the client has the state with this date already.
    /// Only evaluated for a request that reads and has no `if_none_match`.
    pub if_modified_since: Option<DateTime<Utc>>,
}

/// A set of versions that a client names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Versions {
    /// Any version: something must exist.
    Any,
    /// One of these versions.
    OneOf(Vec<Version>),
}

/// The states in which a request may proceed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IfMatch {
    /// Any version: the entity must exist.
    Any,
    /// One of these versions.
    Versions(Vec<Version>),
    /// Any version that has not changed since this instant, in whole seconds as in HTTP.
    UnchangedSince(DateTime<Utc>),
}

/// The state of something that exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The version, if versions are kept.
    pub version: Option<Version>,
    /// The time of the last change, if it is recorded.
    pub updated: Option<DateTime<Utc>>,
    /// True in the second of the last change: it may change again and have the same date, so that the date says nothing.
    pub is_of_now: bool,
}

impl State {
    /// Returns the state at `now` of something in `version` that last changed at `updated`.
    pub fn at(
        now: DateTime<Utc>,
        version: Option<Version>,
        updated: Option<DateTime<Utc>>,
    ) -> Self {
        Self {
            version,
            updated,
            is_of_now: updated.is_some_and(|it| it.timestamp() >= now.timestamp()),
        }
    }
}

/// The outcome of the preconditions of a request that reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// The client does not have the present state: it is sent.
    Stale,
    /// The client has the present state already.
    Fresh,
}

impl Preconditions {
    /// Evaluates the preconditions of a request that reads something in `state`, and returns whether the client has it
    /// already.
    ///
    /// # Errors
    /// Returns an error if `if_match` rules out `state`.
    pub fn judge_read(&self, state: State) -> Result<Freshness> {
        self.require_match(state)?;
        let is_known = match (&self.if_none_match, self.if_modified_since, state.updated) {
            (Some(known), ..) => known.contain(state.version),
            // Not an earlier date either: a clock that was set back gives a newer state an older one.
            (None, Some(since), Some(updated)) => {
                updated.timestamp() == since.timestamp() && !state.is_of_now
            }
            (None, ..) => false,
        };
        Ok(match is_known {
            true => Freshness::Fresh,
            false => Freshness::Stale,
        })
    }

    /// Checks that the preconditions allow a write of something in `state`.
    ///
    /// # Errors
    /// Returns an error if `if_match` or `if_none_match` rules out `state`.
    pub fn judge_write(&self, state: State) -> Result<()> {
        self.require_match(state)?;
        match &self.if_none_match {
            Some(known) if known.contain(state.version) => Err(failed(state)),
            _ => Ok(()),
        }
    }

    /// Checks that the preconditions allow a request where nothing exists yet.
    ///
    /// # Errors
    /// Returns an error if `if_match` demands something that exists.
    pub fn judge_absence(&self) -> Result<()> {
        match self.if_match {
            Some(IfMatch::Any | IfMatch::Versions(_)) => Err(Error::nothing_matches()),
            // A missing entity has no date to compare.
            Some(IfMatch::UnchangedSince(_)) | None => Ok(()),
        }
    }

    fn require_match(&self, state: State) -> Result<()> {
        match &self.if_match {
            Some(condition) if !condition.holds(state) => Err(failed(state)),
            _ => Ok(()),
        }
    }
}

impl From<Option<IfMatch>> for Preconditions {
    fn from(if_match: Option<IfMatch>) -> Self {
        Self {
            if_match,
            ..Self::default()
        }
    }
}

impl From<IfMatch> for Preconditions {
    fn from(if_match: IfMatch) -> Self {
        Some(if_match).into()
    }
}

impl Versions {
    fn contain(&self, version: Option<Version>) -> bool {
        match self {
            Self::Any => true,
            Self::OneOf(versions) => version.is_some_and(|it| versions.contains(&it)),
        }
    }
}

impl IfMatch {
    /// Returns whether the condition holds for something in `state`. A condition on the date holds for anything without a
    /// date, and for nothing in the second of its last change.
    fn holds(&self, state: State) -> bool {
        match self {
            Self::Any => true,
            Self::Versions(versions) => state.version.is_some_and(|it| versions.contains(&it)),
            Self::UnchangedSince(since) => {
                let is_before = |it: DateTime<Utc>| it.timestamp() <= since.timestamp();
                state.updated.is_none_or(is_before) && !state.is_of_now
            }
        }
    }
}

fn failed(state: State) -> Error {
    Error::precondition_failed().with_version(state.version)
}
