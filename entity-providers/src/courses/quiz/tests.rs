//! Tests of the points of answers, and of the ids of quizzes.

use entity_core::wire::Decimal;

use super::answers::Texts;
use super::question::QuizQuestion;

fn question(kind: &str, choices: &[&str], correct: &[&str], points: &str) -> QuizQuestion {
    QuizQuestion {
        id: "q".to_owned(),
        quiz_id: String::new(),
        quiz_title: String::new(),
        site_id: String::new(),
        position: 1,
        text: String::new(),
        kind: kind.to_owned(),
        choices: Texts::of(choices),
        correct: Texts::of(correct),
        tolerance: Decimal::parse("0.05").ok(),
        points: Decimal::parse(points).unwrap(),
        feedback: None,
        version: 1,
        facts: entity_core::db::PolicyInputs::default(),
    }
}

#[track_caller]
fn assert_scores(question: &QuizQuestion, expected: &[(&[&str], &str)]) {
    for (answer, points) in expected {
        let score = question.score(&Texts::of(answer).0);
        assert_eq!(score.to_string(), *points, "{answer:?}");
    }
}

#[test]
fn each_right_choice_of_several_gives_a_part_and_each_wrong_one_takes_one_away() {
    let gases = question(
        "SEVERAL",
        &["a", "b", "c", "d", "e"],
        &["a", "b", "c"],
        "10",
    );
    assert_scores(
        &gases,
        &[
            (&["c", "a", "b"], "10.0"),
            (&["a", "b"], "6.6667"),
            (&["a"], "3.3333"),
            (&["a", "b", "d"], "3.3333"),
            (&["a", "d"], "0.0"),
            (&["d", "e"], "0.0"),
            (&["a", "b", "c", "d", "e"], "3.3333"),
            (&[], "0.0"),
        ],
    );
    let most = question("SEVERAL", &["a", "b"], &["a", "b"], "10000");
    assert_scores(&most, &[(&["a"], "5000.0"), (&["a", "b"], "10000.0")]);
}

#[test]
fn one_choice_is_right_or_wrong() {
    let one = question("ONE", &["a", "b"], &["b"], "2.5");
    assert_scores(&one, &[(&["b"], "2.5"), (&["a"], "0.0"), (&[], "0.0")]);
}

#[test]
fn numbers_are_right_up_to_the_tolerance_exactly() {
    let number = question("NUMERIC", &[], &["0.3"], "1");
    assert_scores(
        &number,
        &[
            (&["0.3"], "1.0"),
            (&[".3"], "0.0"),
            (&["0.35"], "1.0"),
            (&["0.25"], "1.0"),
            (&["0.3501"], "0.0"),
            (&["-0.3"], "0.0"),
            (&["many"], "0.0"),
            (&[], "0.0"),
        ],
    );
}
