//! Generates what is known of the fields that some callers do not see.

use proc_macro2::TokenStream;
use quote::quote;

use crate::field::Fields;
use crate::record::selected;

/// Generates what is known of the fields that some callers do not see.
pub(crate) fn veiled(fields: &Fields) -> syn::Result<TokenStream> {
    let (mut items, mut arms) = (Vec::new(), Vec::new());
    for field in &fields.0 {
        let Some(sight) = &field.sight else { continue };
        let (ident, wire, blank) = (&field.ident, &field.wire, field.blank()?);
        let expression = selected(field).ok_or_else(|| {
            let message = "a rule about who sees a field needs a column or an expression";
            syn::Error::new(ident.span(), message)
        })?;
        items.push(quote!(::entity_core::db::Veiled {
            field: #wire,
            expression: #expression,
            blank: #blank,
            sight: #sight,
        }));
        arms.push(quote!(#wire => self.#ident = ::std::default::Default::default(),));
    }
    let conceal = (!arms.is_empty()).then(|| {
        quote! {
            fn conceal(&mut self, field: &str) {
                match field {
                    #(#arms)*
                    _ => {}
                }
            }
        }
    });
    Ok(quote! {
        const VEILED: &'static [::entity_core::db::Veiled] = &[#(#items),*];
        #conceal
    })
}
