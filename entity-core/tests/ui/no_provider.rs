struct Notes;

entity_core::register!(Notes);

fn main() {}
