//! What the compiler must refuse, with its words, and what it must let pass.
//!
//! The expected words are those of the toolchain that CI uses; another compiler may say the same in
//! others. `TRYBUILD=overwrite cargo test -p compile_tests` writes them anew; look at the
//! difference: each must still be refused for the reason in its first line.

#[test]
fn b13_b72_b73_and_what_streams_cannot_do_are_refused_by_the_compiler() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("fail/*.rs");
    cases.pass("pass/*.rs");
}
