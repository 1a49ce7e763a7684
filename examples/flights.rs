//! Adds up a month of flights: four threads parse and post, two tasks of an engine keep the sums.
//!
//! Nothing is shared but the mailboxes: each reader parses its own part of the file and posts its
//! flights in batches, each to the task of its carrier; a task alone touches its sums, which
//! therefore need no lock. In each a timer posts the marker `report`, and at the end the sums are
//! asked for.

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
use mailring::mailbox::{Sender, TooManyMarkers};
use mailring::processor::Repeat;
use mailring::task::{
    BuildError, Context, CpuSet, Engine, Shutdown, SpawnError, TaskHandle, Topology,
};

const READERS: usize = 4;
const TASKS: usize = 2;
const CAPACITY: usize = 1024;
const BATCH_LETTERS_MAX: usize = 256;
const REPORT_EVERY: Duration = Duration::from_millis(1);
const DRAIN_WITHIN: Duration = Duration::from_secs(5);

const USAGE: &str = "\
Usage: flights [FILE]

Adds up, per carrier, departures, their delay in minutes, and cancelled flights.
FILE is a CSV file whose header names carrier, dep_time and dep_delay; an empty
dep_time is a cancelled flight. Without FILE: New York's January of 2013.
";

/// Two letters or digits.
type Carrier = [u8; 2];

/// What a reader posts: one row of the file. Run, it is added to the task's sums.
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

/// Each has a share of the carriers.
type Task = TaskHandle<Sums, Flight>;

/// The task that has this carrier among others.
fn task_of(carrier: Carrier) -> usize {
    (usize::from(carrier[0]) + usize::from(carrier[1])) % TASKS
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
    let engine = engine().map_err(|error| error.to_string())?;
    for warning in engine.warnings() {
        eprintln!("flights: {warning}");
    }
    let tasks = spawn(&engine).map_err(|error| error.to_string())?;
    let month = add_up(&bytes, &tasks).map_err(|fault| {
        let line = line_of(&bytes, fault.offset);
        format!("{}:{line}: {}", file.display(), fault.what)
    })?;
    let threads = tasks.iter().map(|task| &engine.threads()[task.thread()]);
    let cpus = threads.flat_map(|thread| &thread.cpus).collect();
    let ended = engine.shutdown(Shutdown::drain_within(DRAIN_WITHIN));
    ended.map_err(|error| error.to_string())?;
    print(&month.text(&cpus))
}

/// A thread for each task, as far as that is worth it.
fn engine() -> Result<Engine, BuildError> {
    let threads = Topology::of_process().threads_worth_starting().get();
    Engine::builder()
        .name("flights")
        .threads(threads.min(TASKS))
        .build()
}

fn spawn(engine: &Engine) -> Result<Vec<Task>, SpawnError> {
    let task = |number| {
        let task = engine.task(&format!("carriers-{number}"));
        task.capacity(CAPACITY).try_spawn(sums_that_report)
    };
    (0..TASKS).map(task).collect()
}

/// A task's sums at first; its reports have begun.
fn sums_that_report(cx: &mut Context<'_, Sums, Flight>) -> Result<Sums, TooManyMarkers> {
    let report = cx.marker("report", Sums::report)?;
    let executor = cx.executor();
    let every = Repeat::FixedRate(REPORT_EVERY);
    let _timer = executor.run_every(executor.now(), every, move |_sums, _due| {
        let _pending = report.post();
    });
    Ok(Sums::default())
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

/// Carries every row of the file from the readers to the tasks.
fn add_up(bytes: &[u8], tasks: &[Task]) -> Result<Month, Fault> {
    let text = str::from_utf8(bytes).map_err(|error| Fault {
        offset: error.valid_up_to(),
        what: "not UTF-8: the file must be UTF-8 text".to_owned(),
    })?;
    let table = Table::new(text)?;
    let results: Vec<_> = thread::scope(|scope| {
        let parts = table.parts.iter().cloned();
        let readers: Vec<_> = parts
            .map(|part| {
                let table = &table;
                let senders: Vec<_> = tasks.iter().map(Task::producer).collect();
                scope.spawn(move || table.post_part(part, &senders))
            })
            .collect();
        readers.into_iter().map(|thread| thread.join()).collect()
    });
    // The parts are in the file's order, so the first fault is the file's first.
    let batches = results.into_iter().map(unwound).sum::<Result<_, _>>()?;
    let mut sums = Sums::default();
    for task in tasks {
        // What was posted is in the mailbox, so the question comes behind it.
        let asked = task.ask(|sums| {
            sums.report();
            mem::take(sums)
        });
        sums.add(asked.expect("no letter fails").wait().expect("an answer"));
    }
    Ok(Month { sums, batches })
}

/// What a thread returned; its panic goes on here.
fn unwound<T>(result: thread::Result<T>) -> T {
    result.unwrap_or_else(|payload| panic::resume_unwind(payload))
}

/// A CSV text, cut into one part per reader.
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

    /// Parses the rows of `part` and posts them in batches, each to its task; stops at the first
    /// fault. Returns how many batches it posted.
    fn post_part(
        &self,
        part: Range<usize>,
        tasks: &[Sender<Sums, Flight>],
    ) -> Result<usize, Fault> {
        let mut rows = reader(&self.text[part.clone()], false);
        let mut row = ByteRecord::new();
        let mut batches: Vec<_> = tasks.iter().map(Batch::new).collect();
        while rows.read_byte_record(&mut row).map_err(unreadable)? {
            let flight = self.flight(&row).map_err(|what| Fault {
                offset: part.start + row.position().map_or(0, |at| at.byte() as usize),
                what,
            })?;
            batches[task_of(flight.carrier)].push(flight);
        }
        Ok(batches.into_iter().map(Batch::end).sum())
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

/// Flights on their way to one task.
struct Batch<'a> {
    task: &'a Sender<Sums, Flight>,
    flights: Vec<Flight>,
    posted: usize,
}

impl<'a> Batch<'a> {
    fn new(task: &'a Sender<Sums, Flight>) -> Self {
        let flights = Vec::with_capacity(BATCH_LETTERS_MAX);
        Self {
            task,
            flights,
            posted: 0,
        }
    }

    fn push(&mut self, flight: Flight) {
        self.flights.push(flight);
        if self.flights.len() == BATCH_LETTERS_MAX {
            self.post();
        }
    }

    fn post(&mut self) {
        let full = mem::replace(&mut self.flights, Vec::with_capacity(BATCH_LETTERS_MAX));
        // Only a panic ends a task early, and whoever asks it will see that.
        if self.task.post_batch(full).is_ok() {
            self.posted += 1;
        }
    }

    /// Posts what is left; how many were posted in all.
    fn end(mut self) -> usize {
        if !self.flights.is_empty() {
            self.post();
        }
        self.posted
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
        if starts.len() < READERS && here >= first + (end - first) * starts.len() / READERS {
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

/// What a task alone holds.
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

    /// Adds those of another task, which has other carriers.
    fn add(&mut self, other: Self) {
        self.carriers.extend(other.carriers);
        self.rows += other.rows;
        self.reports += other.reports;
        self.rows_reported += other.rows_reported;
    }
}

/// What is printed.
struct Month {
    sums: Sums,
    batches: usize,
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
    fn text(&self, cpus: &CpuSet) -> String {
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
        let cpu = if cpus.len() == 1 { "CPU" } else { "CPUs" };
        let _ = writeln!(
            text,
            "{rows} rows to {TASKS} tasks on {cpu} {cpus} in {batches} batches: \
             {per_batch:.1} letters per batch"
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
