//! Fields that are one of a few texts, as an enum.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::model::schema::{Field, Kind};

/// An enum whose variants are the texts that a field may have, made by `#[derive(Choice)]`:
///
/// ```
/// use entity_core::{Choice, Entity};
///
/// #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Choice)]
/// enum State {
///     /// Sent and stored as `asked`, and shown as “Asked”.
///     #[default]
///     Asked,
///     Approved,
///     #[choice(name = "no", words = "Refused by the librarian")]
///     Refused,
/// }
///
/// /// A wish for a book.
/// #[derive(Clone, Debug, serde::Serialize, Entity)]
/// #[entity(table = "wish")]
/// struct Wish {
///     #[entity(id)]
///     id: String,
///     state: State,
///     /// Who decided, and how.
///     former: Option<State>,
/// }
/// # assert_eq!(State::CHOICES, ["asked", "approved", "no"]);
/// # assert_eq!(serde_json::to_value(State::Refused).unwrap(), "no");
/// # assert_eq!(serde_json::from_str::<State>("\"approved\"").unwrap(), State::Approved);
/// # assert!(serde_json::from_str::<State>("\"Approved\"").is_err());
/// ```
///
/// A field of this type is a text for clients, which forms offer in words and which refuses what is none of them. What is not
/// sent is the default. Lists are filtered and ordered by the stored text.
pub trait Choice: Default + Send + Sync + 'static {
    /// The texts, in the order of the variants.
    const CHOICES: &'static [&'static str];
    /// The texts with the words that people read.
    const WORDS: &'static [(&'static str, &'static str)];

    /// Returns the text.
    fn name(&self) -> &'static str;

    /// Returns the variant with the text `name`, if there is one.
    fn named(name: &str) -> Option<Self>;
}

/// Texts of which a field is one, and the words for them.
pub type Choices = (
    &'static [&'static str],
    &'static [(&'static str, &'static str)],
);

/// The maximum number of characters of a field that is one of several texts.
const MOST_OF_CHOICE: usize = 99;

impl Field {
    /// Makes it a text that is one of `choices`, if there are any.
    #[must_use]
    pub const fn one_of(mut self, choices: Choices) -> Self {
        if !choices.0.is_empty() {
            self.kind = Kind::Text(MOST_OF_CHOICE);
            self.shape = None;
            (self.choices, self.words) = choices;
        }
        self
    }
}

/// Reads the variant of a choice.
///
/// # Errors
/// Returns an error if what was sent is none of its texts.
#[doc(hidden)]
pub fn read<'de, T: Choice, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let name = String::deserialize(deserializer)?;
    T::named(&name)
        .ok_or_else(|| D::Error::custom(format!("must be one of {}", T::CHOICES.join(", "))))
}

/// Implements serde's traits and the schema of JSON for a choice.
#[doc(hidden)]
#[macro_export]
macro_rules! serde_of_choice {
    ($own:ident) => {
        impl $crate::serde::Serialize for $own {
            fn serialize<S: $crate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str($crate::Choice::name(self))
            }
        }
        impl<'de> $crate::serde::Deserialize<'de> for $own {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                $crate::choice::read(deserializer)
            }
        }
        impl $crate::schemars::JsonSchema for $own {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                ::std::stringify!($own).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut $crate::schemars::SchemaGenerator) -> $crate::schemars::Schema {
                $crate::schemars::json_schema!({
                    "type": "string",
                    "enum": <Self as $crate::Choice>::CHOICES,
                })
            }
        }
    };
}
