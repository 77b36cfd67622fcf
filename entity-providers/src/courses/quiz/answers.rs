//! Lists of texts in a column, and answers by question.

use std::collections::BTreeMap;

use entity_core::Context;
use entity_core::Result;
use entity_core::db::{self, ColumnValue, Row};
use serde::Serialize;

/// The maximum number of texts of one list.
const MOST: usize = 50;
/// The maximum number of characters of one text.
const LONGEST: usize = 500;

/// Short texts, each of one line and there once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Texts(pub Vec<String>);

impl Texts {
    /// Returns the texts with these words.
    pub(super) fn of(texts: &[&str]) -> Self {
        Self(texts.iter().map(|it| (*it).to_owned()).collect())
    }
}

impl ColumnValue for Texts {
    type Sent = Vec<String>;

    fn receive(_cx: &Context, sent: Vec<String>) -> Result<Self, String> {
        let texts: Vec<String> = sent.iter().map(|it| it.trim().to_owned()).collect();
        let is_plain = |it: &String| {
            !it.is_empty() && it.chars().count() <= LONGEST && !it.chars().any(char::is_control)
        };
        let is_twice =
            |(index, it): (usize, &String)| texts.iter().take(index).any(|other| other == it);
        if texts.len() > MOST {
            Err(format!("must not have more than {MOST} items"))
        } else if !texts.iter().all(is_plain) {
            Err(format!(
                "must have items of one line, each of at most {LONGEST} characters"
            ))
        } else if texts.iter().enumerate().any(is_twice) {
            Err("must not have an item twice".to_owned())
        } else {
            Ok(Self(texts))
        }
    }

    fn to_value(&self) -> sea_orm::Value {
        db::json_value(&self.0)
    }

    fn read(_cx: &Context, row: &mut Row<'_>) -> Result<Self> {
        db::read_json(row).map(Self)
    }
}

/// The answers, by the id of the question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Answers(pub BTreeMap<String, Vec<String>>);

impl Answers {
    /// Returns the answer to the question with this id, which is empty if there is none.
    pub(super) fn to(&self, question: &str) -> &[String] {
        self.0.get(question).map_or(&[], Vec::as_slice)
    }
}

impl ColumnValue for Answers {
    type Sent = BTreeMap<String, Vec<String>>;

    fn receive(_cx: &Context, sent: Self::Sent) -> Result<Self, String> {
        Ok(Self(sent))
    }

    fn to_value(&self) -> sea_orm::Value {
        db::json_value(&self.0)
    }

    fn read(_cx: &Context, row: &mut Row<'_>) -> Result<Self> {
        db::read_json(row).map(Self)
    }
}
