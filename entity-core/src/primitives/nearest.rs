//! The name that was meant by one that is misspelt.

/// The least likeness of two names of which one may be meant by the other; the same name has 1.
const ALIKE: f64 = 0.7;

/// Returns the one of `known` that is most like `name`, if it may be meant. Capital letters count as small ones.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let likeness = |it: &str| strsim::normalized_damerau_levenshtein(&name, &it.to_lowercase());
    known
        .into_iter()
        .map(|it| (likeness(it), it))
        .filter(|it| it.0 >= ALIKE)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|it| it.1)
}
