//! A service that can't start: its endpoint has the address of one that is there already.

use std::process::ExitCode;

use entity_core::endpoint::{Call, Endpoint};
use entity_core::{Context, Result};

const ROLES: Endpoint = Endpoint::get("/api/user/roles", "readRoles")
    .doc("Reads nothing.")
    .answers::<Vec<String>>(&roles);
entity_core::register_endpoint!(ROLES);

async fn roles(_cx: &Context, _call: Call) -> Result<Vec<String>> {
    Ok(Vec::new())
}

fn main() -> ExitCode {
    server::run()
}
