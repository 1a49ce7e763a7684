//! Machines made of files.

use mailring::task::{CpuSet, Topology};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that stands for the root of a system; gone with the value.
pub(crate) struct Tree(PathBuf);

impl Tree {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("placement-{}-{number}", std::process::id());
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&root).unwrap();
        Self(root)
    }

    /// With the CPUs `list` online and in the process's mask.
    pub(crate) fn of(list: &str) -> Self {
        Self::new().online(list).mask(list)
    }

    /// Two nodes with two caches each, under each two cores of two CPUs: 0 and 8, 1 and 9, …
    pub(crate) fn server() -> Self {
        let mut tree = Self::of("0-15");
        for cpu in 0..16 {
            let core = cpu % 8;
            let low = core / 2 * 2;
            let (node, cores) = (core / 4, format!("{core},{}", core + 8));
            let cache = format!("{low}-{},{}-{}", low + 1, low + 8, low + 9);
            tree = tree.cpu(cpu, &cores, &cache);
            let first = node * 4;
            let cpus = format!("{first}-{},{}-{}", first + 3, first + 8, first + 11);
            tree = tree.file(
                &format!("sys/devices/system/node/node{node}/cpulist"),
                format!("{cpus}\n"),
            );
        }
        tree.file("sys/devices/system/node/online", "0-1\n")
    }

    pub(crate) fn file(self, path: &str, bytes: impl AsRef<[u8]>) -> Self {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    pub(crate) fn folder(self, path: &str) -> Self {
        fs::create_dir_all(self.0.join(path)).unwrap();
        self
    }

    pub(crate) fn online(self, list: &str) -> Self {
        self.file("sys/devices/system/cpu/online", format!("{list}\n"))
    }

    pub(crate) fn isolated(self, list: &str) -> Self {
        self.file("sys/devices/system/cpu/isolated", format!("{list}\n"))
    }

    pub(crate) fn mask(self, list: &str) -> Self {
        let status = format!("Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t{list}\nX:\t1\n");
        self.file("proc/self/status", status)
    }

    /// CPU `cpu` with the CPUs of its core, and those under its last-level cache.
    pub(crate) fn cpu(self, cpu: usize, core: &str, cache: &str) -> Self {
        let folder = format!("sys/devices/system/cpu/cpu{cpu}");
        let mut tree = self.file(&format!("{folder}/topology/core_cpus_list"), core);
        for (index, level, shared) in [(0, 1, core), (1, 1, core), (2, 3, cache), (3, 2, core)] {
            let folder = format!("{folder}/cache/index{index}");
            tree = tree.file(&format!("{folder}/level"), format!("{level}\n"));
            tree = tree.file(&format!("{folder}/shared_cpu_list"), format!("{shared}\n"));
        }
        tree
    }

    pub(crate) fn topology(&self) -> Topology {
        Topology::read_below(&self.0)
    }

    /// The files that were noted, relative, and why.
    pub(crate) fn noted(&self, topology: &Topology) -> Vec<(String, String)> {
        let unread = topology.unread().iter();
        let noted = unread.map(|unread| {
            let path = unread.path.strip_prefix(&self.0).expect("below the root");
            let text = unread.to_string();
            let (_, why) = text.split_once(": ").expect("a path and a reason");
            (path.to_string_lossy().into_owned(), why.to_owned())
        });
        noted.collect()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // A folder left over is in nobody's way.
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn cpus(list: &str) -> CpuSet {
    list.parse().unwrap()
}
