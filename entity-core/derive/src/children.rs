//! Children: rows of another table that are a list in their parent and are written with it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned as _;
use syn::{Ident, Type};

use crate::attributes::TypeAttributes;
use crate::field::{Field, Fields, Storage};
use crate::types::{last_segment, unwrap_vec};

/// The maximum number of children in one field, unless the field declares another one.
const MOST: usize = 100;
/// The highest maximum number of children that a field can declare.
const LIMIT: usize = 1000;

/// Returns the storage of a field of the type `ty` with children, at most `max`.
pub(crate) fn storage(ty: &Type, max: Option<usize>) -> syn::Result<Storage> {
    let wrong = |message| syn::Error::new(ty.span(), message);
    let item = unwrap_vec(ty).ok_or_else(|| wrong("a field with `children` is a `Vec`"))?;
    let most = max.unwrap_or(MOST);
    if most > LIMIT {
        return Err(wrong("a field has at most 1000 children"));
    }
    Ok(Storage::Children(Box::new(item.clone()), most))
}

/// Returns the fields with children: the name of each, and the type of the children.
fn fields_of(fields: &Fields) -> Vec<(&Ident, &Type)> {
    let found = fields.0.iter().filter_map(|it| match &it.storage {
        Storage::Children(item, _) => Some((&it.ident, &**item)),
        _ => None,
    });
    found.collect()
}

/// Returns the types of the children of the type `name`.
pub(crate) fn types<'a>(name: &Ident, fields: &'a Fields) -> syn::Result<Vec<&'a Type>> {
    let types: Vec<&Type> = fields_of(fields).into_iter().map(|it| it.1).collect();
    let is_own = |it: &&&Type| last_segment(it).is_some_and(|it| it == "Self" || name == &it);
    match types.iter().find(is_own) {
        Some(own) => Err(syn::Error::new(
            own.span(),
            "an entity can't be a child of its own type",
        )),
        None => Ok(types),
    }
}

/// Generates the column with the size of the children, and its value.
pub(crate) fn column(fields: &Fields) -> Option<(TokenStream, TokenStream)> {
    if fields_of(fields).is_empty() {
        return None;
    }
    Some((
        quote!((
            ::entity_core::db::children::SIZE,
            ::entity_core::db::ColumnType::Integer,
            false
        ),),
        quote!(::entity_core::sea_orm::Value::from(
            ::entity_core::db::Record::children_size(self)
        ),),
    ))
}

/// Generates the selection of this column, and its reading.
pub(crate) fn selection(fields: &Fields) -> Option<(TokenStream, TokenStream)> {
    if fields_of(fields).is_empty() {
        return None;
    }
    Some((
        quote!("this.\"children_size\""),
        quote!(row.weigh_beside()?;),
    ))
}

/// Generates the expression for what a client sent for the field, as an option. The entity `current` has the present
/// children, if there is one.
pub(crate) fn sent(field: &Field, current: &TokenStream) -> Option<TokenStream> {
    let Storage::Children(item, most) = &field.storage else {
        return None;
    };
    let (ident, wire) = (&field.ident, &field.wire);
    let current = if current.is_empty() {
        quote!(::std::option::Option::None)
    } else {
        quote!(::std::option::Option::Some(&#current.#ident))
    };
    Some(quote! {
        ::entity_core::db::children::receive::<#item>(cx, &mut fields, #wire, #most, #current)?
    })
}

/// Generates the methods of `Record` about children, if there are fields with some.
pub(crate) fn methods(fields: &Fields) -> Option<TokenStream> {
    let fields = fields_of(fields);
    if fields.is_empty() {
        return None;
    }
    let (idents, items): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    Some(quote! {
        fn child_tables() -> ::std::vec::Vec<::entity_core::db::TableSpec> {
            ::std::vec![#(::entity_core::db::TableSpec::of::<#items>()),*]
        }
        fn children_size(&self) -> i64 {
            0_i64 #(.saturating_add(::entity_core::db::children::size(&self.#idents)))*
        }
        fn arrange_children(&mut self) {
            #(::entity_core::db::children::arrange(&self.key().to_owned(), &mut self.#idents);)*
        }
        async fn read_children(
            cx: &::entity_core::Context,
            records: &mut [Self],
        ) -> ::entity_core::Result<()> {
            #(
                let read = ::entity_core::db::children::read(cx, records, |it| &mut it.#idents);
                ::std::boxed::Box::pin(read).await?;
            )*
            ::std::result::Result::Ok(())
        }
        async fn store_children(
            &self,
            cx: &::entity_core::Context,
            former: ::std::option::Option<&Self>,
        ) -> ::entity_core::Result<()> {
            #(
                let before = former.map(|it| it.#idents.as_slice());
                let store = ::entity_core::db::children::store(cx, &self.#idents, before.unwrap_or_default());
                ::std::boxed::Box::pin(store).await?;
            )*
            ::std::result::Result::Ok(())
        }
    })
}

/// Generates the reference to the parent, if a field holds its key.
pub(crate) fn parent(
    attributes: &TypeAttributes,
    fields: &Fields,
) -> syn::Result<Option<TokenStream>> {
    let Some(field) = fields.0.iter().find(|it| it.parent.is_some()) else {
        return Ok(None);
    };
    let check = attributes.check.as_ref().or(attributes.settle.as_ref());
    if let (None, Some(check)) = (&attributes.prefix, check) {
        return Err(syn::Error::new(
            check.span(),
            "children are checked by the function of their parent, which sees them all",
        ));
    }
    let (ident, column, parent) = (&field.ident, field.column_name(), &field.parent);
    let (is_optional, is_joined) = (field.is_optional, attributes.prefix.is_some());
    let (value, set) = if field.is_optional {
        (
            quote!(self.#ident.as_deref()),
            quote!(::std::option::Option::Some(key.into())),
        )
    } else {
        (
            quote!(::std::option::Option::Some(&self.#ident)),
            quote!(key.into()),
        )
    };
    Ok(Some(quote! {
        const PARENT: ::std::option::Option<::entity_core::db::Parent> =
            ::std::option::Option::Some(::entity_core::db::Parent {
                column: #column,
                table: <#parent as ::entity_core::db::Record>::TABLE,
                key: <#parent as ::entity_core::db::Record>::KEY,
                owner: <#parent as ::entity_core::db::Record>::OWNER,
                groups: <#parent as ::entity_core::db::Record>::GROUPS,
                schema: <#parent as ::entity_core::Entity>::schema,
                is_optional: #is_optional,
                is_joined: #is_joined,
            });
        fn parent(&self) -> ::std::option::Option<&str> {
            #value
        }
        fn set_parent(&mut self, key: &str) {
            self.#ident = #set;
        }
    }))
}
