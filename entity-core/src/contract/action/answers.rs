//! The declared arguments and the declared answer of an action.

use std::ops::RangeInclusive;

use crate::model::shape::Shape;

/// A path segment that follows the name of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The name of the segment, such as `siteId`.
    pub name: &'static str,
    /// The description of the segment.
    pub doc: &'static str,
    /// True if the segment is required. Optional segments follow all required ones.
    pub is_required: bool,
    /// True if the argument is the rest of the path: one segment or more, joined by slashes. Only the last argument is.
    pub is_rest: bool,
}

impl Argument {
    /// Returns the smallest and the largest number of path segments that an action with `arguments` takes.
    pub(crate) fn count(arguments: &[Self]) -> RangeInclusive<usize> {
        let required = arguments.iter().filter(|it| it.is_required).count();
        required..=arguments.len()
    }

    /// Returns whether an action with `arguments` takes so many path segments.
    pub(crate) fn take(arguments: &[Self], count: usize) -> bool {
        let has_rest = arguments.last().is_some_and(|it| it.is_rest);
        let segments = Self::count(arguments);
        segments.contains(&count) || (has_rest && count > *segments.end())
    }

    /// Returns the value of each of `arguments` that the path has, in whose `segments` it stands.
    pub(crate) fn values(arguments: &[Self], segments: &[String]) -> Vec<(&'static str, String)> {
        let value = |(index, it): (usize, &Self)| {
            let own = segments.get(index..).filter(|own| !own.is_empty())?;
            let end = if it.is_rest { own.len() } else { 1 };
            Some((it.name, own.get(..end)?.join("/")))
        };
        arguments.iter().enumerate().filter_map(value).collect()
    }
}

/// The declared kind of an action's successful answer.
#[derive(Clone, Copy, Debug)]
pub enum Answers {
    /// The action declares nothing.
    Unsaid,
    /// An answer without content: 204.
    Nothing,
    /// The same as 200, where existing clients expect that.
    Done,
    /// One entity of the type.
    Entity,
    /// One entity of the type with this other prefix, to whose address the action forwards.
    EntityOf(&'static str),
    /// An entity of the type, which the action created.
    Created,
    /// Entities of the type. Under a need of the [public's view](crate::Need::PublicView), an anonymous caller is not refused
    /// in a site that shows the public nothing, but gets an empty list.
    Collection,
    /// Entities of the type with this other prefix, to whose list or searched action the action forwards.
    CollectionOf(&'static str),
    /// Data of this shape that is no entity.
    Value(Shape),
    /// Bytes or a file of one of these media types; `*/*` if the media type is known only once the bytes exist.
    Bytes(&'static [&'static str]),
}

impl Answers {
    /// Returns whether the answer is a list of entities of the type: of only those that the caller may read, however
    /// few they are.
    pub(crate) fn are_a_list(self) -> bool {
        matches!(self, Self::Collection)
    }
}
