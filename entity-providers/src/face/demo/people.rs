//! The people of the demo university.

use chrono::TimeDelta;
use entity_core::db::{self, Secret};
use entity_core::wire::Millis;
use entity_core::{Context, Error, Result};

use crate::people::user::{TEACHING_TYPE, USUAL_TYPE, User};

/// The name that each person logs in by, the first name and the last name.
const PEOPLE: &[(&str, &str, &str)] = &[
    ("admin", "Robin", "Keller"),
    ("instructor1", "Maria", "Okafor"),
    ("instructor2", "Daniel", "Lindqvist"),
    ("ta1", "Priya", "Raman"),
    ("student1", "Ada", "Moreau"),
    ("student2", "Benjamin", "Osei"),
    ("student3", "Carla", "Jiménez"),
    ("student4", "David", "Kowalski"),
    ("student5", "Elif", "Yılmaz"),
    ("student6", "Felix", "Brandt"),
    ("student7", "Grace", "Nakamura"),
    ("student8", "Hugo", "Silva"),
    ("student9", "Ines", "Haddad"),
    ("student10", "Jonas", "Virtanen"),
    ("student11", "Keiko", "Tanaka"),
    ("student12", "Liam", "O’Connor"),
    ("student13", "Mei", "Chen"),
    ("student14", "Noah", "Petrov"),
    ("student15", "Olivia", "Martin"),
    ("student16", "Pavel", "Novák"),
    ("student17", "Quinn", "Adeyemi"),
    ("student18", "Rosa", "Ferrari"),
    ("student19", "Samuel", "Cohen"),
    ("student20", "Thandi", "Dlamini"),
];

/// The people, in the order of the list above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cast(pub Vec<Person>);

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The internal id.
    pub id: String,
    /// The name to log in by.
    pub eid: String,
    /// The name as others see it.
    pub name: String,
}

impl Cast {
    /// The person who logs in as `eid`.
    ///
    /// # Errors
    /// There is none.
    pub fn person(&self, eid: &str) -> Result<&Person> {
        self.0
            .iter()
            .find(|it| it.eid == eid)
            .ok_or_else(|| Error::internal(format!("the demo has no `{eid}`")))
    }

    /// The students from number `first` to number `last`.
    ///
    /// # Errors
    /// One of them does not exist.
    pub fn students(&self, first: u32, last: u32) -> Result<Vec<&Person>> {
        (first..=last)
            .map(|number| self.person(&format!("student{number}")))
            .collect()
    }
}

/// Instructors make courses and enrol people; everybody else has the usual type.
fn account_type(eid: &str) -> &'static str {
    match eid.starts_with("instructor") {
        true => TEACHING_TYPE,
        false => USUAL_TYPE,
    }
}

/// An address in a domain that nobody can have.
fn email(eid: &str) -> String {
    format!("{eid}@example.edu")
}

pub(super) async fn fill(cx: &Context, password_hash: &str) -> Result<Cast> {
    let created = cx.now().checked_sub_signed(TimeDelta::days(60)).map(Millis);
    let mut cast = Vec::with_capacity(PEOPLE.len());
    let mut users = Vec::with_capacity(PEOPLE.len());
    for (eid, first_name, last_name) in PEOPLE {
        let id = cx.new_id();
        users.push(User {
            id: id.clone(),
            eid: (*eid).to_owned(),
            email: email(eid),
            email_verified: Some(true),
            first_name: (*first_name).to_owned(),
            last_name: (*last_name).to_owned(),
            r#type: account_type(eid).to_owned(),
            password_hash: Secret::new(password_hash),
            disabled: Some(false),
            created_date: created,
            last_modified: created,
            version: 1,
            ..User::default()
        });
        cast.push(Person {
            id,
            eid: (*eid).to_owned(),
            name: format!("{first_name} {last_name}"),
        });
    }
    db::insert_many(cx, &users).await?;
    Ok(Cast(cast))
}
