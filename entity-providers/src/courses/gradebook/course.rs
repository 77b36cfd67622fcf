//! Course grades: the calculation of a percentage from scores, and the letters of percentages.
//!
//! # The calculation
//!
//! 1. A score counts if there is one, if the student is not excused, and if the item is declared as counted. What is not
//!    graded yet is left out, and is not a zero.
//! 2. Extra credit adds to the points that are earned, and not to those that are possible. An item without points is
//!    extra credit.
//! 3. A category drops its lowest scores: those with the least part of their item's points; of equal ones the first. One
//!    score at least stays. Extra credit is never dropped.
//! 4. Without weights, the percentage is that of all points earned among all points possible.
//! 5. If a category has a weight, the percentage is the mean of the percentages of the categories by their weights, and
//!    items without a category don't count. A category without points possible so far is left out, as if it had no
//!    weight. The weight of a category with extra credit adds to the sum above the fraction line and not below it.
//! 6. Without points possible there is no course grade.
//!
//! # Rounding
//!
//! Points and weights are exact. Quotients have 28 digits. The percentage is rounded once, half up to two places; so that
//! a sum of thirds that is exactly in the middle is taken as such, it is first brought to twelve places. The letter is
//! that of the rounded percentage.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use entity_core::wire::Decimal;
use rust_decimal::{Decimal as Exact, RoundingStrategy};

use crate::base::letter::LETTERS;

/// The percentages from which on each of the letters is given.
const LEAST: [u32; LETTERS.len()] = [98, 95, 90, 87, 83, 80, 77, 73, 70, 67, 63, 60, 0];

/// A category, as far as it matters for course grades.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weighing {
    /// The weight in the course grade, if there is one.
    pub(super) weight: Option<Decimal>,
    /// The number of lowest scores that don't count.
    pub(super) drop_lowest: usize,
    /// True if the whole category is extra credit.
    pub(super) is_extra: bool,
}

/// A score that counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    /// The place of its item among those of the site by id.
    pub(super) place: usize,
    /// The index of the item's category, if it has one.
    pub(super) category: Option<usize>,
    /// The points of the item.
    pub(super) points: Decimal,
    /// The points that the student has.
    pub(super) score: Decimal,
    /// True if the item is extra credit.
    pub(super) is_extra: bool,
}

/// A course grade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CourseGrade {
    /// The percentage, with two places.
    pub(super) percentage: Exact,
    /// The points earned by scores that count.
    pub(super) earned: Decimal,
    /// The points possible with these scores.
    pub(super) possible: Decimal,
}

/// Points earned and points possible, in units of [`Decimal`].
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    earned: i64,
    possible: i64,
}

impl Counted {
    fn is_beside(&self) -> bool {
        self.is_extra || self.points <= Decimal::ZERO
    }

    /// Compares the parts of the items' points that were earned.
    fn compare(&self, other: &Self) -> Ordering {
        let product =
            |one: Decimal, other: Decimal| i128::from(one.units()) * i128::from(other.units());
        product(self.score, other.points).cmp(&product(other.score, self.points))
    }
}

impl Sum {
    fn of<'a>(counted: impl Iterator<Item = &'a Counted>) -> Self {
        counted.fold(Self::default(), |sum, it| Self {
            earned: sum.earned.saturating_add(it.score.units()),
            possible: match it.is_beside() {
                true => sum.possible,
                false => sum.possible.saturating_add(it.points.units()),
            },
        })
    }

    /// Returns `factor` times the part of the points that was earned, if any were possible.
    fn times(self, factor: Exact) -> Option<Exact> {
        let product = Exact::from(self.earned).checked_mul(factor)?;
        product.checked_div(Exact::from(self.possible))
    }
}

impl CourseGrade {
    /// Computes the course grade of one student, if there is one.
    pub(super) fn of(scores: &[Counted], categories: &[Weighing]) -> Option<Self> {
        let has_weights = has_weights(categories);
        let sums = sums(scores, categories);
        let further = match has_weights {
            true => Sum::default(),
            false => Sum::of(kept(scores, categories, None).into_iter()),
        };
        let total = Sum {
            earned: sums
                .iter()
                .fold(further.earned, |sum, it| sum.saturating_add(it.earned)),
            possible: sums
                .iter()
                .fold(further.possible, |sum, it| sum.saturating_add(it.possible)),
        };
        let percentage = match has_weights {
            true => weighted(&sums, categories)?,
            false => total.times(Exact::ONE_HUNDRED)?,
        };
        Some(Self {
            percentage: rounded(percentage),
            earned: Decimal::of_units(total.earned),
            possible: Decimal::of_units(total.possible),
        })
    }

