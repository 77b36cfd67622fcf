//! Mistakes in the fields of a type that no single field shows.

use crate::field::Field;

/// Refuses fields of which two play the part of one, and a default that nothing can have.
pub(crate) fn check(fields: &[Field]) -> syn::Result<()> {
    for (index, field) in fields.iter().enumerate() {
        let mut before = fields.iter().take(index);
        if let Some(role) = &field.role
            && before.any(|it| it.role.as_ref() == Some(role))
        {
            return Err(syn::Error::new(
                field.ident.span(),
                format!(
                    "two fields are the {}: an entity has one",
                    role.to_string().to_lowercase()
                ),
            ));
        }
        if field.default.is_some() && field.writable.is_none() {
            return Err(syn::Error::new(
                field.ident.span(),
                "clients never send this field, so that its default has no effect: set it in `check`",
            ));
        }
    }
    Ok(())
}
