//! Random values and random queries, the same in every run.

use entity_core::search::Operator;
use entity_core::{DateTimeUtc, Entity};

use super::sample::Sample;

/// Texts that databases are known to treat differently, and letters with surprising cases.
const TEXTS: [&str; 30] = [
    "p",
    "&",
    "",
    "a",
    "A",
    "b",
    "B",
    "ab",
    "aB",
    "Zebra",
    "zebra",
    "a b",
    "a_b",
    "axb",
    "100%",
    "100",
    "\\",
    "a\\_",
    "'",
    "Übung",
    "ÜBUNG",
    "übung",
    "Ärger",
    "ärger",
    "ΣΊΓΜΑΣ",
    "σίγμας",
    "İi",
    "ıI",
    "STRAẞE",
    "straße",
];
const NUMBERS: [f64; 8] = [0.0, -0.0, 0.1, 0.1 + 0.2, 0.3, -1.5, 1e300, 5e-324];
const INTEGERS: [i64; 8] = [0, 1, -1, 2, 7, 100, i64::MAX, i64::MIN];
/// Milliseconds since 1970.
const INSTANTS: [i64; 6] = [
    0,
    1,
    -1,
    1_795_255_200_000,
    1_795_255_200_001,
    253_402_300_799_999,
];

/// A source of random choices.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `limit`: by the generator "splitmix64".
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let limit = u64::try_from(limit).expect("a small number");
        usize::try_from((mixed ^ (mixed >> 31)) % limit).expect("a small number")
    }

    pub(crate) fn of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    pub(super) fn perhaps<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(3) > 0).then(|| make(self))
    }

    pub(super) fn text(&mut self) -> String {
        (*self.of(&TEXTS)).to_owned()
    }

    /// Text between, in and behind tags, with references to characters.
    pub(super) fn html(&mut self) -> String {
        let mut html = String::new();
        for _ in 0..=self.below(3) {
            let text = self.text().replace('&', "&amp;").replace('<', "&lt;");
            let open = *self.of(&[
                "",
                "<p>",
                "<em>",
                "<br>",
                "<a href=\"a?b&amp;c\" title=\"a > b\">",
            ]);
            let close = *self.of(&["", "</p>", "</em>", " &amp; ", "&nbsp;&auml;\n"]);
            html = format!("{html}{open}{text}{close}");
        }
        html
    }

    pub(super) fn integer(&mut self) -> i64 {
        *self.of(&INTEGERS)
    }

    pub(super) fn number(&mut self) -> f64 {
        *self.of(&NUMBERS)
    }

    pub(super) fn instant(&mut self) -> DateTimeUtc {
        let millis = *self.of(&INSTANTS);
        DateTimeUtc::from_timestamp_millis(millis).expect("an instant")
    }

    /// A query: most often one that can be answered.
    pub(super) fn query(&mut self) -> Vec<(String, String)> {
        let mut query = Vec::new();
        for _ in 0..*self.of(&[0, 0, 1, 1, 1, 2, 3]) {
            query.push(self.filter());
        }
        if self.below(5) == 0 {
            query.push(self.pair("_search", |it| format!("{} {}", it.text(), it.text())));
        }
        if self.below(3) > 0 {
            query.push(self.pair("_order", Self::order));
        }
        if self.below(4) > 0 {
            query.push(self.pair("_limit", |it| (it.below(9) + 1).to_string()));
        }
        match self.below(6) {
            0 | 1 => query.push(self.pair("_cursor", |_| String::new())),
            2 => query.push(self.pair("_start", |it| it.below(12).to_string())),
            3 => query.push(self.pair("_page", |it| (it.below(3) + 1).to_string())),
            _ => {}
        }
        if self.below(6) == 0 {
            query.push(self.pair("_count", |_| "exact".to_owned()));
        }
        query
    }

    fn pair(&mut self, name: &str, value: impl FnOnce(&mut Self) -> String) -> (String, String) {
        (name.to_owned(), value(self))
    }

    fn filter(&mut self) -> (String, String) {
        let field = self.of(Sample::schema().fields);
        let fitting: Vec<Operator> = Operator::of(field).collect();
        let operator = match self.below(30) {
            0 => *self.of(&Operator::ALL),
            _ => *self.of(&fitting),
        };
        let mut value = || match field.name {
            "id" => format!("{}{}", self.of(&["a", "B", "c"]), self.below(48)),
            "siteId" => (*self.of(&["s1", "s2", "s1", "s2", "s3", "nowhere"])).to_owned(),
            "name" | "note" | "text" | "page" => self.text(),
            "points" | "rank" => self.integer().to_string(),
            "weight" | "ratio" => self.number().to_string(),
            "isOpen" | "isKept" => (*self.of(&["true", "false"])).to_owned(),
            _ => match self.below(2) {
                0 => self.instant().to_rfc3339(),
                _ => self.instant().timestamp_millis().to_string(),
            },
        };
        let value = match operator {
            Operator::In => format!("{},{},{}", value(), value(), value()),
            Operator::Null => (*self.of(&["true", "false"])).to_owned(),
            Operator::Like => self.text(),
            _ => value(),
        };
        match operator {
            Operator::Equal => (field.name.to_owned(), value),
            other => (format!("{}[{}]", field.name, other.name()), value),
        }
    }

    fn order(&mut self) -> String {
        let keys = (0..=self.below(3)).map(|_| {
            let field = self.of(Sample::schema().fields).name;
            format!("{field}{}", self.of(&["", "_desc", "_asc", "_reverse"]))
        });
        keys.collect::<Vec<_>>().join(",")
    }
}
