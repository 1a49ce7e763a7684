//! Mailboxes: two lanes and one place to sleep, markers, and the life cycle.

mod model;

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::sync::atomic::AtomicU32;
use mailring::letter::{Outcome, Priority};
use mailring::mailbox::{
    Builder, Mailbox, Marker, MarkerOptions, MarkerPost, PostError, Sender, TakeError, Taken,
};
use model::{Letter, assert_fails, check, join, preemptions, sleep_at_once, unbounded, with};
use std::sync::Arc;

const DEADLOCK: &str = "deadlock";
const UNSEEN: &str = "a run after the post sees its work";

/// The owner: what was run, in order.
type Log = Vec<u32>;
type Post = Sender<Log, Letter>;
type Box = Mailbox<Log, Letter>;

impl mailring::letter::Letter<Log> for Letter {
    fn run(self, log: &mut Log) -> Outcome {
        log.push(self.id());
        Ok(())
    }

    fn priority(&self) -> Priority {
        if self.id() == HIGH {
            Priority::MAX
        } else {
            Priority::MIN
        }
    }
}

/// The number of a letter that is not hidden by a priority.
const HIGH: u32 = 50;

/// A mailbox with one slot in each lane, a marker's slot in each besides, and an owner that sleeps
/// after the first empty look.
fn small() -> (Post, Box) {
    of(Builder::new(1).urgent_capacity(1))
}

fn of(builder: Builder) -> (Post, Box) {
    builder
        .markers(1)
        .urgent_markers(1)
        .batch_max(2)
        .sender_wait(sleep_at_once())
        .owner_wait(sleep_at_once())
        .build()
        .expect("a small mailbox")
}

/// Takes and runs one letter, sleeping where there is none.
fn run_one(mailbox: &mut Box, log: &mut Log) {
    let taken = mailbox.take().expect("it is open");
    mailbox.run(taken, log).expect("it does not fail");
}

/// Takes and runs until nothing can follow.
fn run_out(mailbox: &mut Box, log: &mut Log) {
    loop {
        match mailbox.take() {
            Ok(taken) => mailbox.run(taken, log).expect("it does not fail"),
            Err(error) => return assert_eq!(error, TakeError::Quiesced),
        }
    }
}

/// The numbers of undelivered letters; a marker's is [`MARKER`].
fn left(undelivered: impl Iterator<Item = Taken<Log, Letter>>) -> Vec<u32> {
    undelivered
        .map(|taken| match taken {
            Taken::Letter(letter) => letter.id(),
            Taken::Marker(_) => MARKER,
            other => unreachable!("{other:?}"),
        })
        .collect()
}

const MARKER: u32 = 100;

fn sorted(mut ids: Vec<u32>) -> Vec<u32> {
    ids.sort_unstable();
    ids
}

/// The lane of a marker.
#[derive(Clone, Copy, PartialEq)]
enum Lane {
    Ordinary,
    Urgent,
}

/// A marker that logs [`MARKER`] and what of `work` it sees, each in one decimal place.
fn marker(mailbox: &mut Box, lane: Lane, work: &Arc<[AtomicU32; 2]>) -> Marker<Log, Letter> {
    let options = match lane {
        Lane::Ordinary => MarkerOptions::new(),
        Lane::Urgent => MarkerOptions::new().urgent(),
    };
    let work = Arc::clone(work);
    let run = move |log: &mut Log| {
        let [first, second] = [0, 1].map(|place: usize| work[place].load(Relaxed));
        log.push(MARKER + 10 * second + first);
    };
    mailbox
        .marker_with("marker", options, run)
        .expect("one a lane")
}

fn no_work() -> Arc<[AtomicU32; 2]> {
    Arc::new([AtomicU32::new(0), AtomicU32::new(0)])
}

/// Does work of its own and posts the marker; the post alone is to carry the work, so Relaxed.
fn work_and_post(marker: &Marker<Log, Letter>, work: &[AtomicU32; 2], place: usize) -> MarkerPost {
    work[place].store(1, Relaxed);
    marker.post()
}

/// An urgent letter and an ordinary one while the owner goes to sleep: it gets both.
#[test]
fn m14_urgent_and_main_lane() {
    check(preemptions(2, 48_000), || {
        let (sender, mut mailbox) = small();
        let urgent = with(sender.clone(), |sender| {
            sender.try_post_urgent(Letter::new(1)).unwrap();
        });
        let ordinary = with(sender, |sender| sender.try_post(Letter::new(2)).unwrap());
        let mut log = Log::new();
        run_one(&mut mailbox, &mut log);
        run_one(&mut mailbox, &mut log);
        assert_eq!(sorted(log), [1, 2]);
        join([urgent, ordinary]);
    });
}

