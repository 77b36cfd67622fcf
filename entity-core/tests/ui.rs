//! What the compiler says to the author of a provider that is wrong.

#[test]
fn a_wrong_provider_is_told_what_to_do() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
