#!/usr/bin/env bash
# Runs the tests of the engine under the address sanitizer.
#
# Finds what no assertion can see: a value read after its slot was released, a
# double drop that frees twice, a leak. It checks one schedule per run, not all;
# the models in loom_tests/ are for that. Needs a nightly toolchain, since the
# sanitizer is unstable; not part of the checks every change must pass.
#
# Usage: scripts/asan.sh [arguments for the test binaries]
#   scripts/asan.sh                 every test
#   scripts/asan.sh drop            tests with "drop" in their name
#   scripts/asan.sh -- --nocapture  test output as it comes
set -euo pipefail
cd "$(dirname "$0")/.."

if ! version=$(rustc +nightly --version --verbose 2>/dev/null); then
    echo "asan.sh: needs a nightly toolchain: rustup toolchain install nightly" >&2
    exit 2
fi
host=$(sed -n 's/^host: //p' <<<"$version")

# These tests run other programs or read source text: nothing there to sanitize.
targets=(--lib)
for file in tests/*.rs tests/*/main.rs; do
    name=$(basename "${file%/main.rs}" .rs)
    case $name in
        flights | compile_fail | tidy) ;;
        *) targets+=(--test "$name") ;;
    esac
done

# With --target the flag stays away from build scripts and from the usual target folder.
export RUSTFLAGS="-Zsanitizer=address"
# A ring that is too large for memory is an error to the caller, here too.
export ASAN_OPTIONS="allocator_may_return_null=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
exec cargo +nightly test --target "$host" -p mailring "${targets[@]}" "$@"
