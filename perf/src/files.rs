//! The files a run writes: opened before it, so that nothing is measured in vain, and put in place
//! when they are whole, so that an earlier result is not lost to a run that fails. What is no
//! regular file, a pipe or a device, is not replaced: it is written to.

use crate::cli::Files;
use crate::report::{Report, csv, hdr_log, hgrm, html, json};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::NamedTempFile;

/// A file or folder that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {why}", path.display())]
pub(crate) struct WriteError {
    path: PathBuf,
    why: io::Error,
}

/// A way to write a report into a file.
type Format = fn(&Report, &mut dyn Write) -> io::Result<()>;

/// The files that were asked for, ready to be written.
pub(crate) struct OpenFiles {
    files: Vec<(Target, PathBuf, Format)>,
    hgrm: Option<PathBuf>,
}

/// Where a format goes.
enum Target {
    /// Into a new file, which takes its place when it is whole.
    Replaced { new: NamedTempFile, place: PathBuf },
    /// Into what is there and no regular file.
    Open(File),
}

impl OpenFiles {
    /// Finds out whether all of them can be written.
    pub(crate) fn open(wanted: &Files) -> Result<Self, WriteError> {
        let formats: [(&Option<PathBuf>, Format); 4] = [
            (&wanted.json, |report, to| json::write(report, to)),
            (&wanted.csv, |report, to| csv::write(report, to)),
            (&wanted.hdr_log, |report, to| hdr_log::write(report, to)),
            (&wanted.html, |report, to| {
                to.write_all(html::page(report).as_bytes())
            }),
        ];
        let paths = formats.iter().filter_map(|(path, _)| path.as_ref());
        distinct(paths.chain(&wanted.hgrm))?;
        let mut files = Vec::new();
        for (path, format) in formats {
            if let Some(path) = path {
                let target = Target::open(path).map_err(failed(path))?;
                files.push((target, path.clone(), format));
            }
        }
        if let Some(folder) = &wanted.hgrm {
            let probe = fs::create_dir_all(folder).and_then(|()| NamedTempFile::new_in(folder));
            probe.map_err(failed(folder))?;
        }
        Ok(Self {
            files,
            hgrm: wanted.hgrm.clone(),
        })
    }

    /// Writes them, and says what was written. One that cannot be does not keep the others from it.
    pub(crate) fn write(self, report: &Report) -> Result<(), WriteError> {
        let mut all_done = Ok(());
        let mut done = |path: PathBuf, done: io::Result<()>| match done {
            Ok(()) => tell(&format!("wrote {}", path.display())),
            Err(error) => all_done = Err(failed(&path)(error)),
        };
        for (target, path, format) in self.files {
            done(path, target.write(report, format));
        }
        if let Some(folder) = self.hgrm {
            let written = hgrm::write_all(&folder, report).map(|_| ());
            done(folder, written);
        }
        all_done
    }
}

/// Prints to the standard output. Who closes it wants no more, which is no error.
pub(crate) fn say(text: &str) -> Result<(), WriteError> {
    let mut stdout = anstream::stdout();
    let said = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match said {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(failed(Path::new("the standard output"))(error))
        }
        _ => Ok(()),
    }
}

/// Prints a line to the standard error. If even that fails there is no one left to tell.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

impl Target {
    fn open(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(there) if there.is_dir() => Err(refused("it is a folder")),
            Ok(there) if there.is_file() => {
                // Who may not write to a file is not to replace it.
                OpenOptions::new().write(true).open(path)?;
                let place = fs::canonicalize(path)?;
                let new = beside(&place)?;
                like(&new, &there)?;
                Ok(Self::Replaced { new, place })
            }
            Ok(_) => Ok(Self::Open(OpenOptions::new().write(true).open(path)?)),
            Err(_) if path.is_symlink() => Err(refused("it is a link to nothing")),
            Err(_) => {
                let place = path.to_owned();
                let new = beside(&place)?;
                Ok(Self::Replaced { new, place })
            }
        }
    }

    fn write(self, report: &Report, format: Format) -> io::Result<()> {
        match self {
            Self::Open(mut file) => buffered(&mut file, report, format),
            Self::Replaced { mut new, place } => {
                buffered(&mut new, report, format)?;
                new.persist(place).map_err(|error| error.error)?;
                Ok(())
            }
        }
    }
}

fn buffered(file: &mut dyn Write, report: &Report, format: Format) -> io::Result<()> {
    let mut buffered = io::BufWriter::new(file);
    format(report, &mut buffered)?;
    buffered.flush()
}

/// Finds out whether each of them is a path of its own. A pipe or a device takes any number.
fn distinct<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Result<(), WriteError> {
    let mut places = Vec::new();
    for path in paths {
        if path == Path::new("-") {
            let why = "a file has to be named, for the standard output has the tables";
            return Err(failed(path)(refused(why)));
        }
        let metadata = fs::metadata(path);
        if metadata.is_ok_and(|there| !there.is_file() && !there.is_dir()) {
            continue;
        }
        let place = place(path);
        if places.contains(&place) {
            return Err(failed(path)(refused("it is named for two files")));
        }
        places.push(place);
    }
    Ok(())
}

/// Where a path leads, as far as that can be told of one to nothing.
fn place(path: &Path) -> PathBuf {
    let of_new = || {
        let folder = fs::canonicalize(folder(path)).ok()?;
        Some(folder.join(path.file_name()?))
    };
    let there = fs::canonicalize(path).ok();
    there.or_else(of_new).unwrap_or_else(|| path.to_owned())
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// A new file in the folder of `path`, which can take its place.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".perf-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: what the user's mask leaves of it.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let new = builder.tempfile_in(folder(path))?;
    let mut begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
    begun.push(new.path().to_owned());
    Ok(new)
}

/// New files that were begun.
static BEGUN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the new files that have not taken their places, for a process that ends at once.
pub(crate) fn remove_unfinished() {
    let begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
    for path in begun.iter() {
        // It fails for those that have taken their places: they are not there any more.
        let _ = fs::remove_file(path);
    }
}

/// Gives a new file the owner, where this process may, and the permissions of the one it replaces.
fn like(new: &NamedTempFile, old: &fs::Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        // Who may not give a file away keeps it.
        let _ = fchown(new.as_file(), Some(old.uid()), Some(old.gid()));
    }
    new.as_file().set_permissions(old.permissions())
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

fn failed(path: &Path) -> impl Fn(io::Error) -> WriteError {
    let path = path.to_owned();
    move |why| WriteError {
        path: path.clone(),
        why,
    }
}
