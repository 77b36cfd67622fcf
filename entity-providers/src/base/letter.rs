//! The letters by which work and courses are graded.

/// The letters of course grades, the best first.
pub(crate) const LETTERS: [&str; 13] = [
    "A+", "A", "A-", "B+", "B", "B-", "C+", "C", "C-", "D+", "D", "D-", "F",
];

/// The letter beside which single pieces of work can also get an E.
const WORST: &str = "F";

/// Returns the letters of single pieces of work, the best first.
pub(crate) fn of_work() -> Vec<&'static str> {
    let further = |it: &str| (it == WORST).then_some("E");
    let letters = LETTERS.into_iter();
    letters
        .flat_map(|it| further(it).into_iter().chain([it]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_can_also_get_an_e() {
        let letters = of_work();
        assert_eq!(letters.len(), LETTERS.len() + 1);
        assert!(letters.ends_with(&["D-", "E", "F"]));
    }
}
