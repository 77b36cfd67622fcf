//! The types of fields, and the names that serde gives fields.

use syn::{GenericArgument, PathArguments, Type};

/// Returns the type inside the invisible group that a macro by example puts around a type that it was given.
fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        ty => ty,
    }
}

/// Returns the type inside an `Option`, and whether it is one.
pub(crate) fn unwrap_option(ty: &Type) -> (&Type, bool) {
    match unwrap(ty, "Option") {
        Some(inner) => (inner, true),
        None => (ungrouped(ty), false),
    }
}

/// Returns the type of the items, if the type is a `Vec`.
pub(crate) fn unwrap_vec(ty: &Type) -> Option<&Type> {
    unwrap(ty, "Vec")
}

/// Returns the argument of the generic type `outer`, if the type is one.
fn unwrap<'a>(ty: &'a Type, outer: &str) -> Option<&'a Type> {
    let Type::Path(path) = ungrouped(ty) else {
        return None;
    };
    let segment = path.path.segments.last().filter(|it| it.ident == outer)?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(inner) => Some(inner),
        _ => None,
    }
}

/// Returns the name of the type, without the path to it.
pub(crate) fn last_segment(ty: &Type) -> Option<String> {
    match ungrouped(ty) {
        Type::Path(path) => path.path.segments.last().map(|it| it.ident.to_string()),
        Type::Reference(reference) => last_segment(&reference.elem),
        _ => None,
    }
}

/// Returns the name that serde gives the field, for the styles of `rename_all` that entities use.
pub(crate) fn rename_all(name: &str, style: Option<&str>) -> String {
    let name = name.trim_start_matches("r#");
    match style {
        Some("camelCase") => {
            let mut words = name.split('_');
            let first = words.next().unwrap_or_default().to_owned();
            words.fold(first, |text, word| {
                let mut letters = word.chars();
                let initial = letters.next().map(|it| it.to_ascii_uppercase());
                text + &initial.into_iter().chain(letters).collect::<String>()
            })
        }
        _ => name.to_owned(),
    }
}

/// Refuses a type of many values for a column.
pub(crate) fn demand_one_value(ty: &Type) -> syn::Result<()> {
    let collections = ["Vec", "HashMap", "BTreeMap", "HashSet", "BTreeSet"];
    match last_segment(ty).is_some_and(|it| collections.contains(&it.as_str())) {
        false => Ok(()),
        true => Err(syn::Error::new_spanned(
            ty,
            "a column holds one value: mark a list of records `children` and the groups that may see the entity \
             `groups = \"…\"`, or give the field a type of its own that implements `entity_core::db::ColumnValue`",
        )),
    }
}