/// The urgent letter alone, in every interleaving.
#[test]
fn m14s_urgent_lane_alone() {
    check(unbounded(620), || {
        let (sender, mut mailbox) = small();
        let urgent = with(sender, |sender| {
            sender.try_post_urgent(Letter::new(1)).unwrap();
        });
        let mut log = Log::new();
        run_one(&mut mailbox, &mut log);
        assert_eq!(log, [1]);
        join([urgent]);
    });
}

/// Two urgent senders, one of whom waits for the room of the other: all are taken.
fn two_urgent_senders() {
    let (sender, mut mailbox) = small();
    let urgent = [1, 2].map(|id| {
        with(sender.clone(), move |sender| {
            sender.post_urgent(Letter::new(id)).unwrap();
        })
    });
    let mut log = Log::new();
    run_one(&mut mailbox, &mut log);
    run_one(&mut mailbox, &mut log);
    assert_eq!(sorted(log), [1, 2]);
    join(urgent);
}

#[test]
fn m14b_two_urgent_senders() {
    check(preemptions(1, 2_400), two_urgent_senders);
}

/// The same with one switch more.
#[test]
#[ignore = "takes minutes"]
fn long_m14b_two_urgent_senders() {
    check(preemptions(2, 60_000), two_urgent_senders);
}

/// One sender of both lanes: its letters of each lane come in order, whatever overtakes.
#[test]
fn m14o_order_of_each_lane() {
    check(preemptions(1, 5_000), || {
        let (sender, mut mailbox) = of(Builder::new(2).urgent_capacity(1));
        let posting = with(sender, |sender| {
            sender.try_post(Letter::new(1)).unwrap();
            sender.try_post_urgent(Letter::new(9)).unwrap();
            sender.try_post(Letter::new(2)).unwrap();
        });
        let mut log = Log::new();
        for _ in 0..3 {
            run_one(&mut mailbox, &mut log);
        }
        let ordinary: Vec<_> = log.iter().filter(|id| **id != 9).collect();
        assert_eq!(ordinary, [&1, &2]);
        join([posting]);
    });
}

/// Two letters, of which a priority hides the first, while the owner waits for the second.
fn behind_a_hidden_one(post: fn(&Post, Letter)) {
    let (sender, mut mailbox) = of(Builder::new(2).urgent_capacity(2));
    let posting = with(sender, move |sender| {
        post(sender, Letter::new(1));
        post(sender, Letter::new(HIGH));
    });
    let mut log = Log::new();
    let taken = mailbox.take_from(Priority::MAX).unwrap();
    mailbox.run(taken, &mut log).unwrap();
    run_one(&mut mailbox, &mut log);
    assert_eq!(log, [HIGH, 1]);
    join([posting]);
}

/// In the urgent lane.
#[test]
fn m14p_urgent_behind_a_hidden_one() {
    check(preemptions(3, 8_900), || {
        behind_a_hidden_one(|sender, letter| sender.try_post_urgent(letter).unwrap());
    });
}

/// In the main lane.
#[test]
fn m14p_ordinary_behind_a_hidden_one() {
    check(preemptions(3, 4_400), || {
        behind_a_hidden_one(|sender, letter| sender.try_post(letter).unwrap());
    });
}

fn marker_while_going_to_sleep(lane: Lane) {
    let (_sender, mut mailbox) = small();
    let work = no_work();
    let marker = marker(&mut mailbox, lane, &work);
    let posting = with(marker, move |marker| {
        assert_eq!(work_and_post(marker, &work, 0), MarkerPost::Posted);
    });
    let mut log = Log::new();
    run_one(&mut mailbox, &mut log);
    assert_eq!(log, [MARKER + 1], "{UNSEEN}");
    join([posting]);
}

/// A marker's post while the owner goes to sleep.
#[test]
fn m15s_marker_against_sleep() {
    check(unbounded(1_800), || {
        marker_while_going_to_sleep(Lane::Ordinary)
    });
}

/// The same for an urgent marker.
#[test]
fn m15s_urgent_marker_against_sleep() {
    check(unbounded(620), || marker_while_going_to_sleep(Lane::Urgent));
}

