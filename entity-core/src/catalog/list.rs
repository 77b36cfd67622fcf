//! What every list can be asked, whatever its type.

/// A query parameter of every list.
#[derive(Clone, Copy, Debug)]
pub struct ListParameter {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// The least whole number that it takes; `None` if it takes text.
    pub least: Option<u64>,
    /// A value that any list understands.
    pub example: &'static str,
}

/// All of them, in the order in which they are shown. The reader of queries is [`Search`](crate::Search).
pub const LIST_PARAMETERS: &[ListParameter] = &[
    ListParameter {
        name: "_limit",
        doc: "how many at most; 0 or none for as many as the type allows",
        least: Some(0),
        example: "10",
    },
    ListParameter {
        name: "_start",
        doc: "how many to leave out at the beginning; not together with `_page`",
        least: Some(0),
        example: "0",
    },
    ListParameter {
        name: "_page",
        doc: "which page, from 1; not together with `_start`",
        least: Some(1),
        example: "1",
    },
    ListParameter {
        name: "_perpage",
        doc: "how many on a page: another name of `_limit`",
        least: Some(0),
        example: "10",
    },
    ListParameter {
        name: "_order",
        doc: "fields to order by, separated by commas, each perhaps with `_desc` behind it",
        least: None,
        example: "",
    },
    ListParameter {
        name: "_search",
        doc: "at most five words, all of which must occur in the text",
        least: None,
        example: "lab",
    },
    ListParameter {
        name: "_cursor",
        doc: "where to go on, as the `next` address in `Link` tells; empty to begin",
        least: None,
        example: "",
    },
    ListParameter {
        name: "_count",
        doc: "`exact` to be told in `X-Total-Count` how many there are; else `none`",
        least: None,
        example: "exact",
    },
    ListParameter {
        name: "_fields",
        doc: "fields to show, separated by commas; the others are left out",
        least: None,
        example: "",
    },
    ListParameter {
        name: "_expand",
        doc: "fields, separated by commas, of which to show what they refer to as well",
        least: None,
        example: "",
    },
];
