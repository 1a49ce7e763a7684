//! Where an engine's threads are: masks as main reads them, and what is said of a pin that fails.

use crate::scratch::Scratch;
use crate::watchdog::watched;
use mailring::task::{
    BuildError, CpuSet, Engine, EngineWarning, OnPinFailure, Placement, Shutdown, TaskHandle,
    Topology, mask,
};
use mailring::wait::{BusySpin, Parking, WaitStrategy};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

fn allowed() -> &'static CpuSet {
    Topology::of_process().allowed()
}

/// The masks of an engine's threads, as their tasks read them.
fn masks(engine: &Engine) -> Vec<CpuSet> {
    let threads = 0..engine.threads().len();
    let masks = threads.map(|thread| {
        let task = engine.task("task").on_thread(thread).spawn(|_| ()).unwrap();
        task.ask(|()| mask().unwrap()).unwrap().wait().unwrap()
    });
    masks.collect()
}

fn planned(engine: &Engine) -> Vec<CpuSet> {
    let infos = engine.threads().iter();
    infos.map(|info| info.cpus.clone()).collect()
}

#[test]
fn b34_an_engine_built_in_a_pinned_task_sees_what_the_process_was_started_with() {
    watched(|| {
        let before = mask().unwrap();
        let build = || {
            Engine::builder()
                .placement(Placement::Spread)
                .build()
                .unwrap()
        };
        let engine = build();
        assert_eq!(masks(&engine), planned(&engine));
        let task = engine.spawn("task", |_| ()).unwrap();

        // (a) A plain thread inherits the mask of the task's thread, as of any.
        let inherited = task.ask(|()| {
            let plain = thread::spawn(|| mask().unwrap());
            (mask().unwrap(), plain.join().unwrap())
        });
        let (own, inherited) = inherited.unwrap().wait().unwrap();
        assert_eq!(own, inherited);

        // (b) An engine does not, wherever it is built.
        let within = task.ask(move |()| {
            let engine = Engine::builder()
                .placement(Placement::Spread)
                .build()
                .unwrap();
            (masks(&engine), planned(&engine))
        });
        let (within, wanted) = within.unwrap().wait().unwrap();
        let after = build();
        assert_eq!(within, wanted);
        assert_eq!(within, planned(&engine));
        assert_eq!(masks(&after), planned(&engine));
        let unpinned = task.ask(move |()| {
            let unpinned = Engine::builder().placement(Placement::Unpinned).threads(1);
            masks(&unpinned.build().unwrap())
        });
        let unpinned = unpinned.unwrap().wait().unwrap();
        assert_eq!(&unpinned[0], allowed());
        assert_eq!(mask().unwrap(), before, "main's own");
    });
}

#[test]
fn b35_a_number_is_that_cpu() {
    watched(|| {
        for cpu in allowed() {
            let engine = Engine::builder().placement(Placement::Cpu(cpu));
            let engine = engine.build().unwrap();
            assert_eq!(masks(&engine), [CpuSet::from([cpu])]);
            let task = engine.task("task").on_cpu(cpu).spawn(|_| ()).unwrap();
            assert_eq!(task.thread(), 0);
            let other = engine.task("task").on_cpu(cpu + 1).spawn(|_| ());
            let text = other.map(drop).unwrap_err().to_string();
            let expected = format!(
                "no thread runs on CPU {} alone; all run on CPU {cpu}",
                cpu + 1
            );
            assert_eq!(text, expected);
        }
    });
}

/// A machine with a CPU that is not there.
const NOWHERE: usize = 900;

fn nowhere(policy: OnPinFailure) -> Result<Engine, BuildError> {
    let here = allowed().first().unwrap();
    Engine::builder()
        .topology(Topology::flat(CpuSet::from([here, NOWHERE])))
        .placement(Placement::Each(vec![here, NOWHERE]))
        .on_pin_failure(policy)
        .build()
}

#[test]
#[cfg(target_os = "linux")]
fn b36_a_thread_that_cannot_be_pinned_is_an_error_a_warning_or_ignored() {
    watched(|| {
        let error = nowhere(OnPinFailure::Error).unwrap_err();
        assert!(
            matches!(error, BuildError::Pin { thread: 1, .. }),
            "{error:?}"
        );
        let text = error.to_string();
        assert!(
            text.starts_with("thread 1: this thread is not pinned to CPU 900: "),
            "{text}"
        );

        let engine = nowhere(OnPinFailure::Warn).unwrap();
        let pins = engine.warnings().iter();
        let pins = pins.filter(|warning| matches!(warning, EngineWarning::Pin { .. }));
        let texts: Vec<_> = pins.map(ToString::to_string).collect();
        assert_eq!(texts, [text]);
        works(&engine);

        let engine = nowhere(OnPinFailure::Ignore).unwrap();
        let pins = engine.warnings().iter();
        let pins = pins.filter(|warning| matches!(warning, EngineWarning::Pin { .. }));
        assert_eq!(pins.count(), 0);
        works(&engine);
    });
}

