//! The files a run writes: opened before it, so that nothing is measured in vain, and put in place
//! when they are whole, so that an earlier result is not lost to a run that fails.

use crate::cli::Files;
use crate::report::{Report, csv, hdr_log, hgrm, html, json};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
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
    files: Vec<(NamedTempFile, PathBuf, Format)>,
    hgrm: Option<PathBuf>,
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
        let mut files = Vec::new();
        for (path, format) in formats {
            if let Some(path) = path {
                let file = beside(path).map_err(failed(path))?;
                files.push((file, path.clone(), format));
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

    /// Writes them, and returns what was written.
    pub(crate) fn write(self, report: &Report) -> Result<Vec<PathBuf>, WriteError> {
        let mut written = Vec::new();
        for (mut file, path, format) in self.files {
            let mut buffered = io::BufWriter::new(&mut file);
            let done = format(report, &mut buffered).and_then(|()| buffered.flush());
            drop(buffered);
            done.map_err(failed(&path))?;
            file.persist(&path)
                .map_err(|error| failed(&path)(error.error))?;
            written.push(path);
        }
        if let Some(folder) = self.hgrm {
            hgrm::write_all(&folder, report).map_err(failed(&folder))?;
            written.push(folder);
        }
        Ok(written)
    }
}

/// A new file in the folder of `path`, which can take its place.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    if path.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::IsADirectory,
            "it is a folder",
        ));
    }
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".perf-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: what the user's mask leaves of it.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

fn failed(path: &Path) -> impl Fn(io::Error) -> WriteError {
    let path = path.to_owned();
    move |why| WriteError {
        path: path.clone(),
        why,
    }
}
