//! Tables of text as comma-separated values (RFC 4180): to spreadsheets, and back from them.
//!
//! ```
//! use entity_core::sheet::{self, CsvTable};
//!
//! let mut sheet = CsvTable::new(10_000);
//! sheet.row(["Student", "Remark"])?;
//! sheet.row(["ada", "=1+1"])?;
//! let file = sheet.into_bytes("remarks.csv")?;
//! assert_eq!(file.bytes, b"Student,Remark\r\nada,'=1+1\r\n");
//!
//! let lines = sheet::read("Student,Remark\r\nada,'=1+1\r\n")?;
//! let last = lines.last().unwrap();
//! assert_eq!((last.number, last.cell(1)), (2, "=1+1"));
//! # entity_core::Result::<()>::Ok(())
//! ```

use std::borrow::Cow;

use csv::{Terminator, Writer, WriterBuilder};
use schemars::JsonSchema;
use serde::Serialize;

use crate::contract::reply::Bytes;
use crate::primitives::error::{Error, FieldError, Result};

/// The media type of tables.
pub const CSV: &str = "text/csv";
/// The maximum number of lines of a table that is read.
const MOST_LINES: usize = 20_000;
/// The maximum number of cells in a line of a table that is read.
const MOST_CELLS: usize = 2_000;

/// The characters with which formulas begin in some spreadsheet of some locale: those of a keyboard, and their wide, small
/// and mathematical forms.
const BEGINNINGS: [char; 13] = [
    '=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫', '−',
];
/// Characters that begin no text that a person writes: a spreadsheet may drop them.
const BREAKS: [char; 3] = ['\t', '\r', '\n'];

/// Returns whether a spreadsheet may take `text` for a formula and calculate it, whatever it passes over before.
pub fn is_formula(text: &str) -> bool {
    text.starts_with(BREAKS)
        || text
            .trim_start_matches(is_passed_over)
            .starts_with(BEGINNINGS)
}

/// Returns whether a spreadsheet may pass over `c` at the beginning of a cell: white space, what is invisible, and quotes.
fn is_passed_over(c: char) -> bool {
    let is_invisible = matches!(
        c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    is_invisible || c.is_whitespace() || c.is_control() || "\"“”„«»‘’‚`".contains(c)
}

/// Returns whether a cell with `text` has an apostrophe before it, whatever apostrophes and white space it begins with.
fn is_marked(text: &str) -> bool {
    let bare = text.trim_start_matches(|c: char| c == '\'' || c.is_whitespace());
    let lead = text.strip_suffix(bare).unwrap_or_default();
    lead.contains(BREAKS) || is_formula(bare)
}

/// Returns `text` as a cell: with an apostrophe before what a spreadsheet would take for a formula, and before what
/// looks as if it had one already.
fn to_cell(text: &str) -> Cow<'_, str> {
    match is_marked(text) {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

/// Returns the text of a cell without the apostrophe that [`to_cell`] adds, and without white space around it.
fn of_cell(cell: &str) -> &str {
    let bare = cell.trim_start().strip_prefix('\'');
    let bare = bare.filter(|it| is_marked(it));
    bare.map_or(cell.trim(), str::trim_end)
}

/// A table that is being written.
#[derive(Debug)]
pub struct CsvTable {
    rows: Writer<Vec<u8>>,
    written: usize,
    most: usize,
}

impl CsvTable {
    /// Creates an empty table of at most so many bytes, such as [`Context::answer_bytes`](crate::Context::answer_bytes).
    pub fn new(most: usize) -> Self {
        let rows = WriterBuilder::new()
            .terminator(Terminator::CRLF)
            .flexible(true)
            .from_writer(Vec::new());
        Self {
            rows,
            written: 0,
            most,
        }
    }

    /// Appends a row. Text that a spreadsheet would take for a formula gets an apostrophe before it.
    ///
    /// # Errors
    /// Returns an error if the table becomes larger than it may be.
    pub fn row<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) -> Result<()> {
        for cell in cells {
            let cell = to_cell(cell.as_ref()).into_owned();
            self.written = self.written.saturating_add(cell.len()).saturating_add(1);
            self.rows.write_field(cell).map_err(Error::internal)?;
        }
        let end: [&str; 0] = [];
        self.rows.write_record(end).map_err(Error::internal)?;
        match self.written > self.most {
            true => Err(Error::insufficient_storage(
                "the table takes more bytes than an answer may have: read it in parts",
            )),
            false => Ok(()),
        }
    }

    /// Returns the table as a file with this name.
    ///
    /// # Errors
    /// Returns an error if the table can't be written to memory: a defect.
    pub fn into_bytes(self, name: &str) -> Result<Bytes> {
        let bytes = self.rows.into_inner();
        Ok(Bytes {
            media_type: Cow::Borrowed(CSV),
            bytes: bytes.map_err(|error| Error::internal(error.into_error()))?,
            name: Some(name.to_owned()),
        })
    }
}

/// A line of a table that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The number of the line in the file, counted from 1.
    pub number: u64,
    cells: Vec<String>,
}

