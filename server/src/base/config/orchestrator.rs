//! Environment variables that orchestrators set for a service named `lectern`.
//!
//! Kubernetes describes each service of a namespace to every container by variables that begin with the service's
//! name, as links of Docker do. They look like settings and are none.

/// Returns whether an orchestrator sets the variable `name` to `value` for a service named `lectern`.
pub(super) fn sets(name: &str, value: &str) -> bool {
    let Some(name) = name.strip_prefix("LECTERN_") else {
        return false;
    };
    match name {
        "SERVICE_HOST" => true,
        "PORT" => value.contains("://"),
        name => name.starts_with("SERVICE_PORT") || describes_port(name),
    }
}

/// Returns whether `name` is that of one port: `PORT_8080_TCP`, `PORT_8080_TCP_ADDR`, `PORT_53_UDP_PROTO`.
fn describes_port(name: &str) -> bool {
    let mut parts = name.split('_');
    let is_port =
        parts.next() == Some("PORT") && parts.next().is_some_and(|it| it.parse::<u16>().is_ok());
    let is_protocol = matches!(parts.next(), Some("TCP" | "UDP" | "SCTP"));
    let is_detail = matches!(parts.next(), None | Some("ADDR" | "PORT" | "PROTO"));
    is_port && is_protocol && is_detail && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::sets;

    #[test]
    fn variables_of_orchestrators_are_told_from_misspelt_settings() {
        for (name, value, expected) in [
            ("LECTERN_SERVICE_HOST", "10.0.0.7", true),
            ("LECTERN_SERVICE_PORT", "80", true),
            ("LECTERN_SERVICE_PORT_HTTP", "80", true),
            ("LECTERN_PORT", "tcp://10.0.0.7:80", true),
            ("LECTERN_PORT", "8080", false),
            ("LECTERN_PORT_80_TCP", "tcp://10.0.0.7:80", true),
            ("LECTERN_PORT_80_TCP_ADDR", "10.0.0.7", true),
            ("LECTERN_PORT_80_TCP_NAME", "x", false),
            ("LECTERN_PORTS", "80", false),
            ("LECTERN_SESION_TIMEOUT", "1800", false),
            ("OTHER_SERVICE_HOST", "10.0.0.7", false),
        ] {
            assert_eq!(sets(name, value), expected, "{name}={value}");
        }
    }
}
