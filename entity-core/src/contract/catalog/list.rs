//! The query parameters that every list takes, whatever its type.

/// A query parameter of every list.
#[derive(Clone, Copy, Debug)]
pub struct ListParameter {
    /// The name of the parameter.
    pub name: &'static str,
    /// The effect of the parameter.
    pub doc: &'static str,
    /// The smallest whole number that the parameter takes; `None` if it takes text.
    pub least: Option<u64>,
    /// A value that is valid for every list.
    pub example: &'static str,
}

/// All query parameters of every list, in display order. A parsed query is a [`Search`](crate::Search).
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
