//! Adds up a month of flights: four threads parse and post, one pinned owner keeps the sums.
//!
//! Nothing is shared but the mailbox: each producer parses its own part of the file and posts its
//! flights in batches; the owner alone touches the sums and therefore needs no lock. A timer posts
//! the marker `report`, and at the end the sums are asked for.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use std::{fs, mem, panic, str, thread};

use csv::{ByteRecord, Reader, ReaderBuilder};
use mailring::letter::{Letter, Outcome};
use mailring::mailbox::{self, Sender};
use mailring::processor::{MailboxProcessor, Repeat};
use mailring::wait::Reply;

const PRODUCERS: usize = 4;
const CAPACITY: usize = 1024;
const BATCH_LETTERS_MAX: usize = 256;
const REPORT_EVERY: Duration = Duration::from_millis(1);

const USAGE: &str = "\
Usage: flights [FILE]

Adds up, per carrier, departures, their delay in minutes, and cancelled flights.
FILE is a CSV file whose header names carrier, dep_time and dep_delay; an empty
dep_time is a cancelled flight. Without FILE: New York's January of 2013.
";

/// Two letters or digits.
type Carrier = [u8; 2];

/// What a producer posts: one row of the file. Run, it is added to the owner's sums.
struct Flight {
    carrier: Carrier,
    /// Nothing for a cancelled flight.
    delay_minutes: Option<i32>,
}

impl Letter<Sums> for Flight {
    fn run(self, sums: &mut Sums) -> Outcome {
        sums.rows += 1;
        sums.carriers.entry(self.carrier).or_default().add(&self);
        Ok(())
    }
}

/// A fault of the file, and where it is.
struct Fault {
    /// In bytes from the file's start.
    offset: usize,
    what: String,
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("flights: {}", message.replace(char::is_control, " "));
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let Some(file) = file_to_read(std::env::args_os().skip(1).collect())? else {
        return print(USAGE);
    };
    let bytes = fs::read(&file).map_err(|error| {
        format!(
            "{}: cannot read this as a CSV file: {error}",
            file.display()
        )
    })?;
    let month = add_up(&bytes).map_err(|fault| {
        let line = line_of(&bytes, fault.offset);
        format!("{}:{line}: {}", file.display(), fault.what)
    })?;
    if let Err(reason) = month.core {
        eprintln!("flights: the owner is not pinned: {reason}");
    }
    print(&month.text())
}

/// The file that the arguments ask for; nothing if they ask for help.
fn file_to_read(arguments: Vec<OsString>) -> Result<Option<PathBuf>, String> {
    if arguments.iter().any(|a| a == "--help" || a == "-h") {
        return Ok(None);
    }
    if let Some(flag) = arguments
        .iter()
        .find(|a| a.as_encoded_bytes().starts_with(b"-"))
    {
        let flag = flag.display();
        return Err(format!(
            "unknown argument {flag}: allowed are --help or one file"
        ));
    }
    match arguments.as_slice() {
        [] => {
            let inside = Path::new("examples/data/flights-2013-01.csv");
            let default = Path::new(env!("CARGO_MANIFEST_DIR")).join(inside);
            Ok(Some(if default.exists() {
                default
            } else {
                inside.to_owned()
            }))
        }
        [file] => Ok(Some(file.into())),
        [_, more, ..] => {
            let more = more.display();
            Err(format!(
                "unknown argument {more}: allowed are --help or one file"
            ))
        }
    }
}

/// Carries every row of the file from four producers to one owner.
fn add_up(bytes: &[u8]) -> Result<Month, Fault> {
    let text = str::from_utf8(bytes).map_err(|error| Fault {
        offset: error.valid_up_to(),
        what: "not UTF-8: the file must be UTF-8 text".to_owned(),
    })?;
    let table = Table::new(text)?;
    let mut processor = MailboxProcessor::<Sums, Flight>::builder()
        .mailbox(mailbox::Builder::new(CAPACITY))
        .build(Sums::default())
        .expect("a small capacity");
    let report = processor
        .marker("report", Sums::report)
        .expect("the first marker");
    let executor = processor.executor();
    let first = executor.now();
    let _timer = executor.run_every(
        first,
        Repeat::FixedRate(REPORT_EVERY),
        move |_sums, _due| {
            let _pending = report.post();
        },
    );

    thread::scope(|scope| {
        let owner = scope.spawn(move || {
            let core = pin();
            processor.run().map(|_all_done| core)
        });
        let parts = table.parts.iter().cloned();
        let producers: Vec<_> = parts
            .map(|part| {
                let (table, sender) = (&table, executor.sender());
                scope.spawn(move || table.post_part(part, &sender))
            })
            .collect();
        let results: Vec<_> = producers.into_iter().map(|thread| thread.join()).collect();
        // What they posted is in the mailbox, so the question comes behind it.
        let asked = executor.ask(|sums| {
            sums.report();
            mem::take(sums)
        });
        let sums = asked.map(Reply::wait);
        // Before anything that may panic: until then the owner waits, and this scope for the owner.
        executor.all_done();
        let core = unwound(owner.join()).expect("no letter fails");
        // The parts are in the file's order, so the first fault is the file's first.
        let batches = results.into_iter().map(unwound).sum::<Result<_, _>>()?;
        let sums = sums.expect("an open mailbox").expect("an answer");
        Ok(Month {
            sums,
            batches,
            core,
        })
    })
}

