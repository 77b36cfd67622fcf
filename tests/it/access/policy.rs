//! The policy, read from its file.

/// The callers that the policy has a column for.
pub(super) const COLUMNS: [&str; 8] = [
    "nobody",
    "student",
    "ta",
    "instructor",
    "access",
    "maintain",
    "other",
    "admin",
];

/// The expected answer to a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// Success.
    Success,
    /// A list that holds the entity.
    Inside,
    /// A list that does not.
    Outside,
    /// A refusal with this status.
    Refusal(u16),
}

/// One line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// The type.
    pub(super) kind: &'static str,
    /// The states of the entity.
    pub(super) states: Vec<&'static str>,
    /// The operations on it.
    pub(super) operations: Vec<&'static str>,
    /// The expected answer of each column.
    pub(super) expected: [Expected; COLUMNS.len()],
}

impl Line {
    /// Returns whether lists are to show exactly what can be read.
    pub(super) fn is_of_reading(&self) -> bool {
        self.operations.contains(&"read")
    }
}

/// All lines.
pub(super) fn lines() -> Vec<Line> {
    include_str!("policy.txt")
        .lines()
        .map(str::trim)
        .filter(|it| !it.is_empty() && !it.starts_with('#'))
        .map(|it| parse(it).unwrap_or_else(|| panic!("not a line of the policy: {it}")))
        .collect()
}

fn parse(line: &'static str) -> Option<Line> {
    let mut words = line.split_whitespace();
    let kind = words.next()?;
    let states = words.next()?.split(',').collect();
    let operations = words.next()?.split(',').collect();
    let expected = words.map(expected).collect::<Option<Vec<_>>>()?;
    Some(Line {
        kind,
        states,
        operations,
        expected: expected.try_into().ok()?,
    })
}

fn expected(word: &str) -> Option<Expected> {
    match word {
        "ok" => Some(Expected::Success),
        "in" => Some(Expected::Inside),
        "out" => Some(Expected::Outside),
        status => status.parse().ok().map(Expected::Refusal),
    }
}
