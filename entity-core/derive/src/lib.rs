//! x
#[proc_macro_derive(Entity, attributes(entity))]
pub fn entity(_input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    proc_macro::TokenStream::new()
}
