//! A panic as an error: a defect of ours.

use std::any::Any;

use entity_core::Error;

/// Makes the error of a panic with this payload.
pub fn to_error(payload: &(dyn Any + Send)) -> Error {
    Error::internal(format!("panicked: {}", text(payload)))
}

/// Returns the message of a panic with this payload.
pub fn text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no text")
}
