//! The names of attributes, and the one that was meant by another name.

use syn::Ident;

/// The attributes of a type.
pub(crate) const OF_TYPE: &str = "prefix plural singular table unarchived unlisted own tool numbered dropped no_overlap source join left_join access \
    sight permits done verbs order max parameters narrow check check_archived settle complete whole feed event for_holders maker_pays told_once \
    asked removed deadline removal listed layout icon version";

/// The attributes of a field.
pub(crate) const OF_FIELD: &str = "id title site owner created updated version content required optional writable on_create read_only \
    search html plain max email address password new_password zone milliseconds seconds since_1970 recurrence \
    choices words label hint absent offered for_programs fact due badge default kind sent pivot column was references sql folded name_of hidden \
    key shown position groups children parent facts computed sight unique unique_in_site person \
    uncompared reply over author category files skip";

/// The least likeness of two names of which one may be meant by the other; the same name has 1.
const ALIKE: f64 = 0.7;

/// Refuses the attribute `name` of `whose` that is none of `known`, and says which one is meant. An attribute that is not
/// listed can't be used, so that the lists are whole.
pub(crate) fn demand(name: &Ident, known: &str, whose: &str) -> syn::Result<()> {
    let text = name.to_string();
    if known.split(' ').any(|it| it == text) {
        return Ok(());
    }
    let likeness = |it: &&str| strsim::normalized_damerau_levenshtein(&text, it);
    let meant = known
        .split(' ')
        .max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    let advice = match meant.filter(|it| likeness(it) >= ALIKE) {
        Some(meant) => format!("perhaps you mean `{meant}`"),
        None => format!("use {}", known.replace(' ', ", ")),
    };
    let message = format!("unknown attribute of {whose}: {advice}");
    Err(syn::Error::new(name.span(), message))
}
