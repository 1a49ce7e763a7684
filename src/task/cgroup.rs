//! What this process's control groups grant: CPU time and CPUs, of both versions.
//!
//! A group's limit holds for all groups below it, so every one from the process's own up to the
//! root of the mount is asked. In a container that path may lie outside of what is mounted; then
//! the mount itself is the process's group.

use super::cpu_set::CpuSet;
use super::files::Files;
use std::path::{Component, Path, PathBuf};

/// How many levels of groups are looked at, from the mount's own down.
const LEVELS_MAX: usize = 64;

/// The period where none is told.
const PERIOD_US: u64 = 100_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    V1,
    V2,
}

/// The CPU time granted, in CPUs: the least of all groups that limit it.
pub(super) fn quota(files: &mut Files<'_>, cgroups: &Cgroups) -> Option<f64> {
    let mut least: Option<f64> = None;
    for (version, folder) in cgroups.folders(Controller::Cpu) {
        let quota = match version {
            Version::V1 => quota_v1(files, &folder),
            Version::V2 => quota_v2(files, &folder),
        };
        least = match (least, quota) {
            (Some(least), Some(quota)) => Some(least.min(quota)),
            (least, quota) => least.or(quota),
        };
    }
    least
}

/// `max 100000`, `50000 100000`.
fn quota_v2(files: &mut Files<'_>, folder: &str) -> Option<f64> {
    let path = format!("{folder}/cpu.max");
    let text = files.optional(&path)?;
    let mut words = text.split_whitespace();
    let quota = words.next();
    let period = words.next().map_or(Some(PERIOD_US), |us| us.parse().ok());
    if quota == Some("max") {
        return None;
    }
    let quota = quota.and_then(|us| us.parse().ok());
    cpus(files, &path, quota, period)
}

/// A quota of -1 is none.
fn quota_v1(files: &mut Files<'_>, folder: &str) -> Option<f64> {
    let path = format!("{folder}/cpu.cfs_quota_us");
    let text = files.optional(&path)?;
    let quota: Option<i64> = text.trim().parse().ok();
    if quota.is_some_and(|us| us < 0) {
        return None;
    }
    let quota = quota.and_then(|us| us.try_into().ok());
    if quota.is_none_or(|us| us == 0) {
        return cpus(files, &path, quota, Some(PERIOD_US));
    }
    let path = format!("{folder}/cpu.cfs_period_us");
    let period = files.required(&path)?.trim().parse().ok();
    cpus(files, &path, quota, period)
}

/// `quota` in CPUs; both must be numbers above zero, else `path` is noted.
fn cpus(files: &mut Files<'_>, path: &str, quota: Option<u64>, period: Option<u64>) -> Option<f64> {
    match (quota, period) {
        (Some(1..), Some(1..)) => Some(quota? as f64 / period? as f64),
        _ => {
            files.odd(path, "is no CPU quota and period above zero");
            None
        }
    }
}

/// The CPUs that the nearest group with a say restricts this process to.
pub(super) fn cpuset(files: &mut Files<'_>, cgroups: &Cgroups) -> Option<CpuSet> {
    for (version, folder) in cgroups.folders(Controller::Cpuset) {
        let names: &[&str] = match version {
            Version::V1 => &["cpuset.effective_cpus", "cpuset.cpus"],
            Version::V2 => &["cpuset.cpus.effective"],
        };
        for name in names {
            let cpus = files.optional_list(&format!("{folder}/{name}"));
            if let Some(cpus) = cpus.filter(|cpus| !cpus.is_empty()) {
                return Some(cpus);
            }
        }
    }
    None
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Controller {
    Cpu,
    Cpuset,
}

impl Controller {
    fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cpuset => "cpuset",
        }
    }
}

/// In which groups this process is, and where groups are mounted.
#[derive(Debug)]
pub(super) struct Cgroups {
    groups: Vec<Group>,
    mounts: Vec<Mount>,
}

/// One hierarchy that the process is in.
#[derive(Debug)]
struct Group {
    version: Version,
    controllers: Vec<String>,
    path: PathBuf,
}

/// One hierarchy that is mounted, or a part of it.
#[derive(Debug)]
struct Mount {
    version: Version,
    controllers: Vec<String>,
    /// The group that is mounted.
    root: PathBuf,
    /// Where, without a `/` at its start.
    at: String,
}

