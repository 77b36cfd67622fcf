//! Grading scales: the grades there are, and the form in which they are written.

use entity_core::wire::Decimal;
use entity_core::{Error, Result};

use crate::base::letter;
use crate::courses::gradebook::score::check_points;

/// The grading scale of the work for an assignment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale<'a> {
    /// The `gradeScale` of the assignment.
    pub(super) kind: &'a str,
}

/// Returns the points of an assignment as they are stored.
///
/// # Errors
/// Returns an error if they are no number above 0, or if they are missing where work is graded by points.
pub(super) fn points(kind: &str, points: Option<&str>) -> Result<Option<String>> {
    let wrong = |message: &str| Err(Error::field("gradeScaleMaxPoints", message));
    match points.filter(|it| !it.trim().is_empty()) {
        None if kind == "SCORE_GRADE_TYPE" => wrong("is required where work is graded by points"),
        None => Ok(None),
        Some(points) => match Decimal::parse(points) {
            Ok(points) if points > Decimal::ZERO => Ok(Some(written(points))),
            Ok(_) => wrong("must be more than 0"),
            Err(message) => wrong(&message),
        },
    }
}

impl Scale<'_> {
    /// Returns the grades that there are; none where they are points, or where there are no grades.
    pub(super) fn choices(self) -> Vec<&'static str> {
        match self.kind {
            "LETTER_GRADE_TYPE" => letter::of_work(),
            "PASS_FAIL_GRADE_TYPE" => vec!["Pass", "Fail"],
            "CHECK_GRADE_TYPE" => vec!["Checked"],
            _ => Vec::new(),
        }
    }

    /// Returns the grade as it is stored.
    pub(super) fn receive(&self, grade: Option<&str>) -> Result<Option<String>> {
        let Some(grade) = grade.map(str::trim).filter(|it| !it.is_empty()) else {
            return Ok(None);
        };
        if self.kind == "SCORE_GRADE_TYPE" {
            return score(grade).map(|it| Some(written(it)));
        }
        let choices = self.choices();
        if choices.is_empty() {
            return Err(Error::field(
                "grade",
                "must be empty: the work is not graded",
            ));
        }
        let found = choices.iter().find(|it| it.eq_ignore_ascii_case(grade));
        let found = found.ok_or_else(|| {
            Error::field("grade", format!("must be one of {}", choices.join(", ")))
        })?;
        Ok(Some((*found).to_owned()))
    }
}

/// Returns a grade of points as a number.
///
/// # Errors
/// Returns an error if it is no number, or one that the gradebook takes for no score.
pub(super) fn score(grade: &str) -> Result<Decimal> {
    let score = Decimal::parse(grade).map_err(|message| Error::field("grade", message))?;
    let checked = check_points(Some(score));
    checked.map_err(|error| error.rename_fields(|it| (it == "score").then_some("grade")))?;
    Ok(score)
}

/// Writes a number as existing clients read points: without a fraction if there is none.
fn written(number: Decimal) -> String {
    let text = number.to_string();
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scale_has_its_grades() {
        for (kind, sent, stored) in [
            ("SCORE_GRADE_TYPE", "88.50", Some("88.5")),
            ("SCORE_GRADE_TYPE", "100.0", Some("100")),
            ("SCORE_GRADE_TYPE", "100.1", Some("100.1")),
            ("SCORE_GRADE_TYPE", "99999999999", None),
            ("SCORE_GRADE_TYPE", "-1", None),
            ("SCORE_GRADE_TYPE", "NaN", None),
            ("LETTER_GRADE_TYPE", "a+", Some("A+")),
            ("LETTER_GRADE_TYPE", "Z", None),
            ("PASS_FAIL_GRADE_TYPE", "pass", Some("Pass")),
            ("CHECK_GRADE_TYPE", "Checked", Some("Checked")),
            ("UNGRADED_GRADE_TYPE", "1", None),
        ] {
            let received = Scale { kind }.receive(Some(sent)).ok().flatten();
            assert_eq!(received.as_deref(), stored, "{kind} {sent}");
        }
    }

    #[test]
    fn points_are_numbers_above_0() {
        let kind = "SCORE_GRADE_TYPE";
        assert_eq!(points(kind, Some("100.00")).unwrap().unwrap(), "100");
        for wrong in [None, Some("0"), Some("-5"), Some("1e9"), Some("lots")] {
            assert!(points(kind, wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(points("UNGRADED_GRADE_TYPE", None).unwrap(), None);
    }
}
