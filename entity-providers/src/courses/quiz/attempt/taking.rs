//! Taking a quiz: the page with its questions, saving answers and handing in.

use std::collections::BTreeMap;

use entity_core::db;
use entity_core::reply::{Choice, Prompt, Questionnaire, Sending};
use entity_core::wire::{Decimal, Millis};
use entity_core::{
    Action, ActionResult, Actions, Answers as Kind, Arguments, Context, Error, FieldError, Need,
    Result, Search, Verb, gate, shape,
};
use serde_json::{Map, Value as Json};

use super::super::question::QuizQuestion;
use super::super::{Quiz, TAKE};
use super::{Asked, QuizAttempt};

/// The answers as they are sent: by the question's id, a text or a list of texts.
const ANSWERS: &[(&str, &str)] = &[(
    "answers",
    "in the body: the answers by the id of the question, each a text or a list of texts; a form sends each under the id",
)];

/// The maximum number of characters of a number that is stored as it was sent.
const LONGEST_NUMBER: usize = 40;

impl Actions for QuizAttempt {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::list("sam_pub", Need::Session, of_quiz)
                .doc("The attempts at a quiz, those of the caller or of the students whom the caller grades.")
                .argument("quizId", "The quiz."),
            Action::entity(Verb::Get, "take", Need::Site(TAKE), take)
                .label("Answer the questions")
                .offered_if(|it| !it.finished)
                .doc("The questions of the caller's attempt, as a form that is filled in and handed in.")
                .answers(Kind::Value(shape::of::<Questionnaire>)),
            Action::entity(Verb::Post, "save", Need::Site(TAKE), save)
                .done("Your answers are saved.")
                .doc(
                    "Saves answers of the caller's attempt. Those that are not sent stay as they are. An answer that can't be \
                     taken is named (400, with the code `partly_saved`), and the others are saved.",
                )
                .parameters(ANSWERS)
                .answers(Kind::Entity),
            Action::entity(Verb::Post, "submit", Need::Site(TAKE), submit)
                .done("Your answers are handed in.")
                .doc(
                    "Saves the answers that are sent, and hands the caller's attempt in. Handing in again changes nothing. If \
                     an answer can't be taken, the others are saved, as `save` does, and the attempt goes on.",
                )
                .parameters(ANSWERS)
                .answers(Kind::Entity),
        ]
    }
}

async fn of_quiz(cx: &Context, arguments: Arguments) -> Result<Search> {
    let quiz = gate::read::<Quiz>(cx, arguments.argument("quizId")?).await?;
    let mut search = arguments.search_in_site::<QuizAttempt>(&quiz.site_id)?;
    search.narrow(QuizAttempt::FIELD.quiz_id.eq(quiz.id));
    Ok(search)
}

async fn take(
    cx: &Context,
    attempt: QuizAttempt,
    _: Arguments,
) -> Result<ActionResult<QuizAttempt>> {
    attempt.demand_own(cx)?;
    Ok(ActionResult::Questionnaire(attempt.to_questionnaire()))
}

async fn save(
    cx: &Context,
    attempt: QuizAttempt,
    arguments: Arguments,
) -> Result<ActionResult<QuizAttempt>> {
    attempt.demand_own(cx)?;
    let attempt = QuizAttempt::hold(cx, &attempt.id).await?;
    attempt.demand_running()?;
    let (changed, wrong) = attempt.with_answers(cx, arguments.input.fields).await?;
    shown(cx, attempt, changed, wrong).await
}

async fn submit(
    cx: &Context,
    attempt: QuizAttempt,
    arguments: Arguments,
) -> Result<ActionResult<QuizAttempt>> {
    attempt.demand_own(cx)?;
    db::lock::<Quiz>(cx, &[&attempt.quiz_id]).await?;
    let attempt = QuizAttempt::hold(cx, &attempt.id).await?;
    let (mut changed, wrong) = attempt.with_answers(cx, arguments.input.fields).await?;
    if attempt.handed_in_on.is_some() && changed == attempt && wrong.is_empty() {
        return shown(cx, attempt, changed, wrong).await;
    }
    attempt.demand_running()?;
    if !wrong.is_empty() {
        return shown(cx, attempt, changed, wrong).await;
    }
    changed.handed_in_on = Some(Millis(cx.now()));
    let (quiz, user) = (changed.quiz_id.clone(), changed.user_id.clone());
    let outcome = shown(cx, attempt, changed, wrong).await?;
    Quiz::tell_scores(cx, &quiz, Some(&user)).await?;
    Ok(outcome)
}

