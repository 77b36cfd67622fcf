//! Course grades: fixed cases, and random gradebooks that Python computes with fractions.

use std::io::Write as _;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use entity_core::Entity as _;

use super::*;
use crate::courses::gradebook::entered::GradebookOverride;

fn points(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

fn counted(category: Option<usize>, score: &str, of: &str) -> Counted {
    Counted {
        place: 0,
        category,
        points: points(of),
        score: points(score),
        is_extra: false,
    }
}

fn weighing(weight: &str, drop_lowest: usize) -> Weighing {
    Weighing {
        weight: Some(points(weight)).filter(|it| *it > Decimal::ZERO),
        drop_lowest,
        is_extra: false,
    }
}

fn percentage(scores: &[Counted], categories: &[Weighing]) -> Option<String> {
    CourseGrade::of(scores, categories).map(|it| it.percentage.to_string())
}

#[test]
fn points_are_summed_without_weights() {
    let scores = [counted(None, "88", "100"), counted(None, "7.5", "10")];
    assert_eq!(percentage(&scores, &[]).as_deref(), Some("86.82"));
    let grade = CourseGrade::of(&scores, &[]).unwrap();
    assert_eq!(
        (grade.earned, grade.possible),
        (points("95.5"), points("110"))
    );
    assert_eq!(percentage(&[], &[]), None);
}

#[test]
fn extra_credit_adds_to_what_is_earned_only() {
    let extra = Counted {
        is_extra: true,
        ..counted(None, "5", "10")
    };
    let scores = [counted(None, "90", "100"), extra];
    assert_eq!(percentage(&scores, &[]).as_deref(), Some("95.00"));
    let scores = [counted(None, "90", "100"), counted(None, "20", "0")];
    assert_eq!(percentage(&scores, &[]).as_deref(), Some("110.00"));
    assert_eq!(percentage(&[extra], &[]), None);
}

#[test]
fn the_lowest_are_dropped_and_one_stays() {
    let scores = [
        counted(Some(0), "5", "10"),
        counted(Some(0), "9", "10"),
        counted(Some(0), "90", "100"),
    ];
    for (drops, expected) in [(0, "86.67"), (1, "90.00"), (2, "90.00"), (9, "90.00")] {
        let found = percentage(&scores, &[weighing("0", drops)]);
        assert_eq!(found.as_deref(), Some(expected), "{drops}");
    }
}

#[test]
fn weights_are_those_of_categories_with_points_possible() {
    let categories = [weighing("40", 0), weighing("60", 0), weighing("50", 0)];
    let scores = [
        counted(Some(0), "8", "10"),
        counted(Some(1), "45", "50"),
        counted(None, "0", "1000"),
    ];
    assert_eq!(percentage(&scores, &categories).as_deref(), Some("86.00"));
    let only = [counted(Some(0), "8", "10")];
    assert_eq!(percentage(&only, &categories).as_deref(), Some("80.00"));
    let none = [counted(None, "8", "10")];
    assert_eq!(percentage(&none, &categories), None);
    let extra = Weighing {
        is_extra: true,
        ..weighing("10", 0)
    };
    let with_extra = [weighing("40", 0), weighing("60", 0), extra];
    let scores = [scores[0], scores[1], counted(Some(2), "5", "10")];
    assert_eq!(percentage(&scores, &with_extra).as_deref(), Some("91.00"));
}

#[test]
fn thirds_that_end_in_the_middle_are_rounded_up() {
    let categories = [weighing("1", 0); 3];
    // A third, a third, and what is missing to three times 0.50005: none of the quotients ends.
    let scores = [
        counted(Some(0), "1", "3"),
        counted(Some(1), "1", "3"),
        counted(Some(2), "25.0045", "30"),
    ];
    assert_eq!(percentage(&scores, &categories).as_deref(), Some("50.01"));
}

#[test]
fn letters_are_those_of_the_rounded_percentage() {
    for (score, letter) in [
        ("100", "A+"),
        ("97.99", "A"),
        ("89.995", "A-"),
        ("89.9949", "B+"),
        ("60", "D-"),
        ("59.99", "F"),
        ("0", "F"),
    ] {
        let grade = CourseGrade::of(&[counted(None, score, "100")], &[]).unwrap();
        assert_eq!(grade.letter(), letter, "{score}");
    }
    let entered = GradebookOverride::schema().field("grade");
    assert_eq!(entered.map(|it| it.choices), Some(&LETTERS[..]));
}

/// A gradebook as both sides read it.
fn gradebooks() -> impl Strategy<Value = Value> {
    let number = |most: i64| prop_oneof![Just(0), 1..20_i64, Just(10_000), 0..most];
    let category = (number(1_000_000), 0..4_usize, prop::bool::weighted(0.1));
    let category = category.prop_map(|(weight, drops, is_extra)| json!([weight, drops, is_extra]));
    let score = (
        0..5_usize,
        number(2_000_000),
        number(2_000_000),
        prop::bool::weighted(0.1),
    );
    let score =
        score.prop_map(|(category, score, of, is_extra)| json!([category, score, of, is_extra]));
    let all = (
        prop::collection::vec(category, 0..5),
        prop::collection::vec(score, 0..14),
    );
    all.prop_map(|(categories, scores)| json!({"categories": categories, "scores": scores}))
}

/// Computes with fractions, and rounds once: `decimal` does not round the thirds that come before.
const ORACLE: &str = r"
import json, sys
from decimal import Decimal, ROUND_HALF_UP, getcontext
from fractions import Fraction

def of(book):
    categories = book['categories']
    groups = {index: [] for index in range(len(categories))}
    groups[None] = []
    for category, score, points, extra in book['scores']:
        index = category if category < len(categories) else None
        groups[index].append((score, points, extra or points <= 0))
    def total(index):
        extra = [it for it in groups[index] if it[2]]
        usual = sorted((it for it in groups[index] if not it[2]), key=lambda it: Fraction(it[0], it[1]))
        drops = categories[index][1] if index is not None else 0
        usual = usual[min(drops, max(len(usual) - 1, 0)):]
        return sum(it[0] for it in extra + usual), sum(it[1] for it in usual)
    if any(it[0] > 0 for it in categories):
        above = below = Fraction(0)
        for index, (weight, _, extra) in enumerate(categories):
            earned, possible = total(index)
            if possible:
                above += Fraction(weight * earned, possible)
                below += 0 if extra else weight
        if below == 0:
            return None
        return above / below * 100
    sums = [total(index) for index in groups]
    earned, possible = sum(it[0] for it in sums), sum(it[1] for it in sums)
    return Fraction(earned * 100, possible) if possible else None

getcontext().prec = 200
for book in json.load(sys.stdin):
    exact = of(book)
    if exact is None:
        print('none')
    else:
        quotient = Decimal(exact.numerator) / Decimal(exact.denominator)
        print(quotient.quantize(Decimal('0.01'), rounding=ROUND_HALF_UP))
";

fn ours(book: &Value) -> String {
    let list = |name: &str| book[name].as_array().unwrap().clone();
    let units = |it: &Value| Decimal::of_units(it.as_i64().unwrap());
    let categories: Vec<_> = list("categories")
        .iter()
        .map(|it| Weighing {
            weight: Some(units(&it[0])),
            drop_lowest: usize::try_from(it[1].as_u64().unwrap()).unwrap(),
            is_extra: it[2].as_bool().unwrap(),
        })
        .collect();
    let scores: Vec<_> = list("scores")
        .iter()
        .map(|it| Counted {
            place: 0,
            category: usize::try_from(it[0].as_u64().unwrap())
                .ok()
                .filter(|it| *it < categories.len()),
            score: units(&it[1]),
            points: units(&it[2]),
            is_extra: it[3].as_bool().unwrap(),
        })
        .collect();
    percentage(&scores, &categories).unwrap_or_else(|| "none".to_owned())
}

#[test]
fn python_computes_the_same() {
    let mut python = Command::new("python3");
    python
        .args(["-c", ORACLE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let Ok(mut python) = python.spawn() else {
        println!("skipped: there is no python3");
        return;
    };
    let mut runner = TestRunner::new(Config::default());
    let books: Vec<Value> = (0..2_000)
        .map(|_| gradebooks().new_tree(&mut runner).unwrap().current())
        .collect();
    let mut input = python.stdin.take().unwrap();
    let text = serde_json::to_vec(&books).unwrap();
    let writer = std::thread::spawn(move || input.write_all(&text).unwrap());
    let output = python.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(told.lines().count(), books.len());
    for (book, told) in books.iter().zip(told.lines()) {
        assert_eq!(ours(book), told, "{book}");
    }
}