/// A pending marker is taken while two post it: each post is run for after it, by a run that sees
/// its work, and there is no run without a post.
fn marker_against_its_run(lane: Lane) {
    let (_sender, mut mailbox) = small();
    let work = no_work();
    let marker = marker(&mut mailbox, lane, &work);
    assert_eq!(marker.post(), MarkerPost::Posted);
    let posting = [0, 1].map(|place| {
        let work = Arc::clone(&work);
        with(marker.clone(), move |marker| {
            work_and_post(marker, &work, place)
        })
    });
    let mut log = Log::new();
    run_one(&mut mailbox, &mut log);
    let posted = join(posting);
    assert!(posted != [MarkerPost::Posted; 2], "the second run is later");
    if posted.contains(&MarkerPost::Posted) {
        run_one(&mut mailbox, &mut log);
    }
    assert_eq!(log.last(), Some(&(MARKER + 11)), "{UNSEEN}");
    assert_eq!(mailbox.try_take().unwrap_err(), TakeError::Empty);
    let counters = mailbox.marker_counters().next().unwrap();
    assert_eq!(counters.runs, log.len() as u64);
    assert_eq!(counters.runs + counters.coalesced, 3);
}

/// Two posters against a run, in the ordinary lane.
#[test]
fn m15_marker_against_its_run() {
    check(preemptions(5, 6_300), || {
        marker_against_its_run(Lane::Ordinary)
    });
}

/// The same in the urgent lane.
#[test]
fn m15_urgent_marker_against_its_run() {
    check(preemptions(5, 6_300), || {
        marker_against_its_run(Lane::Urgent)
    });
}

/// A marker that posts itself while it runs, at capacity 1, and a sender that fills what there is:
/// it always finds room, and is pending once.
#[test]
fn m15b_posts_itself_again() {
    check(preemptions(5, 5_400), || {
        let (sender, mut mailbox) = small();
        let itself: Arc<std::sync::OnceLock<Marker<Log, Letter>>> = Arc::default();
        let again = Arc::clone(&itself);
        let run = move |log: &mut Log| {
            log.push(MARKER);
            let again: &Marker<_, _> = again.get().unwrap();
            assert_eq!(again.post(), MarkerPost::Posted);
        };
        itself.set(mailbox.marker("again", run).unwrap()).unwrap();
        assert_eq!(itself.get().unwrap().post(), MarkerPost::Posted);
        let filling = with(sender, |sender| {
            [10, 11].map(|id| usize::from(sender.try_post(Letter::new(id)).is_ok()))
        });
        let mut log = Log::new();
        while log.iter().filter(|id| **id == MARKER).count() < 2 {
            run_one(&mut mailbox, &mut log);
        }
        let [accepted] = join([filling]);
        let rest = left(mailbox.close());
        let letters = log.iter().chain(&rest).filter(|id| **id != MARKER);
        assert_eq!(letters.count(), accepted.into_iter().sum());
        assert_eq!(rest.iter().filter(|id| **id == MARKER).count(), 1);
    });
}

/// An ordinary marker and an urgent one, posted while the owner goes to sleep.
fn two_markers() {
    let (_sender, mut mailbox) = small();
    let work = no_work();
    let markers = [Lane::Ordinary, Lane::Urgent].map(|lane| marker(&mut mailbox, lane, &work));
    let mut place = 0;
    let posting = markers.map(|marker| {
        let work = Arc::clone(&work);
        let of = place;
        place += 1;
        with(marker, move |marker| {
            assert_eq!(work_and_post(marker, &work, of), MarkerPost::Posted);
        })
    });
    let mut log = Log::new();
    run_one(&mut mailbox, &mut log);
    run_one(&mut mailbox, &mut log);
    assert!(log.iter().any(|seen| seen % 10 == 1), "{UNSEEN}");
    assert!(log.iter().any(|seen| seen / 10 % 10 == 1), "{UNSEEN}");
    join(posting);
}

#[test]
fn m15d_two_markers() {
    check(preemptions(1, 2_400), two_markers);
}

/// The same with one switch more.
#[test]
#[ignore = "takes minutes"]
fn long_m15d_two_markers() {
    check(preemptions(2, 60_000), two_markers);
}

/// Two posts of one marker against a close: one that was accepted is in what comes back.
fn marker_against_close(lane: Lane) {
    let (_sender, mut mailbox) = small();
    let marker = marker(&mut mailbox, lane, &no_work());
    let posting = [(); 2].map(|()| with(marker.clone(), |marker| marker.post()));
    let returned = left(mailbox.close());
    let posted = join(posting);
    assert!(posted != [MarkerPost::Posted; 2], "one is pending at most");
    let accepted = posted.iter().any(|post| *post != MarkerPost::Closed);
    assert!(
        !accepted || returned == [MARKER],
        "{posted:?}: {returned:?}"
    );
    assert!(returned.len() <= 1, "{returned:?}");
}

