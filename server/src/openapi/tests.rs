//! What the document holds.