impl Cgroups {
    pub(super) fn read(files: &mut Files<'_>) -> Self {
        let groups = files.optional("proc/self/cgroup").unwrap_or_default();
        let mounts = files.optional("proc/self/mountinfo");
        let mounts = mounts.iter().flat_map(|text| text.lines());
        let mut mounts: Vec<_> = mounts.filter_map(Mount::parse).collect();
        if mounts.is_empty() {
            mounts = Mount::usual().into();
        }
        Self {
            groups: groups.lines().filter_map(Group::parse).collect(),
            mounts,
        }
    }

    /// The folders that may hold files of `controller`, the process's own before those above it.
    fn folders(&self, controller: Controller) -> Vec<(Version, String)> {
        let has = |version, controllers: &[String]| {
            version == Version::V2 || controllers.iter().any(|name| name == controller.name())
        };
        let mut folders = Vec::new();
        for version in [Version::V1, Version::V2] {
            let fits =
                |mount: &&Mount| mount.version == version && has(version, &mount.controllers);
            let group = self.groups.iter();
            let group = group
                .filter(|group| group.version == version)
                .find(|group| has(version, &group.controllers));
            let path = group.map_or(Path::new("/"), |group| &group.path);
            // The mount that the group lies in, for there may be more than one.
            let mut mounts = self.mounts.iter().filter(fits);
            let first = mounts.clone().next();
            let Some(mount) = mounts.find(|mount| path.starts_with(&mount.root)).or(first) else {
                continue;
            };
            let chain = mount.chain(path).into_iter();
            folders.extend(chain.map(|folder| (version, folder)));
        }
        folders
    }
}

impl Group {
    /// `4:cpu,cpuacct:/path`, `0::/path`.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.splitn(3, ':');
        let (id, controllers) = (fields.next()?, fields.next()?);
        let version = match (id, controllers) {
            ("0", "") => Version::V2,
            _ => Version::V1,
        };
        Some(Self {
            version,
            controllers: controllers.split(',').map(str::to_owned).collect(),
            path: PathBuf::from(fields.next()?),
        })
    }
}

impl Mount {
    /// `31 23 0:28 /root /at rw - cgroup cgroup rw,cpu`, with any number of fields before the `-`.
    fn parse(line: &str) -> Option<Self> {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, at) = (unescaped(place.next()?), unescaped(place.next()?));
        let mut kind = kind.split(' ');
        let version = match kind.next()? {
            "cgroup" => Version::V1,
            "cgroup2" => Version::V2,
            _ => return None,
        };
        let controllers = kind.nth(1).unwrap_or_default();
        Some(Self {
            version,
            controllers: controllers.split(',').map(str::to_owned).collect(),
            root: PathBuf::from(root),
            at: at.trim_start_matches('/').to_owned(),
        })
    }

    /// Where groups are mounted as a rule.
    fn usual() -> [Self; 3] {
        let mount = |version, controllers: &[&str], at: &str| Self {
            version,
            controllers: controllers.iter().copied().map(str::to_owned).collect(),
            root: PathBuf::from("/"),
            at: at.to_owned(),
        };
        [
            mount(Version::V2, &[], "sys/fs/cgroup"),
            mount(Version::V1, &["cpu"], "sys/fs/cgroup/cpu"),
            mount(Version::V1, &["cpuset"], "sys/fs/cgroup/cpuset"),
        ]
    }

    /// The folder of the group `path`, then those above it up to the mount's own.
    fn chain(&self, path: &Path) -> Vec<String> {
        let below = path.strip_prefix(&self.root).unwrap_or(Path::new(""));
        let mut folders = vec![self.at.clone()];
        for part in below.components().take(LEVELS_MAX) {
            let Component::Normal(name) = part else {
                // The group lies outside of what this process can see.
                folders.truncate(1);
                break;
            };
            let above = folders.last().unwrap_or(&self.at);
            folders.push(format!("{above}/{}", name.to_string_lossy()));
        }
        folders.reverse();
        folders
    }
}

/// A field of the list of mounts, in which spaces and the like are written as `\040`.
fn unescaped(field: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = field.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        let octal = behind.get(..3).filter(|_| byte == b'\\');
        let octal = octal.and_then(|digits| core::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(escaped) => {
                bytes.push(escaped);
                rest = &behind[3..];
            }
            None => {
                bytes.push(byte);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