/// A coalesced marker against a close.
#[test]
fn m7b_marker_against_close() {
    check(preemptions(4, 11_000), || {
        marker_against_close(Lane::Ordinary)
    });
}

/// The same for an urgent one.
#[test]
fn m7b_urgent_marker_against_close() {
    check(preemptions(3, 7_400), || marker_against_close(Lane::Urgent));
}

/// Two posts of one marker against a quiesce: who was told that it is pending is run for.
#[test]
fn m7c_marker_against_quiesce() {
    check(preemptions(4, 27_000), || {
        let (_sender, mut mailbox) = small();
        let work = no_work();
        let marker = marker(&mut mailbox, Lane::Ordinary, &work);
        let posting = [0, 1].map(|place| {
            let work = Arc::clone(&work);
            with(marker.clone(), move |marker| {
                work_and_post(marker, &work, place)
            })
        });
        mailbox.quiesce();
        let mut log = Log::new();
        run_out(&mut mailbox, &mut log);
        let posted = join(posting);
        let accepted = posted.map(|post| post != MarkerPost::Closed);
        assert!(log.len() <= 1, "{log:?}");
        let seen = log.first().copied().unwrap_or(MARKER) - MARKER;
        assert!(!accepted[0] || seen % 10 == 1, "{posted:?}: {UNSEEN}");
        assert!(!accepted[1] || seen / 10 == 1, "{posted:?}: {UNSEEN}");
    });
}

/// A post in each lane; who was refused has its letter back.
fn post_in_both(sender: Post) -> [loom::thread::JoinHandle<(Post, Option<u32>)>; 2] {
    let accepted = |posted: Result<(), PostError<Letter>>, id| match posted {
        Ok(()) => Some(id),
        Err(PostError::Closed(letter)) => {
            assert_eq!(letter.id(), id);
            None
        }
        Err(other) => unreachable!("{other:?}"),
    };
    [
        with(sender.clone(), move |sender| {
            accepted(sender.try_post(Letter::new(1)), 1)
        }),
        with(sender, move |sender| {
            accepted(sender.try_post_urgent(Letter::new(2)), 2)
        }),
    ]
}

/// A close against a post in each lane: what was accepted comes back once, and nothing else.
#[test]
fn m7_close_against_posts_in_both_lanes() {
    check(preemptions(3, 3_000), || {
        let (sender, mut mailbox) = small();
        let posting = post_in_both(sender);
        let returned = left(mailbox.close());
        let accepted: Vec<_> = join(posting).into_iter().flatten().collect();
        assert_eq!(sorted(returned), accepted);
        assert!(mailbox.close().is_empty());
        assert_eq!(mailbox.try_take().unwrap_err(), TakeError::Closed);
    });
}

/// A quiesce against a post in each lane: what was accepted is taken once before the end, and
/// nothing after it.
#[test]
fn m7q_quiesce_against_posts_in_both_lanes() {
    check(preemptions(2, 2_600), || {
        let (sender, mut mailbox) = small();
        let posting = post_in_both(sender);
        mailbox.quiesce();
        let mut log = Log::new();
        run_out(&mut mailbox, &mut log);
        let accepted: Vec<_> = join(posting).into_iter().flatten().collect();
        assert_eq!(sorted(log), accepted);
        assert_eq!(mailbox.take().unwrap_err(), TakeError::Quiesced);
    });
}

/// The last sender posts in each lane and goes, while the owner goes to sleep: both are taken, and
/// then the end is found. The rings are closed one after the other.
fn last_sender_goes() {
    let (sender, mut mailbox) = small();
    let posting = loom::thread::spawn(move || {
        sender.try_post(Letter::new(1)).unwrap();
        sender.try_post_urgent(Letter::new(2)).unwrap();
    });
    let mut log = Log::new();
    run_out(&mut mailbox, &mut log);
    assert_eq!(sorted(log), [1, 2]);
    posting.join().unwrap();
}

#[test]
fn m12_last_sender_goes() {
    check(preemptions(1, 21_000), last_sender_goes);
}

/// The same with one switch more.
#[test]
#[ignore = "takes minutes"]
fn long_m12_last_sender_goes() {
    check(preemptions(2, 100_000), last_sender_goes);
}

/// It goes without a letter: the sleeper finds the end.
#[test]
fn m12s_last_sender_goes_from_a_sleeper() {
    check(preemptions(3, 740), || {
        let (sender, mut mailbox) = small();
        let going = loom::thread::spawn(move || drop(sender));
        assert_eq!(mailbox.take().unwrap_err(), TakeError::Quiesced);
        going.join().unwrap();
    });
}

