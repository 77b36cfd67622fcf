//! The way in which pages show the entities of a type, as the type declares it.

/// The way in which pages show the entities of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The shape of the list and of the page of one entity.
    pub layout: Layout,
    /// The name of the icon of the type, one of those that pages have; that of the layout if it is empty.
    pub icon: &'static str,
    /// The names of the fields that a list shows beside the title, in this order. If there are none, it shows the first
    /// fields that are short.
    pub listed: &'static [&'static str],
}

impl Look {
    /// The look of a type that declares none.
    pub const PLAIN: Self = Self {
        layout: Layout::Plain,
        icon: "",
        listed: &[],
    };
}

/// The shape of the pages of a type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// A table, and a page with the facts, the text and the details.
    #[default]
    Plain,
    /// Texts that somebody wrote: a list with the first line of each, and a narrow page to read.
    Article,
    /// Talk: as [`Article`](Self::Article), with the answers one below the other.
    Thread,
    /// Something to be done by an instant: a list with that instant, and a page with the dates beside the text.
    Work,
    /// Files: a list with the kind and the size of each.
    Folder,
    /// People: a list with what each of them is here.
    People,
    /// Events: a list by days.
    Agenda,
}

impl Layout {
    /// Returns whether the entities are texts, of which it matters who wrote them and when.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Article | Self::Thread)
    }
}

/// The place of a field on pages, beyond the details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emphasis {
    /// The field is told below the title, in these words, where `{}` stands for the value; by the value alone, if there
    /// are none.
    Fact(&'static str),
    /// The field is the instant until which something is to be done.
    Due,
    /// The field, a boolean, is a badge with its label while it is true.
    Badge(Tone),
}

/// The colour of a badge, which never is all that it says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Neither good nor bad.
    #[default]
    Neutral,
    /// Something that went well.
    Good,
    /// Something to think of, such as a draft.
    Warn,
    /// Something that is wrong or shut.
    Bad,
    /// Something new.
    Info,
}
