//! The URL grammar of `/direct`: parses the text after the mount point into a [`DirectPath`], and writes it back.
//!
//! ```text
//! /prefix[/segment …][.format]
//! ```
//!
//! A segment is decoded exactly once, after the path was split.
//! A dot starts a format only if a registered format follows it; any other dot belongs to the segment.

use std::fmt;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use crate::primitives::error::{Error, Result};

/// The maximum length of a path as it was sent, in bytes.
pub const MAX_PATH: usize = 4096;
/// The maximum length of a decoded segment, in bytes.
pub const MAX_SEGMENT: usize = 255;
/// The maximum number of segments behind the prefix.
pub const MAX_SEGMENTS: usize = 16;

/// The characters that must be percent-encoded inside a segment.
const SEGMENT: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A parsed path below `/direct`. The empty prefix is the start page.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DirectPath {
    /// The prefix of the entity type.
    pub prefix: String,
    /// The segments behind the prefix, decoded, without the format.
    pub segments: Vec<String>,
    /// The format named by the last segment's extension.
    pub format: Option<String>,
}

impl DirectPath {
    /// Parses `raw`, the text behind `/direct` as it was sent: empty, or beginning with a slash. `is_format` tells
    /// whether an extension is the name of a format.
    ///
    /// # Errors
    /// Returns an error if the path is too long or has too many segments, or if a segment is empty, `.` or `..`, too
    /// long, can't be decoded, or has a character that is refused, such as a control character.
    pub fn parse(raw: &str, is_format: impl Fn(&str) -> bool) -> Result<Self> {
        if raw.len() > MAX_PATH {
            return Err(Error::new(
                crate::ErrorKind::UriTooLong,
                format!("the address must not be longer than {MAX_PATH} bytes"),
            ));
        }
        let Some(rest) = raw.strip_prefix('/') else {
            return match raw {
                "" => Ok(Self::default()),
                _ => Err(Error::bad_request("the path must begin with a slash")),
            };
        };
        let mut segments = rest.split('/').map(decode).collect::<Result<Vec<_>>>()?;
        if segments.len() > MAX_SEGMENTS + 1 {
            return Err(Error::bad_request(format!(
                "the path must not have more than {MAX_SEGMENTS} segments behind the prefix"
            )));
        }
        let format = segments
            .last_mut()
            .and_then(|last| split_format(last, is_format));
        let mut segments = segments.into_iter();
        let prefix = segments.next().unwrap_or_default();
        Ok(Self {
            prefix,
            segments: segments.collect(),
            format,
        })
    }

    /// Creates the path of `prefix` and `segments`, without a format.
    pub fn new<S: Into<String>>(prefix: &str, segments: impl IntoIterator<Item = S>) -> Self {
        Self {
            prefix: prefix.to_owned(),
            segments: segments.into_iter().map(Into::into).collect(),
            format: None,
        }
    }
}

/// Writes the path percent-encoded, as it stands behind `/direct`.
impl fmt::Display for DirectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}", encode_segment(&self.prefix))?;
        for segment in &self.segments {
            write!(f, "/{}", encode_segment(segment))?;
        }
        match &self.format {
            Some(format) => write!(f, ".{format}"),
            None => Ok(()),
        }
    }
}

