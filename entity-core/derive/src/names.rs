//! The names of attributes, and the one that was meant by another name.

/// The attributes of a type.
pub(crate) const OF_TYPE: &str = "prefix plural singular table migrated unarchived unlisted own numbered dropped join left_join access \
    sight permits verbs order max parameters narrow check settle complete whole feed event told_once \
    asked removal listed version";

/// The attributes of a field.
pub(crate) const OF_FIELD: &str = "id title site owner created updated version content required optional writable on_create read_only \
    search html max email address password new_password zone milliseconds seconds since_1970 choices \
    words label offered for_programs default kind sent pivot column was references sql name_of hidden \
    key shown position groups children parent facts computed sight unique unique_in_site person \
    uncompared reply author category files skip";

/// The least likeness of two names of which one may be meant by the other; the same name has 1.
const ALIKE: f64 = 0.8;

/// Returns the message for an attribute of `whose` that is none of `known`.
pub(crate) fn unknown(name: &str, known: &str, whose: &str) -> String {
    let likeness = |it: &&str| strsim::jaro_winkler(name, it);
    let meant = known
        .split(' ')
        .max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    match meant.filter(|it| likeness(it) >= ALIKE) {
        Some(meant) => format!("unknown attribute of {whose}: perhaps you mean `{meant}`"),
        None => format!(
            "unknown attribute of {whose}: use {}",
            known.replace(' ', ", ")
        ),
    }
}