/// What a thread returned; its panic goes on here.
fn unwound<T>(result: thread::Result<T>) -> T {
    result.unwrap_or_else(|payload| panic::resume_unwind(payload))
}

/// A CSV text, cut into one part per producer.
struct Table<'a> {
    text: &'a str,
    fields: usize,
    carrier: usize,
    dep_time: usize,
    dep_delay: usize,
    /// Each starts and ends between two rows; together they are all rows, in order.
    parts: Vec<Range<usize>>,
}

impl<'a> Table<'a> {
    fn new(text: &'a str) -> Result<Self, Fault> {
        let mut reader = reader(text, true);
        let header = reader.byte_headers().map_err(unreadable)?.clone();
        let column = |name: &str| match header.iter().filter(|f| *f == name.as_bytes()).count() {
            1 => Ok(header
                .iter()
                .position(|f| f == name.as_bytes())
                .unwrap_or_default()),
            found => Err(Fault {
                offset: 0,
                what: format!(
                    "{found} columns named {name}: a header with carrier, dep_time and dep_delay, \
                     each once, must come first"
                ),
            }),
        };
        Ok(Self {
            text,
            fields: header.len(),
            carrier: column("carrier")?,
            dep_time: column("dep_time")?,
            dep_delay: column("dep_delay")?,
            parts: cut(reader, text.len())?,
        })
    }

    /// Parses the rows of `part` and posts them in batches; stops at the first fault. Returns how
    /// many batches it posted.
    fn post_part(&self, part: Range<usize>, sender: &Sender<Sums, Flight>) -> Result<usize, Fault> {
        let mut rows = reader(&self.text[part.clone()], false);
        let mut row = ByteRecord::new();
        let mut batch = Vec::with_capacity(BATCH_LETTERS_MAX);
        let mut batches = 0;
        loop {
            let is_end = !rows.read_byte_record(&mut row).map_err(unreadable)?;
            if !is_end {
                batch.push(self.flight(&row).map_err(|what| Fault {
                    offset: part.start + row.position().map_or(0, |at| at.byte() as usize),
                    what,
                })?);
            }
            if batch.len() == BATCH_LETTERS_MAX || is_end && !batch.is_empty() {
                let full = mem::replace(&mut batch, Vec::with_capacity(BATCH_LETTERS_MAX));
                if sender.post_batch(full).is_err() {
                    // Only a panic ends the owner early, and whoever joins it will see that.
                    return Ok(batches);
                }
                batches += 1;
            }
            if is_end {
                return Ok(batches);
            }
        }
    }

    fn flight(&self, row: &ByteRecord) -> Result<Flight, String> {
        if row.len() != self.fields {
            let (found, fields) = (row.len(), self.fields);
            return Err(format!(
                "{found} fields: every row must have {fields}, as the header has"
            ));
        }
        let carrier = match row[self.carrier] {
            [a, b] if a.is_ascii_alphanumeric() && b.is_ascii_alphanumeric() => [a, b],
            ref other => {
                let other = other.escape_ascii();
                return Err(format!(
                    "carrier \"{other}\": allowed are two letters or digits"
                ));
            }
        };
        let (time, delay) = (&row[self.dep_time], &row[self.dep_delay]);
        if !time.is_empty() && !number(time).is_some_and(is_hhmm) {
            let time = time.escape_ascii();
            return Err(format!(
                "dep_time \"{time}\": allowed are hhmm (0 to 2400) or nothing"
            ));
        }
        let delay_minutes = number(delay);
        let allowed = match delay_minutes {
            _ if time.is_empty() && delay.is_empty() => None,
            _ if time.is_empty() => Some("nothing, for dep_time is empty"),
            None => Some("whole minutes such as -5 or 120"),
            Some(_) => None,
        };
        if let Some(allowed) = allowed {
            let delay = delay.escape_ascii();
            return Err(format!("dep_delay \"{delay}\": allowed are {allowed}"));
        }
        Ok(Flight {
            carrier,
            delay_minutes,
        })
    }
}

fn reader(text: &str, has_headers: bool) -> Reader<&[u8]> {
    ReaderBuilder::new()
        .has_headers(has_headers)
        .flexible(true)
        .from_reader(text.as_bytes())
}

