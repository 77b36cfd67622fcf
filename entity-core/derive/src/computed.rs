//! Generates derived fields: a composed id, and the fields with `computed = …`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::field::{Field, Fields, Storage};

/// Generates what sets the fields that follow from others, and the way from a composed id to the key.
pub(crate) fn computing(fields: &Fields) -> syn::Result<Option<TokenStream>> {
    let composed = composed(fields)?;
    let (compose, key_of) = composed.unzip();
    let computed: Vec<_> = fields
        .0
        .iter()
        .filter_map(|it| match &it.storage {
            Storage::Computed(Some(function)) => Some((&it.ident, &it.ty, function)),
            _ => None,
        })
        .map(|(ident, ty, function)| {
            quote! {
                self.#ident = ::entity_core::db::computed::<Self, #ty>(self, cx, #function);
            }
        })
        .collect();
    if compose.is_none() && computed.is_empty() {
        return Ok(None);
    }
    Ok(Some(quote! {
        fn compute(&mut self, cx: &::entity_core::Context) {
            let _ = cx;
            #compose
            #(#computed)*
        }
        #key_of
    }))
}

/// Generates the id that is composed of other fields, and the way from that id to the key, which is the last of them.
fn composed(fields: &Fields) -> syn::Result<Option<(TokenStream, TokenStream)>> {
    let Some((field, pattern)) = fields.0.iter().find_map(|it| match &it.storage {
        Storage::Composed(pattern) => Some((it, pattern)),
        _ => None,
    }) else {
        return Ok(None);
    };
    let ident = &field.ident;
    let text = pattern.value();
    let (mut format, mut parts, mut before) = (String::new(), Vec::new(), String::new());
    for piece in text.split('{') {
        match piece.split_once('}') {
            None => format.push_str(piece),
            Some((name, behind)) => {
                before = format.split('}').next_back().unwrap_or_default().into();
                parts.push(Ident::new(name, pattern.span()));
                format = format + "{}" + behind;
            }
        }
    }
    let is_key = |it: &&Field| matches!(it.storage, Storage::Key);
    let ends_with_key = parts.last().is_some_and(|last| {
        fields
            .0
            .iter()
            .find(is_key)
            .is_some_and(|key| key.ident == *last)
    });
    if !ends_with_key || !text.ends_with('}') || before.is_empty() {
        return Err(syn::Error::new(
            pattern.span(),
            "a composed id ends with a separator and the key, as in \"{site_id}:{number}\"",
        ));
    }
    let compose = quote!(self.#ident = ::std::format!(#format, #(self.#parts),*););
    let key_of = quote! {
        fn key_of(id: &str) -> &str {
            id.rsplit_once(#before).map_or(id, |(_, key)| key)
        }
    };
    Ok(Some((compose, key_of)))
}
