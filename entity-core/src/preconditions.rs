//! What a client demands of the state that it finds, judged in the order of RFC 9110, section 13.2.2.

use chrono::{DateTime, Utc};

use crate::entity::Version;
use crate::error::{Error, Result};

/// What a client demands of the state of what it asks for or writes. The default demands nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// In which states it means it.
    pub if_match: Option<IfMatch>,
    /// In which states it does not mean it.
    pub if_none_match: Option<Versions>,
    /// Since when something must have changed, in whole seconds as HTTP has them. Only a request that reads, and
    /// that names no states in which it is not meant, is asked about it.
    pub if_modified_since: Option<DateTime<Utc>>,
}

/// States that a client names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Versions {
    /// Whichever there is: there must be something at all.
    Any,
    /// One of these.
    OneOf(Vec<Version>),
}

/// Names the states in which a request is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IfMatch {
    /// Any version: the entity must exist.
    Any,
    /// One of these.
    Versions(Vec<Version>),
    /// Whichever has not changed since this instant, in whole seconds as HTTP has them.
    UnchangedSince(DateTime<Utc>),
}

/// The state of something that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Its version, if anybody keeps count.
    pub version: Option<Version>,
    /// When it last changed, if that is written down.
    pub updated: Option<DateTime<Utc>>,
}

/// What comes of a request that reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// The client does not have what there is: it is sent.
    Stale,
    /// The client has it already.
    Fresh,
}

impl Preconditions {
    /// Whether the client that reads something in `state` has it already.
    ///
    /// # Errors
    /// It is in none of the states in which the request is meant.
    pub fn judge_read(&self, state: State) -> Result<Freshness> {
        self.require_match(state)?;
        let is_known = match (&self.if_none_match, self.if_modified_since, state.updated) {
            (Some(known), ..) => known.contain(state.version),
            // Not an earlier date either: a clock that was set back gives a newer state an older one.
            (None, Some(since), Some(updated)) => updated.timestamp() == since.timestamp(),
            (None, ..) => false,
        };
        Ok(match is_known {
            true => Freshness::Fresh,
            false => Freshness::Stale,
        })
    }

    /// Insists that something in `state` may be written.
    ///
    /// # Errors
    /// It is in none of the states in which the request is meant, or in one of those in which it is not.
    pub fn judge_write(&self, state: State) -> Result<()> {
        self.require_match(state)?;
        match &self.if_none_match {
            Some(known) if known.contain(state.version) => Err(failed(state)),
            _ => Ok(()),
        }
    }

    /// Insists that a request is meant where there is nothing yet.
    ///
    /// # Errors
    /// It is meant for something that is there.
    pub fn judge_absence(&self) -> Result<()> {
        match self.if_match {
            Some(IfMatch::Any | IfMatch::Versions(_)) => Err(Error::nothing_matches()),
            // What is not there has no date, so that nothing can be said about it.
            Some(IfMatch::UnchangedSince(_)) | None => Ok(()),
        }
    }

    fn require_match(&self, state: State) -> Result<()> {
        match &self.if_match {
            Some(condition) if !condition.holds(state.version, state.updated) => Err(failed(state)),
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
    /// Whether something in `version`, which last changed at `updated`, is meant. About what has no date nothing
    /// is said by a date.
    fn holds(&self, version: Option<Version>, updated: Option<DateTime<Utc>>) -> bool {
        match self {
            Self::Any => true,
            Self::Versions(versions) => version.is_some_and(|it| versions.contains(&it)),
            Self::UnchangedSince(since) => {
                updated.is_none_or(|it| it.timestamp() <= since.timestamp())
            }
        }
    }
}

fn failed(state: State) -> Error {
    Error::precondition_failed().with_version(state.version)
}
