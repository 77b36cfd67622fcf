//! The results of slow work that was done at the edge for one request.

use std::any::Any;
use std::sync::Arc;

use crate::contract::sanitizer::LongTexts;

/// The result of the work of a type at the edge.
pub type Made = Arc<dyn Any + Send + Sync>;

/// The results of the work at the edge for one request; empty for most requests.
#[derive(derive_more::Debug, Clone, Default)]
#[debug("Preparation({} texts)", self.texts.len())]
pub struct Preparation {
    pub(crate) texts: Arc<LongTexts>,
    pub(crate) made: Option<Made>,
}
