//! When a quiz and an attempt are over: decided in SQL, so that lists, rules and single entities agree.
//!
//! Nothing has to run at that time: an attempt whose time is over counts as handed in with what was saved. In the
//! expressions about attempts, `parent` is the quiz and `x` the extension of the student.

/// The caller has an extension that has not ended.
pub(super) const IS_EXTENDED: &str = "EXISTS (SELECT 1 FROM quiz_extension e \
    WHERE e.quiz_id = this.id AND e.user_id = {caller} AND coalesce(e.due_date, 0) > {now})";

/// The state of a quiz as a number.
pub(super) const STATUS: &str = "CAST(CASE WHEN this.is_draft THEN 0 WHEN {now} < this.start_date THEN 2 \
    WHEN {now} >= this.retract_date THEN 3 ELSE 1 END AS bigint)";

/// The instant at which the quiz in the row `$quiz` closes for those who have no extension; null for never.
macro_rules! closes {
    ($quiz:literal) => {
        concat!(
            "CASE WHEN ",
            $quiz,
            ".late_handling = 1 THEN ",
            $quiz,
            ".retract_date ",
            "ELSE coalesce(",
            $quiz,
            ".due_date, ",
            $quiz,
            ".retract_date) END"
        )
    };
}

/// True if the quiz in the row `$quiz` is over for everybody.
macro_rules! is_over {
    ($quiz:literal) => {
        concat!(
            "coalesce({now} >= ",
            closes!($quiz),
            " AND {now} >= (SELECT coalesce(max(e.due_date), 0) ",
            "FROM quiz_extension e WHERE e.quiz_id = ",
            $quiz,
            ".id), FALSE)"
        )
    };
}

/// The instant at which the quiz closes for the student.
macro_rules! closes_for_student {
    () => {
        concat!("coalesce(x.due_date, ", closes!("parent"), ")")
    };
}

/// The instant at which the time limit ends the attempt; null for never.
macro_rules! limit {
    () => {
        "(this.started_on + (parent.time_limit + coalesce(x.extra_time, 0)) * 1000)"
    };
}

/// The instant at which the attempt ends by itself; null for never.
macro_rules! ends {
    () => {
        concat!(
            "CASE WHEN ",
            limit!(),
            " IS NULL OR ",
            closes_for_student!(),
            " < ",
            limit!(),
            " THEN ",
            closes_for_student!(),
            " ELSE ",
            limit!(),
            " END"
        )
    };
}

/// True if the attempt was handed in, or ended by itself.
macro_rules! is_finished {
    () => {
        concat!(
            "(this.handed_in_on IS NOT NULL OR coalesce({now} >= ",
            ends!(),
            ", FALSE))"
        )
    };
}

/// When the attempt was handed in, or ended by itself; null while it lasts.
macro_rules! finished_on {
    () => {
        concat!(
            "coalesce(this.handed_in_on, CASE WHEN {now} >= ",
            ends!(),
            " THEN ",
            ends!(),
            " END)"
        )
    };
}

pub(super) const IS_OVER: &str = is_over!("this");
pub(super) const CLOSES: &str = closes!("this");
pub(super) const ENDS: &str = ends!();
pub(super) const IS_FINISHED: &str = is_finished!();
pub(super) const FINISHED_ON: &str = finished_on!();
/// True if the attempt ended after the quiz was due for the student.
pub(super) const IS_LATE: &str = concat!(
    "coalesce(",
    finished_on!(),
    " > coalesce(x.due_date, parent.due_date), FALSE)"
);
/// True if the student may know the score and what was right.
pub(super) const IS_RELEASED: &str = concat!(
    "(",
    is_finished!(),
    " AND (parent.feedback = 'IMMEDIATELY' OR (parent.feedback = 'AFTER_DUE' AND ",
    is_over!("parent"),
    ")))"
);
