//! The exact score of an answer.

use entity_core::wire::Decimal;

use super::answers::Answers;
use super::question::QuizQuestion;

/// Returns the points of all answers together.
pub(super) fn total<'a>(
    questions: impl Iterator<Item = &'a QuizQuestion>,
    answers: &Answers,
) -> Decimal {
    let units = questions.map(|it| it.score(answers.to(&it.id)).units());
    Decimal::of_units(units.fold(0, i64::saturating_add))
}

impl QuizQuestion {
    /// Returns the points of an answer.
    pub(super) fn score(&self, answer: &[String]) -> Decimal {
        let is_right = match self.kind.as_str() {
            "SEVERAL" => return self.part(answer),
            "NUMERIC" => self.is_near(answer),
            _ => answer == self.correct.0.as_slice(),
        };
        if is_right { self.points } else { Decimal::ZERO }
    }

    /// Returns the part of the points that is left when each wrong choice takes away what a right one gives, rounded to
    /// the nearest ten-thousandth.
    fn part(&self, answer: &[String]) -> Decimal {
        let (right, wrong): (Vec<_>, Vec<_>) =
            answer.iter().partition(|it| self.correct.0.contains(it));
        let earned = right.len().saturating_sub(wrong.len());
        let count = |it: usize| i64::try_from(it).unwrap_or(i64::MAX);
        let (earned, all) = (count(earned), count(self.correct.0.len()).max(1));
        let twice = self.points.units().saturating_mul(earned).saturating_mul(2);
        let rounded = twice.saturating_add(all).div_euclid(all.saturating_mul(2));
        Decimal::of_units(rounded)
    }

    fn is_near(&self, answer: &[String]) -> bool {
        let number = |texts: &[String]| match texts {
            [text] => Decimal::parse(text).ok().map(Decimal::units),
            _ => None,
        };
        let tolerance = self.tolerance.unwrap_or_default().units();
        match (number(answer), number(&self.correct.0)) {
            (Some(given), Some(right)) => given.abs_diff(right) <= tolerance.unsigned_abs(),
            _ => false,
        }
    }
}