/// Percent-encodes `text` as one segment of a path.
pub fn encode_segment(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

fn decode(raw: &str) -> Result<String> {
    if raw.is_empty() {
        return Err(Error::bad_request(
            "the path must not have an empty segment",
        ));
    }
    if !has_whole_escapes(raw) {
        return Err(Error::bad_request(
            "a percent sign in the path must be followed by two hexadecimal digits",
        ));
    }
    let text = percent_decode_str(raw)
        .decode_utf8()
        .map_err(|error| Error::bad_request("the path must be UTF-8").with_source(error))?;
    if text.len() > MAX_SEGMENT {
        return Err(Error::bad_request(format!(
            "a segment of the path must not be longer than {MAX_SEGMENT} bytes"
        )));
    }
    if text == "." || text == ".." {
        return Err(Error::bad_request(
            "the path must not have `.` or `..` as a segment",
        ));
    }
    if text.chars().any(is_refused) {
        return Err(Error::bad_request(
            "the path has a character that is not allowed in it",
        ));
    }
    Ok(text.into_owned())
}

fn has_whole_escapes(raw: &str) -> bool {
    raw.split('%')
        .skip(1)
        .all(|it| it.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2)
}

/// Returns whether `c` is refused in a segment: a control character, a separator of another grammar, or a character
/// that makes text look like other text.
fn is_refused(c: char) -> bool {
    c.is_control()
        || matches!(c, '/' | '\\' | ';' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

fn split_format(last: &mut String, is_format: impl Fn(&str) -> bool) -> Option<String> {
    let (stem, extension) = last.rsplit_once('.')?;
    if stem.is_empty() || !is_format(extension) {
        return None;
    }
    let format = extension.to_owned();
    let length = stem.len();
    last.truncate(length);
    Some(format)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(raw: &str) -> Result<DirectPath> {
        DirectPath::parse(raw, |it| matches!(it, "json" | "xml" | "html"))
    }

    fn check(raw: &str, prefix: &str, segments: &[&str], format: Option<&str>) {
        let path = parse(raw).unwrap();
        assert_eq!(path.prefix, prefix, "{raw}");
        assert_eq!(path.segments, segments, "{raw}");
        assert_eq!(path.format.as_deref(), format, "{raw}");
    }

    #[test]
    fn a_format_is_taken_off_the_last_segment_only_if_it_is_registered() {
        check("", "", &[], None);
        check("/site", "site", &[], None);
        check("/site.json", "site", &[], Some("json"));
        check(
            "/user/id=a@vt.edu.html",
            "user",
            &["id=a@vt.edu"],
            Some("html"),
        );
        check("/p/x.txt", "p", &["x.txt"], None);
        check("/p/x.json.xml", "p", &["x.json"], Some("xml"));
        check("/p/x.tar.gz", "p", &["x.tar.gz"], None);
        check("/p/.hidden", "p", &[".hidden"], None);
        check("/p/.json", "p", &[".json"], None);
        check("/p/test.", "p", &["test."], None);
        check(
            "/p/x/stuff/this%20has%20spaces.json",
            "p",
            &["x", "stuff", "this has spaces"],
            Some("json"),
        );
        check(
            "/cig%C3%BCe%C3%B1a/%E5%9D%82%E4%BA%95",
            "cigüeña",
            &["坂井"],
            None,
        );
        check(
            "/announcement/a:main:b~c@d",
            "announcement",
            &["a:main:b~c@d"],
            None,
        );
        check("/p/%2541", "p", &["%41"], None);
    }

    #[test]
    fn malformed_paths_are_refused() {
        for raw in [
            "x",
            "/",
            "/p/",
            "//p",
            "/p//x",
            "/p/.",
            "/p/..",
            "/p/%2e%2e",
            "/p/%",
            "/p/%zz",
            "/p/%f",
            "/p/%ff",
            "/p/%00",
            "/p/%0d%0a",
            "/p/a%2Fb",
            "/p/a%5Cb",
            "/p/x;jsessionid=1",
            "/p/%E2%80%AE",
            "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18",
        ] {
            assert!(parse(raw).is_err(), "{raw}");
        }
        assert!(parse(&format!("/p/{}", "x".repeat(256))).is_err());
        assert!(parse(&format!("/{}", "x/".repeat(3000))).is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(prefix in "[a-z]{1,9}", segments in proptest::collection::vec("[^\\x00-\\x1f/\\\\;]{1,20}", 0..5), format in proptest::option::of("json|xml")) {
            let path = DirectPath { prefix, segments, format };
            prop_assume!(path.segments.iter().all(|it| it != "." && it != ".." && !it.chars().any(is_refused)));
            prop_assume!(path.segments.last().is_none_or(|it| path.format.is_some() || !it.contains('.')));
            prop_assert_eq!(parse(&path.to_string()).unwrap(), path);
        }

        #[test]
        fn no_text_makes_it_panic(raw in "\\PC{0,60}") {
            let _ = parse(&raw);
        }
    }
}
