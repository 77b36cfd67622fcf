//! The names of files that clients send, and the media types that follow from them.

use std::borrow::Cow;

/// The media type of a file whose name tells none.
pub const OCTETS: &str = "application/octet-stream";
/// The maximum length of a file's name in bytes, as most file systems have it.
const MAX_NAME: usize = 255;

/// Returns the media type of a file with this name, which follows from its ending. The bytes are never looked at,
/// because what they seem to be depends on who looks.
pub fn media_type(name: &str) -> &'static str {
    mime_guess::from_path(name).first_raw().unwrap_or(OCTETS)
}

/// Returns the name of a file that a client sent, without the folders that some programs send in front of it.
///
/// # Errors
/// Returns a message about the name if it is empty, too long, or has control characters.
pub fn file_name(sent: &str) -> Result<&str, Cow<'static, str>> {
    let name = sent.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    if name.is_empty() || matches!(name, "." | "..") {
        return Err("must have a name".into());
    }
    if name.len() > MAX_NAME {
        return Err(format!("must have a name of at most {MAX_NAME} bytes").into());
    }
    match name.chars().any(is_unprintable) {
        true => Err("must have a name without control characters".into()),
        false => Ok(name),
    }
}

/// Returns whether the character is none that a name shows: a control character, or one that turns the direction of
/// the text, by which `exe.pdf` looks like `fdp.exe`.
pub(super) fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_folders_and_shows_all_that_it_is() {
        for (sent, name) in [
            ("slides.pdf", Some("slides.pdf")),
            ("../../etc/passwd", Some("passwd")),
            ("C:\\Users\\ada\\a.txt", Some("a.txt")),
            ("con", Some("con")),
            ("\u{1f600}.png", Some("\u{1f600}.png")),
            ("..", None),
            ("a/", None),
            ("", None),
            ("a\0b", None),
            ("a\r\nSet-Cookie: x", None),
            ("fdp.\u{202e}exe", None),
        ] {
            assert_eq!(file_name(sent).ok(), name, "{sent:?}");
        }
        assert!(file_name(&"x".repeat(255)).is_ok());
        assert!(file_name(&"x".repeat(256)).is_err());
    }

    #[test]
    fn the_type_follows_from_the_ending() {
        for (name, expected) in [
            ("a.PDF", "application/pdf"),
            ("a.tar.gz", "application/gzip"),
            ("a.html", "text/html"),
            ("a", OCTETS),
            ("a.unheardof", OCTETS),
        ] {
            assert_eq!(media_type(name), expected, "{name}");
        }
    }
}