impl Line {
    /// Returns the text of the cell in the column with this index, counted from 0; empty if the line is shorter.
    pub fn cell(&self, column: usize) -> &str {
        self.cells.get(column).map_or("", String::as_str)
    }

    /// Returns the texts of the cells, in order.
    pub fn cells(&self) -> impl Iterator<Item = &str> {
        self.cells.iter().map(String::as_str)
    }
}

/// Reads a table. Lines without any text are left out. Cells are separated by commas or, if the first line has none
/// between them, by semicolons, as some spreadsheets write them. Lines end with CR, LF or both.
///
/// # Errors
/// Returns an error if the table has too many lines, too many cells in one line, or a character that no text has; and
/// one that names the cell if a quotation mark does not close, or stands where RFC 4180 has none: nobody can tell how
/// much of the text such a cell takes in.
pub fn read(text: &str) -> Result<Vec<Line>> {
    if text.contains('\0') {
        return Err(Error::bad_request("the table is no text"));
    }
    let text = text.trim_start_matches('\u{feff}');
    let unquoted = text.split('"').step_by(2).flat_map(str::chars);
    let mut head = unquoted.take_while(|it| !matches!(it, '\r' | '\n'));
    let separator = match head.find(|it| matches!(it, ',' | ';')) {
        Some(';') if !head.any(|it| it == ',') => ';',
        _ => ',',
    };
    let mut reader = Reader {
        rest: text,
        separator,
        number: 1,
    };
    let mut lines = Vec::new();
    while !reader.rest.is_empty() {
        let line = reader.line()?;
        if lines.len() >= MOST_LINES || line.cells.len() > MOST_CELLS {
            let message = format!(
                "line {} is one too many or too long: a table has at most {MOST_LINES} lines and {MOST_CELLS} columns",
                line.number
            );
            return Err(Error::bad_request(message));
        }
        if line.cells().any(|it| !it.is_empty()) {
            lines.push(line);
        }
    }
    Ok(lines)
}

/// The part of a table that is not read yet.
struct Reader<'a> {
    rest: &'a str,
    separator: char,
    /// The number of the line in which the rest begins.
    number: u64,
}

impl<'a> Reader<'a> {
    fn line(&mut self) -> Result<Line> {
        let (number, mut cells) = (self.number, Vec::new());
        loop {
            let (line, column) = (self.number, cells.len().saturating_add(1));
            let Some(cell) = self.cell() else {
                let cell = format!("line {line}, column {column}");
                let message =
                    "must have no quotation mark, or one at each end and each of its own twice";
                return Err(Error::field(cell, message));
            };
            cells.push(of_cell(&cell).to_owned());
            match self.rest.strip_prefix(self.separator) {
                Some(rest) => self.rest = rest,
                None => break,
            }
        }
        let mut ends = ["\r\n", "\r", "\n"].into_iter();
        let rest = ends.find_map(|it| self.rest.strip_prefix(it));
        self.rest = rest.unwrap_or_default();
        self.number = self.number.saturating_add(1);
        Ok(Line { number, cells })
    }

    /// Takes the next cell; nothing if RFC 4180 has no such cell.
    fn cell(&mut self) -> Option<Cow<'a, str>> {
        let (separator, mut is_quoted) = (self.separator, false);
        let end = self.rest.find(|it| {
            is_quoted ^= it == '"';
            !is_quoted && (it == separator || matches!(it, '\r' | '\n'))
        });
        let (cell, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        if !cell.contains('"') {
            return Some(Cow::Borrowed(cell));
        }
        let breaks = cell.replace("\r\n", "\n").matches(['\r', '\n']).count();
        self.number = self.number.saturating_add(u64::try_from(breaks).ok()?);
        let quoted = cell.strip_prefix('"')?.strip_suffix('"')?;
        let is_whole = !quoted.replace("\"\"", "").contains('"');
        is_whole.then(|| Cow::Owned(quoted.replace("\"\"", "\"")))
    }
}

