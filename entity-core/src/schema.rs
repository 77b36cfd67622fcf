//! The description of a type's fields. Input, search, pages and descriptions all read this one table.

use crate::error::Result;
use crate::search::fold;
use crate::shape::{Sent, Shape};
use crate::text::plain_text;

/// Most characters of a field of text that is one line. A field that may have more is a text of several lines.
pub const MAX_LINE: usize = 300;

/// The fields of an entity type. Written by `#[derive(Entity)]`, or by hand as a constant.
#[derive(Debug, PartialEq, Eq)]
pub struct Schema {
    /// What the type is, from the struct's doc comment.
    pub doc: &'static str,
    /// The fields in the order in which they are shown.
    pub fields: &'static [Field],
    /// Whether the type's entities have entries in feeds.
    pub has_feed: bool,
    /// Whether the type's entities have a beginning and an end, so that calendars show them.
    pub has_events: bool,
}

/// One field.
#[derive(Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a field is described by independent truths"
)]
pub struct Field {
    /// Its name on the wire.
    pub name: &'static str,
    /// What it means, from the doc comment.
    pub doc: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// Whether it may be left out or null when an entity is created.
    pub is_required: bool,
    /// Whether an entity may have null in its place, or leave it out.
    pub is_nullable: bool,
    /// Who may write it.
    pub writable: Writable,
    /// Whether lists can be filtered and ordered by it; then it is a column of this name.
    pub column: Option<&'static str>,
    /// Whether `_search` looks into it.
    pub is_searchable: bool,
    /// Whether its column may be null, as far as is known: lists say then where what has no value comes.
    pub is_column_nullable: bool,
    /// The prefix of the type of which it holds an id, if it does; `_expand` shows that entity.
    pub references: Option<&'static str>,
    /// Whether it is the entity's id, title or site, which forms and pages treat apart.
    pub role: Option<Role>,
    /// What its text is for, if that is more than to be read.
    pub meaning: Option<Meaning>,
    /// The only texts that clients may write into it; all are fine if there are none here.
    pub choices: &'static [&'static str],
    /// What a new entity has in it, as text, if the client says nothing.
    pub default: Option<&'static str>,
    /// What people call it that there is no value, if that says something, such as `never`.
    pub absent: Option<&'static str>,
    /// What clients send for it, where the kind says only that it is a list or an object: what is sent is brought to
    /// this shape at every depth. Without one, whatever is in there is left to the type.
    pub shape: Option<Sent>,
}

/// What the text of a field is for. Forms ask for it and pages show it accordingly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// It is an e-mail address.
    Email,
    /// It is an absolute address of the web.
    Address,
    /// It is the name by which somebody logs in.
    UserName,
    /// It is a password that is looked at. No page ever shows one.
    Password,
    /// It is a password that holds from now on. No page ever shows one.
    NewPassword,
}

/// What a field's values are, in JSON and in a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Plain text of at most this many characters.
    Text(usize),
    /// HTML of at most this many characters, sanitised on the way in.
    Html(usize),
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// An instant, ISO 8601 UTC text. Input also takes milliseconds since 1970.
    Instant,
    /// An instant, milliseconds since 1970.
    Millis,
    /// An instant, as the object of [`Moment`](crate::wire::Moment).
    Moment,
    /// A list.
    List,
    /// An object.
    Object,
}

/// When a client may write a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writable {
    /// Never. What a client sends is ignored, so that what was read can be sent back.
    Never,
    /// Only while the entity is created.
    OnCreate,
    /// Always.
    Always,
}

/// The part that a field plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is the id.
    Id,
    /// It is the title.
    Title,
    /// It is the id of the site.
    Site,
    /// It is the internal id of the owner.
    Owner,
    /// It is when the entity came into being.
    Created,
    /// It is when the entity last changed.
    Updated,
    /// It counts the changes.
    Version,
    /// It is the text.
    Content,
}

impl Schema {
    /// The field with this name on the wire.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|it| it.name == name)
    }

    /// The field that plays `role`.
    pub fn role(&self, role: Role) -> Option<&Field> {
        self.fields.iter().find(|it| it.role == Some(role))
    }

    /// The names of the fields that a client may write, on creation or always.
    pub fn writable(&self, on_create: bool) -> impl Iterator<Item = &Field> {
        self.fields
            .iter()
            .filter(move |it| it.may_be_written(on_create))
    }
}

