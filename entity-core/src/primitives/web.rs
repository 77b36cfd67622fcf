//! Addresses of the web, to which people may be led.

/// Returns whether `url` is an absolute address of http or https that a browser may follow: it names a host, runs nothing,
/// and has no character that would end it in HTML, in a header or in text.
///
/// ```
/// assert!(entity_core::primitives::is_web_address("https://example.org/a?b=c"));
/// assert!(!entity_core::primitives::is_web_address("javascript:alert(1)"));
/// ```
pub fn is_web_address(url: &str) -> bool {
    let is_scheme = |it: &str| {
        ["http", "https"]
            .iter()
            .any(|own| it.eq_ignore_ascii_case(own))
    };
    let is_host = |it: &str| it.starts_with(|c: char| c.is_alphanumeric() || c == '[');
    url.split_once("://")
        .is_some_and(|(scheme, rest)| is_scheme(scheme) && is_host(rest))
        && has_signs_of_address(url)
}

/// Returns whether all characters of `text` are ones that an address or a path may have.
pub(crate) fn has_signs_of_address(text: &str) -> bool {
    let is_plain = |c: char| {
        !c.is_control() && !c.is_whitespace() && !matches!(c, '\\' | '"' | '<' | '>' | '`')
    };
    text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_the_web_names_a_host_and_runs_nothing() {
        for (url, is_one) in [
            ("https://example.org/a.pdf", true),
            ("http://example.org", true),
            ("https://[2001:db8::1]/", true),
            ("https://m\u{fc}nchen.example/", true),
            ("HTTPS://example.org/a", true),
            ("Http://example.org/a", true),
            ("JavaScript://example.org/a", false),
            ("https://", false),
            ("https:///a", false),
            ("//example.org/a", false),
            ("javascript:alert(1)", false),
            ("data:text/html,x", false),
            ("https://example.org/a b", false),
            ("https://example.org/\"><script>", false),
            ("https://example.org/a\r\nX: y", false),
            ("https:\\\\example.org", false),
            ("ftp://example.org", false),
            ("", false),
        ] {
            assert_eq!(is_web_address(url), is_one, "{url}");
        }
    }
}