/// The thread that is not where it was to be runs tasks like any.
fn works(engine: &Engine) {
    let task = engine.task("task").on_thread(1).spawn(|_| 1).unwrap();
    assert_eq!(task.ask(|one| *one).unwrap().wait(), Ok(1));
}

/// Five tasks, each on a thread of its own, pinned to two CPUs, with 1,000 letters each.
fn five(wait: impl WaitStrategy + 'static) {
    const LETTERS: u32 = 1_000;
    let two: Vec<usize> = allowed().iter().take(2).collect();
    let engine = Engine::builder()
        .placement(Placement::Each(two.clone()))
        .threads(5)
        .idle(wait)
        .build()
        .unwrap();
    let cpus = planned(&engine);
    let of_first = cpus.iter().filter(|cpus| cpus.contains(two[0])).count();
    assert_eq!(of_first, if two.len() == 2 { 3 } else { 5 });
    let warned: Vec<_> = engine.warnings().iter().map(ToString::to_string).collect();
    assert!(
        warned.iter().any(|warning| warning.contains('5')),
        "{warned:?}"
    );
    assert_eq!(masks(&engine), cpus);
    let tasks: Vec<_> = (0..5)
        .map(|thread| {
            engine
                .task("task")
                .on_thread(thread)
                .spawn(|_| 0_u32)
                .unwrap()
        })
        .collect();
    for _ in 0..LETTERS {
        for task in &tasks {
            task.post(|count| *count += 1).unwrap();
        }
    }
    for task in &tasks {
        assert_eq!(task.ask(|count| *count).unwrap().wait(), Ok(LETTERS));
    }
    engine
        .shutdown(Shutdown::drain_within(Duration::from_secs(100)))
        .unwrap();
}

#[test]
fn b38_five_pinned_threads_on_two_cpus_get_all_their_letters() {
    watched(|| {
        five(Parking::default());
        five(BusySpin);
    });
}

/// A machine of two nodes, of which the second has no CPU that is there.
fn two_nodes(root: &Path) -> Topology {
    let here = allowed().first().unwrap();
    let list = format!("{here},{NOWHERE}");
    let status = format!("Cpus_allowed_list:\t{list}\n");
    let files = [
        ("proc/self/status", status),
        ("sys/devices/system/cpu/online", list),
        ("sys/devices/system/node/online", "0-1".into()),
        ("sys/devices/system/node/node0/cpulist", here.to_string()),
        ("sys/devices/system/node/node1/cpulist", NOWHERE.to_string()),
    ];
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Topology::read_below(root)
}

#[test]
#[cfg(target_os = "linux")]
fn where_there_are_two_nodes_tasks_are_spawned_by_whom_and_when_one_likes() {
    watched(|| {
        let root = Scratch::new("two-nodes");
        let topology = two_nodes(root.folder());
        assert_eq!(topology.nodes().len(), 2);
        let engine = Engine::builder()
            .topology(topology)
            .placement(Placement::Each(vec![allowed().first().unwrap()]))
            .build()
            .unwrap();
        let is_there = |task: TaskHandle<&'static str>| {
            let there = task.ask(|state| *state).unwrap().wait();
            task.finish();
            assert_eq!(there, Ok("there"));
            assert!(task.join().unwrap().finished().is_ok());
        };
        // From a thread of its own, which waits for the task's.
        is_there(engine.spawn("awaited", |_| "there").unwrap());
        // From a task: that would wait for itself.
        let spawner = engine.spawn("spawner", |_| ()).unwrap();
        let handle = engine.handle();
        let spawned = spawner.ask(move |()| handle.spawn("neighbour", |_| "there"));
        is_there(spawned.unwrap().wait().unwrap().unwrap());
        // While the task's thread does something else.
        let (begun, begins) = std::sync::mpsc::channel();
        let (done, goes_on) = std::sync::mpsc::channel::<()>();
        let busy = move |(): &mut ()| {
            begun.send(()).unwrap();
            let _done = goes_on.recv();
        };
        spawner.post(busy).unwrap();
        begins.recv().unwrap();
        let late = engine.spawn("late", |_| "there").unwrap();
        drop(done);
        is_there(late);
        engine
            .shutdown(Shutdown::drain_within(Duration::from_secs(20)))
            .unwrap();
    });
}
