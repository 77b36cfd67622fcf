//! Recurrence as people are asked for it: how often, and until when or how many times. A rule that can't be said so stays as
//! it is, and may be typed.

use entity_core::measure;
use entity_core::measure::{RULE, TIMES, UNTIL};
use entity_core::recurrence::{self, PERIODS, Plain, Tz};
use entity_core::reply::Refusal;
use entity_core::schema::Field;
use serde_json::{Value, json};

/// The contents of the controls for a rule.
#[derive(PartialEq, Eq)]
pub(super) struct Repeats {
    /// The name of the field, under which a rule is sent.
    pub(super) name: &'static str,
    /// The name of a period, [`RULE`], or nothing.
    pub(super) every: String,
    pub(super) until: String,
    pub(super) times: String,
    pub(super) rule: String,
    zone: Tz,
}

impl Repeats {
    /// The contents for the rule `value` of `field`, or for the parts of one that were sent.
    pub(super) fn of(field: &Field, value: &Value, zone: Tz) -> Self {
        let rule = value.as_str().or_else(|| value.get(field.name)?.as_str());
        let rule = rule.unwrap_or_default().to_owned();
        let name = field.name;
        let part = |name: &str| value.get(name)?.as_str().map(ToOwned::to_owned);
        if let Some(every) = part(&measure::form_name(field)) {
            let [until, times] =
                [UNTIL, TIMES].map(|it| part(&format!("{name}{it}")).unwrap_or_default());
            return Self {
                name,
                every,
                until,
                times,
                rule,
                zone,
            };
        }
        let plain = Plain::of(&rule, zone);
        let every = match &plain {
            Some(plain) => plain.period,
            None if rule.is_empty() => "",
            None => RULE,
        };
        let until = plain.as_ref().and_then(|it| it.until);
        let times = plain.as_ref().and_then(|it| it.times);
        Self {
            name,
            every: every.to_owned(),
            until: until.map(|it| it.to_string()).unwrap_or_default(),
            times: times.map(|it| it.to_string()).unwrap_or_default(),
            rule,
            zone,
        }
    }

    /// The parts that were sent, for [`of`](Self::of).
    pub(super) fn sent(field: &Field, refusal: &Refusal) -> Value {
        let names = [String::new(), UNTIL.to_owned(), TIMES.to_owned()];
        let names = names.map(|it| format!("{}{it}", field.name));
        let names = names.into_iter().chain([measure::form_name(field)]);
        let found = names.filter_map(|it| Some((it.clone(), refusal.sent.get(&it)?.clone())));
        json!(found.collect::<serde_json::Map<_, _>>())
    }

    /// The choices: values and words.
    pub(super) fn choices(&self) -> Vec<(&'static str, String)> {
        let own = match self.every == RULE {
            true => recurrence::words(&self.rule, self.zone),
            false => None,
        };
        let own = own.unwrap_or_else(|| "by a rule under \u{201c}More\u{201d}".to_owned());
        let none = ("", "does not repeat".to_owned());
        let periods = PERIODS.map(|(name, words, _)| (name, words.to_owned()));
        [none]
            .into_iter()
            .chain(periods)
            .chain([(RULE, own)])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use entity_core::schema::{Kind, Meaning};

    use super::*;

    #[test]
    fn a_rule_is_asked_for_in_words_and_another_one_is_kept() {
        let field = Field::new("rule", Kind::Text(300), "").meaning(Meaning::Recurrence);
        let of = |value: Value| Repeats::of(&field, &value, Tz::UTC);
        let plain = of(json!("FREQ=WEEKLY;COUNT=10"));
        assert_eq!(
            (&*plain.every, &*plain.times, &*plain.until),
            ("week", "10", "")
        );
        let own = of(json!("FREQ=WEEKLY;BYDAY=TU"));
        assert_eq!((&*own.every, &*own.rule), (RULE, "FREQ=WEEKLY;BYDAY=TU"));
        assert_eq!(
            own.choices().last(),
            Some(&(RULE, "every week on Tuesday".to_owned()))
        );
        let sent = of(json!({"rule[every]": "day", "rule[until]": "soon"}));
        assert_eq!(
            (&*sent.every, &*sent.until, &*sent.rule),
            ("day", "soon", "")
        );
        assert_eq!(of(Value::Null).every, "");
    }
}
