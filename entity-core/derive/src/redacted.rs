//! Generates the declarations of redacted fields, which some callers do not see.

use proc_macro2::TokenStream;
use quote::quote;

use crate::field::{Field, Fields};
use crate::record::selected;
use crate::types::last_segment;

/// Generates the declarations of redacted fields, which some callers do not see.
pub(crate) fn redacted(fields: &Fields) -> syn::Result<TokenStream> {
    let (mut items, mut arms) = (Vec::new(), Vec::new());
    for field in &fields.0 {
        let Some(sight) = &field.sight else { continue };
        let (ident, wire, blank) = (&field.ident, &field.wire, field.blank()?);
        let expression = selected(field).ok_or_else(|| {
            let message = "a rule about who sees a field needs a column or an expression";
            syn::Error::new(ident.span(), message)
        })?;
        items.push(quote!(::entity_core::db::RedactedField {
            field: #wire,
            expression: #expression,
            blank: #blank,
            sight: #sight,
        }));
        arms.push(quote!(#wire => self.#ident = ::std::default::Default::default(),));
    }
    let redact = (!arms.is_empty()).then(|| {
        quote! {
            fn redact(&mut self, field: &str) {
                match field {
                    #(#arms)*
                    _ => {}
                }
            }
        }
    });
    Ok(quote! {
        const REDACTED: &'static [::entity_core::db::RedactedField] = &[#(#items),*];
        #redact
    })
}

impl Field {
    /// Returns the SQL literal for those who do not see the field: texts and files can be empty, and an `Option` null. What
    /// is read from an expression is never sent back, so that 0 and false can stand for it, too.
    pub(crate) fn blank(&self) -> syn::Result<&'static str> {
        match self.kind_name() {
            _ if self.is_optional => Ok("NULL"),
            _ if self.is_required => Err(syn::Error::new(
                self.ident.span(),
                "who does not see this field could not send back what they read: add `optional`, or make it an `Option`",
            )),
            kind if kind.starts_with("Text") || kind.starts_with("Html") => Ok("''"),
            _ if last_segment(&self.ty).is_some_and(|it| it == "Files") => Ok("''"),
            kind if kind == "Integer" && !self.is_stored() => Ok("0"),
            kind if kind == "Boolean" && !self.is_stored() => Ok("FALSE"),
            _ => Err(syn::Error::new(
                self.ident.span(),
                "a field that some callers do not see is a `String`, `Files` or an `Option`, or has an expression",
            )),
        }
    }
}