/// Stores `changed` if it differs, and returns what the student sees of it or what is `wrong` with the rest.
async fn shown(
    cx: &Context,
    attempt: QuizAttempt,
    changed: QuizAttempt,
    wrong: Vec<FieldError>,
) -> Result<ActionResult<QuizAttempt>> {
    let id = attempt.id.clone();
    if changed != attempt {
        let stored = db::store(cx, attempt, changed).await?;
        cx.emit_about::<QuizAttempt>("sam.attempt.save", &stored);
    }
    match wrong.is_empty() {
        true => gate::read::<QuizAttempt>(cx, &id)
            .await
            .map(ActionResult::Entity),
        false => Ok(ActionResult::Incomplete(Error::partly(wrong))),
    }
}

impl QuizAttempt {
    fn demand_own(&self, cx: &Context) -> Result<()> {
        match self.is_own(cx) {
            true => Ok(()),
            false => Err(Error::forbidden()),
        }
    }

    fn demand_running(&self) -> Result<()> {
        match (self.finished, self.handed_in_on) {
            (false, _) => Ok(()),
            (true, None) => Err(Error::conflict("the time of the attempt is over")),
            (true, Some(_)) => Err(Error::conflict("the attempt was handed in already")),
        }
    }

    /// Returns the attempt with those of these answers that can be taken, and what is wrong with the others.
    async fn with_answers(
        &self,
        cx: &Context,
        mut sent: Map<String, Json>,
    ) -> Result<(Self, Vec<FieldError>)> {
        match sent.remove("answers") {
            None => {}
            Some(Json::Object(answers)) => sent.extend(answers),
            Some(_) => {
                let message = "must have the answers by the id of the question";
                return Err(Error::field("answers", message));
            }
        }
        let questions = QuizQuestion::of_quizzes(cx, &[&self.quiz_id]).await?;
        let by_id: BTreeMap<_, _> = questions.iter().map(|it| (it.id.as_str(), it)).collect();
        let (mut changed, mut errors) = (self.clone(), Vec::new());
        for (id, value) in sent {
            let question = by_id.get(id.as_str());
            let received = match question {
                Some(question) => question.receive(value),
                None => Err("is no question of this attempt".to_owned()),
            };
            match received {
                Ok(answer) => drop(changed.answers.0.insert(id, answer)),
                Err(message) => errors.push(FieldError { name: id, message }),
            }
        }
        Ok((changed, errors))
    }

    fn to_questionnaire(&self) -> Questionnaire {
        let path = |name: &str| format!("/direct/quiz-attempt/{}/{name}", self.id);
        let sending = |name: &str, label: &str| Sending {
            path: path(name),
            label: label.to_owned(),
        };
        Questionnaire {
            title: self.quiz_title.clone(),
            ends_on: self.ends_on.map(|it| it.0),
            prompts: self.questions.iter().map(Asked::to_prompt).collect(),
            sendings: if self.finished {
                Vec::new()
            } else {
                vec![
                    sending("save", "Save and go on later"),
                    sending("submit", "Hand in"),
                ]
            },
            ..Questionnaire::default()
        }
    }
}

impl Asked {
    fn to_prompt(&self) -> Prompt {
        let choices = self.choices.iter().map(|it| Choice {
            value: it.clone(),
            label: it.clone(),
            is_chosen: self.answer.contains(it),
        });
        Prompt {
            name: self.question_id.clone(),
            text: self.text.clone(),
            hint: format!("Points: {}", self.points),
            takes_several: self.kind == "SEVERAL",
            choices: choices.collect(),
            value: self.answer.first().cloned().unwrap_or_default(),
        }
    }
}

impl QuizQuestion {
    /// Returns the answer that was sent: choices, each once, or a number.
    fn receive(&self, sent: Json) -> Result<Vec<String>, String> {
        let items = match sent {
            Json::Array(items) => items,
            item => vec![item],
        };
        let mut answer: Vec<String> = Vec::new();
        for item in items {
            let text = match item {
                Json::String(text) => text.trim().to_owned(),
                Json::Null => String::new(),
                Json::Number(number) => number.to_string(),
                Json::Bool(value) => value.to_string(),
                Json::Array(_) | Json::Object(_) => {
                    return Err("must be a text or a list of texts".to_owned());
                }
            };
            if !text.is_empty() && !answer.contains(&text) {
                answer.push(text);
            }
        }
        if self.kind != "SEVERAL" && answer.len() > 1 {
            return Err("must be one answer".to_owned());
        }
        if self.kind == "NUMERIC" {
            return answer.iter().map(|it| number(it)).collect();
        }
        match answer.iter().all(|it| self.choices.0.contains(it)) {
            true => Ok(answer),
            false => Err("must be one of the choices".to_owned()),
        }
    }
}

/// Returns a number as it is stored: what a program sends as it is, and what a person typed as it was understood.
fn number(text: &str) -> Result<String, String> {
    let number = Decimal::typed(text)?;
    Ok(
        match text.len() <= LONGEST_NUMBER && Decimal::parse(text).is_ok() {
            true => text.to_owned(),
            false => number.plain(),
        },
    )
}
