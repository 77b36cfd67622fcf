//! Generates the constant with the fields that lists compare, each with the type of its values.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Type, Visibility};

use crate::field::{Field, Fields, Storage};
use crate::types::unwrap_option;

impl Field {
    /// Returns whether lists can be filtered and ordered by the field.
    pub(crate) fn is_compared(&self) -> bool {
        let kind = self.kind_name();
        let is_value = kind != "List" && kind != "Object" && !self.is_uncompared;
        self.column.is_some()
            && match self.storage {
                Storage::Joined(_) => true,
                Storage::Shown | Storage::Key => is_value,
                _ => false,
            }
    }
}

/// Generates the struct of the fields, and its only value, which finds them in the static `SCHEMA`.
pub(crate) fn implement(input: &DeriveInput, fields: &Fields) -> (TokenStream, TokenStream) {
    let shown = fields.0.iter().filter(|it| it.is_shown());
    let compared = shown.enumerate().filter(|it| it.1.is_compared());
    let (places, compared): (Vec<usize>, Vec<&Field>) = compared.unzip();
    let members = compared
        .iter()
        .map(|it| (&it.ident, &it.ty, it.doc.as_str()));
    let values = places.iter().map(|it| quote!(&SCHEMA.fields[#it]));
    generate(input, &members.collect::<Vec<_>>(), values)
}

/// Generates the same for a struct whose declaration is wrong.
pub(crate) fn stand_in(input: &DeriveInput) -> TokenStream {
    let Data::Struct(data) = &input.data else {
        return TokenStream::new();
    };
    let fields = data.fields.iter();
    let members: Vec<_> = fields
        .filter_map(|it| Some((it.ident.as_ref()?, &it.ty, "")))
        .collect();
    let nothing = quote! {
        &const { ::entity_core::schema::Field::new("", ::entity_core::schema::Kind::Object, "") }
    };
    let (comparisons, compared) =
        generate(input, &members, members.iter().map(|_| nothing.clone()));
    quote!(#comparisons #compared)
}

fn generate(
    input: &DeriveInput,
    members: &[(&Ident, &Type, &str)],
    values: impl Iterator<Item = TokenStream>,
) -> (TokenStream, TokenStream) {
    if members.is_empty() {
        return (TokenStream::new(), TokenStream::new());
    }
    let name = &input.ident;
    let fields = format_ident!("{name}Fields");
    let visibility = &input.vis;
    // Fields that are private in the entity are not beside it: clients see and filter by all of them.
    let of_member = match visibility {
        Visibility::Inherited => quote!(),
        said => quote!(#said),
    };
    let declared = members.iter().map(|(ident, ty, doc)| {
        let inner = unwrap_option(ty).0;
        quote!(#[doc = #doc] #of_member #ident: ::entity_core::search::FieldOf<#inner>)
    });
    let made = members
        .iter()
        .zip(values)
        .map(|((ident, ..), value)| quote!(#ident: ::entity_core::search::FieldOf::new(#value)));
    let doc = format!("The fields of [`{name}`] that lists compare.");
    let declaration = quote! {
        #[doc = #doc]
        #[derive(Debug)]
        #[allow(dead_code)]
        #visibility struct #fields { #(#declared),* }
    };
    let value = quote! {
        impl #name {
            #[doc = #doc]
            #[allow(dead_code)]
            #visibility const FIELD: &'static #fields = &#fields { #(#made),* };
        }
    };
    (declaration, value)
}
