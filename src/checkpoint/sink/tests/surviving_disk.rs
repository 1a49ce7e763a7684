//! A disk that fails when it is told to, and that knows what of it would survive a loss of power.
//!
//! What the sink sees is a folder of the system's. Beside it a model keeps, for each folder, the
//! changes of names that were not synced, and for each file the bytes that were. When power is lost,
//! each such change is on the disk or not, by itself, and each file is cut off somewhere behind what
//! was synced of it.

use crate::checkpoint::sink::disk::{Disk, LocalDisk};
use crate::sync::Mutex;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// What is done to a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    CreateNew,
    Append,
    Sync,
    SyncFolder,
    HardLink,
    Remove,
}

#[derive(Clone, Copy, Debug)]
enum Name {
    Folder,
    File(usize),
}

#[derive(Clone, Debug)]
struct Change {
    name: PathBuf,
    /// `None`: the name goes.
    to: Option<Name>,
}

#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    synced: usize,
}

#[derive(Debug, Default)]
struct Model {
    files: Vec<Content>,
    /// As they are.
    names: BTreeMap<PathBuf, Name>,
    /// As they survive for sure.
    synced: BTreeMap<PathBuf, Name>,
    /// By folder.
    unsynced: BTreeMap<PathBuf, Vec<Change>>,
    /// How many acts are left before the process dies.
    acts_left: Option<u64>,
    /// What fails, once.
    failing: Option<(Act, io::ErrorKind)>,
}

#[derive(Debug)]
pub(super) struct SurvivingDisk {
    root: PathBuf,
    model: Mutex<Model>,
}

impl SurvivingDisk {
    /// An empty one, for the test called `name`.
    pub(super) fn new(name: &str) -> Self {
        let name = format!("mailring-file-sink-{}-{name}", std::process::id());
        let root = std::env::temp_dir().join(name);
        fs::create_dir(&root).unwrap();
        Self {
            root,
            model: Mutex::default(),
        }
    }

    /// Where the sink writes into.
    pub(super) fn folder(&self) -> PathBuf {
        self.root.join("out")
    }

    /// The process dies after so many acts; `None`: it does not.
    pub(super) fn die_after(&self, acts: Option<u64>) {
        self.model.lock().acts_left = acts;
    }

    pub(super) fn is_dead(&self) -> bool {
        self.model.lock().acts_left == Some(0)
    }

    /// The next act of this kind fails.
    pub(super) fn fail_next(&self, act: Act, kind: io::ErrorKind) {
        self.model.lock().failing = Some((act, kind));
    }

    fn begin(&self, act: Act) -> io::Result<()> {
        let mut model = self.model.lock();
        match &mut model.acts_left {
            Some(0) => return Err(io::Error::other("the process is dead")),
            Some(left) => *left -= 1,
            None => {}
        }
        match model.failing {
            Some((failing, kind)) if failing == act => {
                model.failing = None;
                Err(kind.into())
            }
            _ => Ok(()),
        }
    }

    fn change(&self, name: &Path, to: Option<Name>) {
        let mut model = self.model.lock();
        match to {
            Some(to) => model.names.insert(name.to_owned(), to),
            None => model.names.remove(name),
        };
        let folder = name.parent().unwrap().to_owned();
        let change = Change {
            name: name.to_owned(),
            to,
        };
        model.unsynced.entry(folder).or_default().push(change);
    }

    fn content_of(&self, path: &Path, act: impl FnOnce(&mut Content)) {
        let mut model = self.model.lock();
        let Some(Name::File(file)) = model.names.get(path).copied() else {
            panic!("{} is no file", path.display());
        };
        act(&mut model.files[file]);
    }

    /// Power is lost, and `is_kept` says of each change whether it was on the disk by then.
    pub(super) fn lose_power(&self, mut is_kept: impl FnMut() -> bool) {
        let mut model = self.model.lock();
        for changes in core::mem::take(&mut model.unsynced).into_values() {
            for change in changes {
                if is_kept() {
                    apply(&mut model.synced, change);
                }
            }
        }
        for content in &mut model.files {
            if !is_kept() {
                content.bytes.truncate(content.synced);
            } else if content.bytes.len() > content.synced {
                let half = content.synced.midpoint(content.bytes.len());
                content.bytes.truncate(half);
            }
            content.synced = content.bytes.len();
        }
        // What is in a folder that is gone is gone.
        let folders = model.synced.clone();
        let root = &self.root;
        model.synced.retain(|name, _| {
            let mut within = name.ancestors().skip(1);
            within.all(|folder| {
                !folder.starts_with(root) || folder == root || folders.contains_key(folder)
            })
        });
        model.names = model.synced.clone();
        fs::remove_dir_all(&self.root).unwrap();
        fs::create_dir(&self.root).unwrap();
        let mut first: BTreeMap<usize, &Path> = BTreeMap::new();
        for (path, name) in &model.names {
            match name {
                Name::Folder => fs::create_dir(path).unwrap(),
                Name::File(file) => match first.get(file) {
                    Some(first) => fs::hard_link(first, path).unwrap(),
                    None => {
                        fs::write(path, &model.files[*file].bytes).unwrap();
                        first.insert(*file, path);
                    }
                },
            }
        }
    }
}

fn apply(names: &mut BTreeMap<PathBuf, Name>, change: Change) {
    match change.to {
        Some(to) => names.insert(change.name, to),
        None => names.remove(&change.name),
    };
}

impl Disk for SurvivingDisk {
    fn create_new(&self, path: &Path) -> io::Result<File> {
        self.begin(Act::CreateNew)?;
        let made = LocalDisk.create_new(path)?;
        let file = {
            let files = &mut self.model.lock().files;
            files.push(Content::default());
            files.len() - 1
        };
        self.change(path, Some(Name::File(file)));
        Ok(made)
    }

    fn append(&self, path: &Path, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        let begun = self.begin(Act::Append);
        // One that fails has written a part.
        let written = if begun.is_ok() {
            bytes
        } else {
            &bytes[..bytes.len() / 2]
        };
        LocalDisk.append(path, file, written)?;
        self.content_of(path, |content| content.bytes.extend_from_slice(written));
        begun
    }

    fn sync(&self, path: &Path, _file: &File) -> io::Result<()> {
        self.begin(Act::Sync)?;
        self.content_of(path, |content| content.synced = content.bytes.len());
        Ok(())
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.begin(Act::SyncFolder)?;
        let mut model = self.model.lock();
        for change in model.unsynced.remove(path).into_iter().flatten() {
            apply(&mut model.synced, change);
        }
        Ok(())
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.begin(Act::HardLink)?;
        LocalDisk.hard_link(from, to)?;
        let file = self.model.lock().names[from];
        self.change(to, Some(file));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.begin(Act::Remove)?;
        LocalDisk.remove(path)?;
        self.change(path, None);
        Ok(())
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.begin(Act::CreateNew)?;
        LocalDisk.create_folder(path)?;
        self.change(path, Some(Name::Folder));
        Ok(())
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.begin(Act::Remove)?;
        LocalDisk.remove_folder(path)?;
        self.change(path, None);
        Ok(())
    }
}

impl Drop for SurvivingDisk {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.root);
    }
}