/// Between its two ends an urgent marker is posted: it is run for, or refused.
#[test]
fn m12u_urgent_marker_between_the_two_ends() {
    check(preemptions(1, 1_800), || {
        let (sender, mut mailbox) = small();
        let work = no_work();
        let marker = marker(&mut mailbox, Lane::Urgent, &work);
        let posting = with(marker, move |marker| work_and_post(marker, &work, 0));
        let going = loom::thread::spawn(move || drop(sender));
        let mut log = Log::new();
        run_out(&mut mailbox, &mut log);
        let [posted] = join([posting]);
        let expected = if posted == MarkerPost::Posted {
            vec![MARKER + 1]
        } else {
            vec![]
        };
        assert_eq!(log, expected, "{UNSEEN}");
        going.join().unwrap();
    });
}

/// A weak sender becomes one while the last goes: what it posts then is taken.
#[test]
fn m12w_upgrade_against_the_last_sender() {
    check(preemptions(1, 24_000), || {
        let (sender, mut mailbox) = small();
        let weak = sender.downgrade();
        let upgrading = loom::thread::spawn(move || {
            let sender = weak.upgrade()?;
            sender.try_post(Letter::new(1)).unwrap();
            sender.try_post_urgent(Letter::new(2)).unwrap();
            Some(())
        });
        let going = loom::thread::spawn(move || drop(sender));
        let mut log = Log::new();
        run_out(&mut mailbox, &mut log);
        let upgraded = upgrading.join().unwrap();
        going.join().unwrap();
        assert_eq!(
            sorted(log),
            if upgraded.is_some() { &[1, 2][..] } else { &[] }
        );
    });
}

/// A sender in each lane waits for room, and the mailbox is closed: both get their letters back, and
/// those that were there are returned.
#[test]
fn m9_close_against_waiters_in_both_lanes() {
    check(preemptions(2, 3_400), || {
        let (sender, mut mailbox) = small();
        sender.try_post(Letter::new(1)).unwrap();
        sender.try_post_urgent(Letter::new(2)).unwrap();
        let ordinary = with(sender.clone(), |sender| {
            let refused = sender.post(Letter::new(3)).unwrap_err();
            assert!(refused.is_closed());
            assert_eq!(refused.into_inner().id(), 3);
        });
        let urgent = with(sender, |sender| {
            let refused = sender.post_urgent(Letter::new(4)).unwrap_err();
            assert!(refused.is_closed());
            assert_eq!(refused.into_inner().id(), 4);
        });
        assert_eq!(left(mailbox.close()), [2, 1]);
        join([ordinary, urgent]);
    });
}

/// The mailbox is dropped with letters in flight in both lanes, one of which owns a sender: each is
/// dropped once, or handed back.
#[test]
fn m10_drop_with_letters_in_flight() {
    check(preemptions(4, 12_000), || {
        let (sender, mailbox) = small();
        let posting = post_in_both(sender);
        drop(mailbox);
        join(posting);
    });
}

#[test]
fn row_wake_left_out_of_an_urgent_post() {
    assert_fails("m14s_urgent_lane_alone", "wake", Relaxed, DEADLOCK);
    assert_fails(
        "m15s_urgent_marker_against_sleep",
        "wake",
        Relaxed,
        DEADLOCK,
    );
}

#[test]
fn row_g_n_urgent_letters_are_not_slept_through() {
    assert_fails("m14s_urgent_lane_alone", "g", Release, DEADLOCK);
    assert_fails("m14s_urgent_lane_alone", "n", Acquire, DEADLOCK);
}

#[test]
fn row_c2_c3_the_flag_carries_urgent_letters() {
    for model in ["m14s_urgent_lane_alone", "m15s_urgent_marker_against_sleep"] {
        assert_fails(model, "c2", Relaxed, DEADLOCK);
        assert_fails(model, "c3", Relaxed, DEADLOCK);
    }
}

#[test]
fn row_m2_the_close_is_told_to_later_posts() {
    assert_fails("m7c_marker_against_quiesce", "m2", Relaxed, UNSEEN);
}

#[test]
fn row_m_m1_a_run_sees_what_posters_wrote() {
    for model in [
        "m15_marker_against_its_run",
        "m15_urgent_marker_against_its_run",
    ] {
        assert_fails(model, "m", Acquire, UNSEEN);
        assert_fails(model, "m1", Release, UNSEEN);
    }
}