/// Cuts the rows that `reader` has before it into parts of about the same size. Only a CSV parser
/// knows where a row ends: a quoted field may hold line breaks.
fn cut(mut reader: Reader<&[u8]>, end: usize) -> Result<Vec<Range<usize>>, Fault> {
    let first = reader.position().byte() as usize;
    let mut starts = vec![first];
    let mut row = ByteRecord::new();
    while reader.read_byte_record(&mut row).map_err(unreadable)? {
        let here = reader.position().byte() as usize;
        if starts.len() < PRODUCERS && here >= first + (end - first) * starts.len() / PRODUCERS {
            starts.push(here);
        }
    }
    let ends = starts.iter().skip(1).copied().chain([end]);
    Ok(starts
        .iter()
        .copied()
        .zip(ends)
        .map(|(from, to)| from..to)
        .collect())
}

fn unreadable(error: csv::Error) -> Fault {
    let offset = error.position().map_or(0, |at| at.byte() as usize);
    let what = format!("not a CSV row: {error}");
    Fault { offset, what }
}

fn number(field: &[u8]) -> Option<i32> {
    str::from_utf8(field).ok()?.parse().ok()
}

fn is_hhmm(time: i32) -> bool {
    (0..=2400).contains(&time) && time % 100 < 60
}

/// The line of the row at `offset`: past line ends, which belong to the row before.
fn line_of(bytes: &[u8], offset: usize) -> usize {
    let (before, behind) = bytes.split_at(offset);
    let ends = behind
        .iter()
        .take_while(|byte| matches!(byte, b'\r' | b'\n'));
    let is_end = |byte: &&u8| **byte == b'\n';
    1 + before.iter().filter(is_end).count() + ends.filter(is_end).count()
}

/// What the owner alone holds.
#[derive(Default)]
struct Sums {
    carriers: BTreeMap<Carrier, Sum>,
    rows: usize,
    reports: usize,
    /// How many rows there were at the last report.
    rows_reported: usize,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    departures: u64,
    delay_minutes: i64,
    cancelled: u64,
}

impl Sums {
    fn report(&mut self) {
        self.reports += 1;
        self.rows_reported = self.rows;
    }
}

/// What is printed.
struct Month {
    sums: Sums,
    batches: usize,
    /// The core that the owner ran on, or why it was not pinned.
    core: Result<usize, &'static str>,
}

/// Pins this thread to the first core that it may use.
#[cfg(feature = "affinity")]
fn pin() -> Result<usize, &'static str> {
    let cores = core_affinity::get_core_ids().ok_or("the allowed cores are unknown")?;
    let core = cores.into_iter().next().ok_or("no core is allowed")?;
    let pinned = core_affinity::set_for_current(core);
    pinned.then_some(core.id).ok_or("the system refused")
}

#[cfg(not(feature = "affinity"))]
fn pin() -> Result<usize, &'static str> {
    Err("built without the feature affinity")
}

impl Sum {
    fn add(&mut self, flight: &Flight) {
        match flight.delay_minutes {
            Some(minutes) => {
                self.departures += 1;
                self.delay_minutes += i64::from(minutes);
            }
            None => self.cancelled += 1,
        }
    }
}

impl Month {
    fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, [departures, delay, cancelled]: [String; 3]| {
            let _ = writeln!(
                text,
                "{name:7}  {departures:>10}  {delay:>13}  {cancelled:>9}"
            );
        };
        line(
            "carrier",
            ["departures", "delay minutes", "cancelled"].map(str::to_owned),
        );
        let mut total = Sum::default();
        for (carrier, sum) in &self.sums.carriers {
            line(&carrier.escape_ascii().to_string(), sum.cells());
            total.departures += sum.departures;
            total.delay_minutes += sum.delay_minutes;
            total.cancelled += sum.cancelled;
        }
        line("total", total.cells());
        let Sums {
            rows,
            reports,
            rows_reported,
            ..
        } = self.sums;
        let _ = writeln!(text, "{reports} reports, the last of {rows_reported} rows");
        let batches = self.batches;
        let per_batch = rows as f64 / batches.max(1) as f64;
        let core = self
            .core
            .map_or("an unpinned owner".to_owned(), |c| format!("core {c}"));
        let _ = writeln!(
            text,
            "{rows} rows to {core} in {batches} batches: {per_batch:.1} letters per batch"
        );
        text
    }
}

impl Sum {
    fn cells(&self) -> [String; 3] {
        [
            self.departures.to_string(),
            self.delay_minutes.to_string(),
            self.cancelled.to_string(),
        ]
    }
}

/// Writes to standard output; a reader that has gone away wants no more.
fn print(text: &str) -> Result<(), String> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {error}"))
        }
        _ => Ok(()),
    }
}
