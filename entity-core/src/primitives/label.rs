//! Labels for people, made from the names that programs use.

/// Converts a name on the wire into a label: `createdOn` → `Created on`.
pub fn label(name: &str) -> String {
    let mut label = String::with_capacity(name.len() + 4);
    let mut chars = name.chars().peekable();
    let mut is_after_upper = false;
    while let Some(c) = chars.next() {
        let is_before_lower = chars.peek().is_some_and(|it| it.is_lowercase());
        if matches!(c, '_' | '-') {
            label.extend((!label.is_empty()).then_some(' '));
        } else if label.is_empty() {
            label.extend(c.to_uppercase());
        } else if c.is_uppercase() && !is_after_upper {
            label.push(' ');
            match is_before_lower {
                true => label.extend(c.to_lowercase()),
                false => label.push(c),
            }
        } else {
            label.push(c);
        }
        is_after_upper = c.is_uppercase();
    }
    label
}

/// Returns the label for several entities of the type `prefix`, for types that do not declare one: `poll` → `Polls`.
pub(crate) fn plural(prefix: &str) -> String {
    let one = label(prefix);
    let is_consonant = |c: char| !matches!(c, 'a' | 'e' | 'i' | 'o' | 'u');
    match one.strip_suffix('y') {
        Some(stem) if stem.ends_with(is_consonant) => format!("{stem}ies"),
        _ if ["s", "x", "z", "ch", "sh"]
            .iter()
            .any(|it| one.ends_with(it)) =>
        {
            format!("{one}es")
        }
        _ => format!("{one}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_words() {
        for (name, expected) in [
            ("createdOn", "Created on"),
            ("siteId", "Site id"),
            ("_username", "Username"),
            ("userEid", "User eid"),
            ("entityURL", "Entity URL"),
            ("server-config", "Server config"),
            ("id", "Id"),
            ("csrfToken", "Csrf token"),
        ] {
            assert_eq!(label(name), expected, "{name}");
        }
    }

    #[test]
    fn several_are_called_as_english_calls_them() {
        for (prefix, expected) in [
            ("announcement", "Announcements"),
            ("site-group", "Site groups"),
            ("category", "Categories"),
            ("survey", "Surveys"),
            ("box", "Boxes"),
            ("class", "Classes"),
            ("branch", "Branches"),
            ("y", "Ys"),
        ] {
            assert_eq!(plural(prefix), expected, "{prefix}");
        }
    }
}