/// Something in a table that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fault {
    /// The number of the line, counted from 1.
    pub line: u64,
    /// The number of the column, counted from 1.
    pub column: u64,
    /// The change that mends it.
    pub message: String,
}

/// The faults of a table, as far as it was read.
#[derive(Clone, Debug, Default)]
pub struct Faults(pub Vec<Fault>);

impl Faults {
    /// Adds what is wrong with the cell of `line` in the column with this index, counted from 0. The message continues
    /// the name of the cell, as in `must be a number`.
    pub fn add(&mut self, line: &Line, column: usize, message: impl Into<String>) {
        self.0.push(Fault {
            line: line.number,
            column: u64::try_from(column).unwrap_or(u64::MAX).saturating_add(1),
            message: message.into(),
        });
    }

    /// Adds what is wrong with that cell, as the check of a field says it.
    pub fn add_error(&mut self, line: &Line, column: usize, error: &Error) {
        self.add(line, column, error.reason());
    }

    /// Succeeds if nothing is wrong.
    ///
    /// # Errors
    /// Returns an error that names the lines and columns of what is wrong.
    pub fn into_result(self) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let fields = self.0.into_iter().map(|it| FieldError {
            name: format!("line {}, column {}", it.line, it.column),
            message: it.message,
        });
        Err(Error::fields(fields.collect()))
    }
}

/// The maximum number of changes, and of faults, that a report names.
const MOST_NAMED: usize = 500;

/// The changes that an import made or, as a preview, would make. It is all or nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Report<C> {
    /// True if nothing was changed, because only a preview was asked for.
    pub preview: bool,
    /// The number of changes.
    pub changed: usize,
    /// The changes, or the first of them.
    pub changes: Vec<C>,
    /// The faults, or the first of them: a table with faults can't be imported.
    pub faults: Vec<Fault>,
}

