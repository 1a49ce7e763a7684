//! The tool with the subjects it brings.

use std::process::ExitCode;

fn main() -> ExitCode {
    perf::main(perf::subjects::all())
}
