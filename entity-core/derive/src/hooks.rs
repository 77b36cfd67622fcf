//! Generates the hooks that run when a record is written or was read: the date and the number of a change, and the
//! functions of the type.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;

use crate::attributes::TypeAttributes;
use crate::field::{Field, Fields};

/// Generates `touch`, if the type has a date or a number of its changes.
pub(crate) fn touch(fields: &Fields) -> Option<TokenStream> {
    let is_counted = |it: &&Field| it.is_stored();
    let has_version = fields.role("Version").is_some();
    let updated = fields.role("Updated").filter(is_counted).map(|it| {
        let ident = &it.ident;
        if has_version {
            quote!(self.#ident = cx.now().into();)
        } else {
            // Nothing else tells the states of the entity apart.
            quote!(self.#ident = ::entity_core::db::later(cx, &self.#ident);)
        }
    });
    let version = fields.role("Version").filter(is_counted).map(|it| {
        let ident = &it.ident;
        quote!(self.#ident = self.#ident.saturating_add(1);)
    });
    (updated.is_some() || version.is_some()).then(|| {
        quote! {
            fn touch(&mut self, cx: &::entity_core::Context) {
                let _ = cx;
                #updated #version
            }
        }
    })
}

/// Generates `settle`, if the type names functions that check what is written.
pub(crate) fn settle(attributes: &TypeAttributes) -> Option<TokenStream> {
    let check = attributes
        .check
        .as_ref()
        .map(|it| quote!(#it(self, cx, before)?;));
    let settle = attributes
        .settle
        .as_ref()
        .map(|it| quote!(#it(self, cx, before).await?;));
    (check.is_some() || settle.is_some()).then(|| {
        quote! {
            async fn settle(
                &mut self,
                cx: &::entity_core::Context,
                before: ::std::option::Option<&Self>,
            ) -> ::entity_core::Result<()> {
                #check #settle
                ::std::result::Result::Ok(())
            }
        }
    })
}

/// Generates the deadline that the calendar shows, and lets what the calendar has be as hidden as the entity.
pub(crate) fn deadline(
    attributes: &TypeAttributes,
    fields: &Fields,
) -> syn::Result<Option<TokenStream>> {
    let Some(name) = &attributes.deadline else {
        return Ok(None);
    };
    let field = fields.0.iter().find(|it| it.ident == *name);
    let (Some(field), Some(prefix)) = (field, &attributes.prefix) else {
        return Err(syn::Error::new(
            name.span(),
            "a deadline is in a field of a type with a prefix, and no field has this name",
        ));
    };
    let wire = &field.wire;
    let instant = quote_spanned!(field.ty.span()=> ::entity_core::wire::Instant::instant);
    Ok(Some(quote! {
        const DEADLINE: ::std::option::Option<(&'static str, &'static str)> =
            ::std::option::Option::Some((#prefix, #wire));
        fn deadline(&self) -> ::std::option::Option<::entity_core::DateTimeUtc> {
            #instant(&self.#name)
        }
    }))
}

/// Generates `complete` and `removed`, if the type names functions that compute fields and that are called before an entity is
/// deleted.
pub(crate) fn complete(attributes: &TypeAttributes) -> TokenStream {
    let complete = attributes.complete.iter().map(|path| {
        quote! {
            async fn complete(
                cx: &::entity_core::Context,
                records: &mut [Self],
            ) -> ::entity_core::Result<()> {
                #path(cx, records).await
            }
        }
    });
    let removed = attributes.removed.iter().map(|path| {
        quote! {
            async fn removed(&self, cx: &::entity_core::Context) -> ::entity_core::Result<()> {
                #path(self, cx).await
            }
        }
    });
    quote!(#(#complete)* #(#removed)*)
}
