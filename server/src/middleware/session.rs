//! Finds the session of a request.