    /// Returns the letter of the percentage.
    pub(super) fn letter(&self) -> &'static str {
        let mut letters = LEAST.into_iter().zip(LETTERS);
        let reached = letters.find(|it| self.percentage >= Exact::from(it.0));
        reached.map_or("F", |it| it.1)
    }
}

/// The part that a category has in a course grade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The percentage that was reached in it, with two places; nothing as long as nothing is graded there.
    pub(super) percentage: Option<Exact>,
    /// The points that it adds to the percentage of the course, with two places; nothing without weights.
    pub(super) adds: Option<Exact>,
}

/// Returns the parts of the categories in the course grade of one student.
pub(super) fn parts(scores: &[Counted], categories: &[Weighing]) -> Vec<Part> {
    let sums = sums(scores, categories);
    let below = below(&sums, categories);
    let part = |(sum, category): (&Sum, &Weighing)| {
        let adds = sum.times(category.weight());
        let adds = adds.and_then(|it| it.checked_mul(Exact::ONE_HUNDRED)?.checked_div(below?));
        Part {
            percentage: sum.times(Exact::ONE_HUNDRED).map(rounded),
            adds: adds.map(rounded),
        }
    };
    sums.iter().zip(categories).map(part).collect()
}

/// Returns the places of the items whose scores their categories drop.
pub(super) fn dropped(scores: &[Counted], categories: &[Weighing]) -> Vec<usize> {
    let indices = (0..categories.len()).map(Some).chain([None]);
    let kept: Vec<usize> = indices
        .flat_map(|index| kept(scores, categories, index))
        .map(|it| it.place)
        .collect();
    let places = scores.iter().map(|it| it.place);
    places.filter(|it| !kept.contains(it)).collect()
}

/// Returns whether categories have weights.
pub(super) fn has_weights(categories: &[Weighing]) -> bool {
    categories.iter().any(|it| it.weight() > Exact::ZERO)
}

fn sums(scores: &[Counted], categories: &[Weighing]) -> Vec<Sum> {
    let indices = 0..categories.len();
    indices
        .map(|index| Sum::of(kept(scores, categories, Some(index)).into_iter()))
        .collect()
}

/// Returns the scores of a category, or of none, that it does not drop.
fn kept<'a>(
    scores: &'a [Counted],
    categories: &[Weighing],
    index: Option<usize>,
) -> Vec<&'a Counted> {
    let all = scores.iter().filter(|it| it.category == index);
    let drops = index
        .and_then(|it| categories.get(it))
        .map_or(0, |it| it.drop_lowest);
    without_lowest(all.collect(), drops)
}

impl Weighing {
    fn weight(&self) -> Exact {
        exact(self.weight.unwrap_or_default())
    }
}

/// Returns `scores` without the `drops` lowest ones.
fn without_lowest(scores: Vec<&Counted>, drops: usize) -> Vec<&Counted> {
    let (beside, mut usual): (Vec<&Counted>, Vec<&Counted>) =
        scores.into_iter().partition(|it| it.is_beside());
    // The sort is stable: of equal ones the first is dropped.
    usual.sort_by(|one, other| one.compare(other));
    let drops = drops.min(usual.len().saturating_sub(1));
    beside
        .into_iter()
        .chain(usual.into_iter().skip(drops))
        .collect()
}

/// Returns the mean of the percentages of the categories by their weights.
fn weighted(sums: &[Sum], categories: &[Weighing]) -> Option<Exact> {
    let mut above = Exact::ZERO;
    for (sum, category) in sums.iter().zip(categories) {
        if let Some(part) = sum.times(category.weight()) {
            above = above.checked_add(part)?;
        }
    }
    let below = below(sums, categories)?;
    above.checked_mul(Exact::ONE_HUNDRED)?.checked_div(below)
}

/// Returns the sum of the weights below the fraction line: of the categories in which points were possible.
fn below(sums: &[Sum], categories: &[Weighing]) -> Option<Exact> {
    let mut counting = sums.iter().zip(categories);
    counting.try_fold(Exact::ZERO, |below, (sum, category)| {
        match sum.possible == 0 || category.is_extra {
            true => Some(below),
            false => below.checked_add(category.weight()),
        }
    })
}

fn rounded(percentage: Exact) -> Exact {
    let settled = percentage.round_dp(12);
    let mut rounded = settled.round_dp_with_strategy(2, RoundingStrategy::MidpointAwayFromZero);
    rounded.rescale(2);
    rounded
}

/// Returns the same number as one with which quotients can be computed.
pub(super) fn exact(number: Decimal) -> Exact {
    Exact::new(number.units(), Decimal::PLACES)
}

/// Returns the mean of `count` numbers with this sum, rounded half up to two places, if there are any.
pub(super) fn mean(sum: Decimal, count: i64) -> Option<Exact> {
    exact(sum).checked_div(Exact::from(count)).map(rounded)
}
