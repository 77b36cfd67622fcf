//! `#[derive(Choice)]`: enums whose variants are the texts of a field.

use heck::{ToLowerCamelCase as _, ToSnakeCase as _};
use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt as _;
use syn::{Data, DeriveInput, Fields, Ident, LitStr, Variant};

/// A variant, as clients name it, and its words for people.
struct Named<'a> {
    ident: &'a Ident,
    name: String,
    words: String,
}

impl<'a> Named<'a> {
    fn parse(variant: &'a Variant) -> syn::Result<Self> {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(syn::Error::new_spanned(
                variant,
                "the variants of a choice have no fields: it is stored and sent as a text",
            ));
        }
        let ident = variant.ident.unraw().to_string();
        let mut words = ident.to_snake_case().replace('_', " ");
        if let Some(first) = words.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let mut name = ident.to_lower_camel_case();
        let attributes = variant.attrs.iter();
        for attribute in attributes.filter(|it| it.path().is_ident("choice")) {
            attribute.parse_nested_meta(|meta| {
                let text = |it: &syn::meta::ParseNestedMeta<'_>| -> syn::Result<String> {
                    Ok(it.value()?.parse::<LitStr>()?.value())
                };
                if meta.path.is_ident("name") {
                    name = text(&meta)?;
                } else if meta.path.is_ident("words") {
                    words = text(&meta)?;
                } else {
                    return Err(
                        meta.error("a choice has a `name` for clients and `words` for people")
                    );
                }
                Ok(())
            })?;
        }
        Ok(Self {
            ident: &variant.ident,
            name,
            words,
        })
    }
}

pub(crate) fn implement(input: &DeriveInput) -> syn::Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(syn::Error::new_spanned(
            &input.ident,
            "a choice is an enum, whose variants are what can be chosen",
        ));
    };
    let all: Vec<Named<'_>> = data
        .variants
        .iter()
        .map(Named::parse)
        .collect::<Result<_, _>>()?;
    let is_default = |it: &Variant| it.attrs.iter().any(|it| it.path().is_ident("default"));
    if !data.variants.iter().any(is_default) {
        return Err(syn::Error::new_spanned(
            &input.ident,
            "what is not sent is the default: derive `Default` too, and mark a variant with #[default]",
        ));
    }
    let own = &input.ident;
    let (idents, names, words) = (
        all.iter().map(|it| it.ident).collect::<Vec<_>>(),
        all.iter().map(|it| &it.name).collect::<Vec<_>>(),
        all.iter().map(|it| &it.words),
    );
    Ok(quote! {
        impl ::entity_core::Choice for #own {
            const CHOICES: &'static [&'static str] = &[#(#names),*];
            const WORDS: &'static [(&'static str, &'static str)] = &[#((#names, #words)),*];
            fn name(&self) -> &'static str {
                match self {
                    #(Self::#idents => #names),*
                }
            }
            fn named(name: &str) -> ::std::option::Option<Self> {
                match name {
                    #(#names => ::std::option::Option::Some(Self::#idents),)*
                    _ => ::std::option::Option::None,
                }
            }
        }
        ::entity_core::serde_of_choice!(#own);
    })
}