impl<C> Report<C> {
    /// Creates the report about these changes.
    ///
    /// # Errors
    /// Returns an error that names what is wrong, unless the report is a preview, which has it.
    pub fn of(preview: bool, mut changes: Vec<C>, mut faults: Faults) -> Result<Self> {
        if !preview {
            std::mem::take(&mut faults).into_result()?;
        }
        let count = changes.len();
        changes.truncate(MOST_NAMED);
        faults.0.truncate(MOST_NAMED);
        Ok(Self {
            preview,
            changed: count,
            changes,
            faults: faults.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back_and_none_is_a_formula() {
        let texts = [
            "plain",
            "a,b",
            "a\"b",
            "=1",
            "+1",
            "-1",
            "@x",
            "'=1",
            "'plain",
            "''@",
            "two\nlines",
            " =1",
            "\n=1",
            "\nplain",
            "＝1+1",
            "﹦1",
            "\u{200b}=1",
            "\u{feff}@x",
            "\"=1",
            "“+1”",
            "−5",
            "«plain»",
        ];
        let mut sheet = CsvTable::new(1_000);
        sheet.row(texts).unwrap();
        let file = sheet.into_bytes("x.csv").unwrap();
        let text = String::from_utf8(file.bytes).unwrap();
        let mut raw = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(text.as_bytes());
        for cell in &raw.records().next().unwrap().unwrap() {
            assert!(!is_formula(cell), "{cell}");
        }
        let lines = read(&text).unwrap();
        let cells: Vec<&str> = lines.iter().flat_map(Line::cells).collect();
        assert_eq!(cells, texts);
    }

    #[test]
    fn lines_are_counted_as_they_stand_in_the_file() {
        let lines = read("\u{feff}a;b\r\n\r\n\"x\ny\";2\r\n;\r\nz\r\n").unwrap();
        let numbers: Vec<_> = lines.iter().map(|it| (it.number, it.cell(1))).collect();
        assert_eq!(numbers, [(1, "b"), (3, "2"), (6, "")]);
    }

    #[test]
    fn y6_a_line_ends_with_cr_lf_or_both() {
        for end in ["\r", "\n", "\r\n"] {
            let table = "a;b||\"x|y,\";2|z;3|".replace('|', end);
            let lines = read(&table).unwrap();
            let numbers: Vec<_> = lines.iter().map(|it| (it.number, it.cell(1))).collect();
            assert_eq!(numbers, [(1, "b"), (3, "2"), (5, "3")], "{end:?}");
        }
    }

    #[test]
    fn y6_a_quotation_mark_out_of_place_is_refused_by_its_cell() {
        let cells = [
            "\"7", "7\"", "\"", "\"\"\"", "\"7\"x", "\"7\" ", " \"7\"", "7 \"x\"", "5\"x",
            "\"7\"\"", "\"7\"8\"",
        ];
        for (cell, end) in cells
            .into_iter()
            .flat_map(|it| [(it, "\n"), (it, "\r"), (it, "\r\n")])
        {
            for separator in [",", ";"] {
                let table = [
                    "id;score;why",
                    "1;\"8\";\"a\"\"b\"",
                    "2;{};x",
                    "3;9;\"so\"",
                    "4;1;",
                ]
                .join(end);
                let table = table.replace(';', separator).replace("{}", cell);
                let error = read(&table).expect_err(&table).message().to_owned();
                assert!(
                    error.starts_with("`line 3, column 2` must "),
                    "{error}: {table}"
                );
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn y6_every_table_comes_back_and_no_quotation_mark_more_or_less_is_read(
            rows in proptest::collection::vec(proptest::collection::vec("[a=';,\"\\r\\n\\t é]{0,6}", 2..4), 1..5),
            place in proptest::prelude::any::<proptest::sample::Index>(),
        ) {
            let mut sheet = CsvTable::new(1_000);
            for row in &rows {
                sheet.row(row).unwrap();
            }
            let text = String::from_utf8(sheet.into_bytes("x.csv").unwrap().bytes).unwrap();
            let is_text = |it: &&Vec<String>| it.iter().any(|it| !it.trim().is_empty());
            let written: Vec<Vec<&str>> = rows.iter().filter(is_text)
                .map(|it| it.iter().map(|it| it.trim()).collect()).collect();
            let lines = read(&text).unwrap();
            let back: Vec<Vec<&str>> = lines.iter().map(|it| it.cells().map(str::trim).collect()).collect();
            assert_eq!(back, written, "{text:?}");

            let places: Vec<usize> = text.char_indices().map(|it| it.0).collect();
            let at = *place.get(&places);
            let (before, behind) = text.split_at(at);
            let changed = match behind.strip_prefix('"') {
                Some(less) => format!("{before}{less}"),
                None => format!("{before}\"{behind}"),
            };
            let error = read(&changed).expect_err(&changed).message().to_owned();
            assert!(error.starts_with("`line "), "{error}: {changed:?}");
        }
    }

    #[test]
    fn a_table_is_bounded() {
        let mut sheet = CsvTable::new(10);
        assert!(sheet.row(["123456789"]).is_ok());
        assert!(sheet.row(["1"]).is_err());
        assert!(read(&"x\n".repeat(MOST_LINES)).is_ok());
        assert!(read(&"x\n".repeat(MOST_LINES + 1)).is_err());
        assert!(read(&"x,".repeat(MOST_CELLS)).is_err());
        assert!(read("x\0").is_err());
    }

    #[test]
    fn faults_name_their_cells() {
        let line = read("a,b").unwrap().remove(0);
        let mut faults = Faults::default();
        faults.add(&line, 1, "must be a number");
        let error = faults.into_result().unwrap_err();
        assert_eq!(error.message(), "`line 1, column 2` must be a number");
        assert!(Faults::default().into_result().is_ok());
    }

    #[test]
    fn only_a_preview_reports_faults() {
        let mut faults = Faults::default();
        faults.add(&read("a").unwrap().remove(0), 0, "is wrong");
        assert!(Report::of(false, vec![1], faults.clone()).is_err());
        let report = Report::of(true, vec![1; MOST_NAMED + 1], faults).unwrap();
        assert_eq!(
            (report.changed, report.changes.len(), report.faults.len()),
            (MOST_NAMED + 1, MOST_NAMED, 1)
        );
        assert!(Report::of(false, vec![1], Faults::default()).is_ok());
    }
}
