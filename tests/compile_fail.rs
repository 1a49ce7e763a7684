//! What the compiler must refuse, with its words, and what it must let pass.
//!
//! The expected words are those of the toolchain that CI uses; another compiler may say the same in
//! others. `TRYBUILD=overwrite cargo test --test compile_fail` writes them anew; look at the
//! difference: each must still be refused for the reason in its first line.
//!
//! Those that name a `Result` do so by its path where another crate has one too, as csv has: they are for
//! the workspace's features, which have that in them.

#[test]
fn b13_b72_and_b73_are_refused_by_the_compiler() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/compile_fail/*.rs");
    if cfg!(feature = "csv") {
        cases.compile_fail("tests/compile_fail/with_csv/*.rs");
    }
    cases.pass("tests/compile_pass/*.rs");
}