impl Field {
    /// A field that is only read, may be null, can't be searched, refers to nothing and plays no part.
    pub const fn new(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self {
            name,
            doc,
            kind,
            is_required: false,
            is_nullable: false,
            writable: Writable::Never,
            column: None,
            is_searchable: false,
            is_column_nullable: true,
            references: None,
            role: None,
            meaning: None,
            choices: &[],
            default: None,
            absent: None,
            shape: None,
        }
    }

    /// A client may write it.
    #[must_use]
    pub const fn writable(mut self) -> Self {
        self.writable = Writable::Always;
        self
    }

    /// A client may write it while the entity is created.
    #[must_use]
    pub const fn on_create(mut self) -> Self {
        self.writable = Writable::OnCreate;
        self
    }

    /// An entity can't be created without it.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// An entity may have null in its place, or leave it out.
    #[must_use]
    pub const fn nullable(mut self) -> Self {
        self.is_nullable = true;
        self
    }

    /// People call it `word` that there is no value.
    #[must_use]
    pub const fn absent(mut self, word: &'static str) -> Self {
        self.absent = Some(word);
        self
    }

    /// Lists can be filtered and ordered by it, as the column `column`.
    #[must_use]
    pub const fn column(mut self, column: &'static str) -> Self {
        self.column = Some(column);
        self
    }

    /// The column beside its own that has its text [folded](crate::search::fold()), of HTML what it
    /// [says](crate::plain_text): what is looked for is looked for there. Whoever writes the one writes the other:
    /// tables made by the service have it by themselves, and [`db::folded`](crate::db::folded()) sets it in a row of
    /// any other. `None` if nothing is looked for in the field.
    pub fn folded_column(&self) -> Option<String> {
        let is_text = matches!(self.kind, Kind::Text(_) | Kind::Html(_));
        let column = self.column.filter(|_| is_text && self.is_searchable)?;
        Some(format!("{column}_folded"))
    }

    /// What is in the [folded column](Self::folded_column) when `text` is in its own.
    pub fn folded(&self, text: &str) -> String {
        match self.kind {
            Kind::Html(_) => fold(&plain_text(text)),
            _ => fold(text),
        }
    }

    /// `_search` looks into it.
    #[must_use]
    pub const fn searchable(mut self) -> Self {
        self.is_searchable = true;
        self
    }

    /// Its column always has a value.
    #[must_use]
    pub const fn not_null(mut self) -> Self {
        self.is_column_nullable = false;
        self
    }

    /// It holds the id of an entity of the type `prefix`.
    #[must_use]
    pub const fn references(mut self, prefix: &'static str) -> Self {
        self.references = Some(prefix);
        self
    }

    /// It plays this part.
    #[must_use]
    pub const fn role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }

    /// Its text is for this.
    #[must_use]
    pub const fn meaning(mut self, meaning: Meaning) -> Self {
        self.meaning = Some(meaning);
        self
    }

    /// Clients may write these texts only.
    #[must_use]
    pub const fn choices(mut self, choices: &'static [&'static str]) -> Self {
        self.choices = choices;
        self
    }

    /// New entities have this in it, as text, if the client says nothing.
    #[must_use]
    pub const fn default(mut self, text: &'static str) -> Self {
        self.default = Some(text);
        self
    }

    /// Clients send something of this shape for it, a list or an object.
    #[must_use]
    pub const fn shape(mut self, shape: Shape) -> Self {
        self.shape = Some(Sent(shape));
        self
    }

    /// Whether a client may write it, on creation or later.
    pub fn may_be_written(&self, on_create: bool) -> bool {
        match self.writable {
            Writable::Never => false,
            Writable::OnCreate => on_create,
            Writable::Always => true,
        }
    }

    /// Reads a query's or a form's text as a value of this field.
    ///
    /// # Errors
    /// The text is no value of the field's kind; the error names the field.
    pub fn parse(&self, text: &str) -> Result<serde_json::Value> {
        crate::value::parse(self, text)
    }
}
