//! "Tell me when there is room": an owner goes on when another's mailbox has room, and nobody waits.

use crate::watchdog::{Dice, watched};
use crate::{Log, logging, say};
use mailring::mailbox::{self, PostError};
use mailring::processor::{Ended, Executor, MailboxProcessor, OnFailure, Step};
use mailring::ring::Budget;
use std::sync::mpsc::channel;
use std::thread;

/// A processor with room for `capacity` letters.
fn narrow<O: 'static>(owner: O, capacity: usize) -> (MailboxProcessor<O>, Executor<O>) {
    let mailbox = mailbox::Builder::new(capacity);
    let processor = MailboxProcessor::builder().mailbox(mailbox).build(owner);
    let processor = processor.unwrap();
    let executor = processor.executor();
    (processor, executor)
}

/// Steps until there is nothing to do.
fn settle<O: 'static>(processor: &mut MailboxProcessor<O>) {
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
}

fn log(processor: &mut MailboxProcessor<Log>) -> Log {
    processor.with_owner(core::mem::take)
}

/// A full mailbox of one letter, fresh from its maker.
fn full() -> (MailboxProcessor<Log>, Executor<Log>) {
    let (sink, to_sink) = narrow(Log::new(), 1);
    to_sink.try_execute(say("there before")).unwrap();
    (sink, to_sink)
}

#[test]
fn where_there_is_room_it_is_told_at_once_and_as_a_letter() {
    let (_sink, to_sink) = narrow(Log::new(), 1);
    let (mut source, to_source) = logging();
    let again = to_source.clone();
    to_source
        .execute(move |log: &mut Log| {
            to_sink.when_room(&again, say("told"));
            log.push("asked");
        })
        .unwrap();
    settle(&mut source);
    assert_eq!(log(&mut source), ["asked", "told"]);
}

#[test]
fn those_who_ask_are_told_in_turn_and_the_next_when_the_first_has_gone_on() {
    let (mut sink, to_sink) = full();
    let (mut first, to_first) = logging();
    let (mut second, to_second) = logging();
    for (asker, word) in [(&to_first, "by the first"), (&to_second, "by the second")] {
        let again = to_sink.clone();
        to_sink.when_room(asker, move |log: &mut Log| {
            log.push("told");
            again.try_execute(say(word)).unwrap();
        });
    }
    settle(&mut first);
    settle(&mut second);
    assert!(log(&mut first).is_empty() && log(&mut second).is_empty());
    settle(&mut sink);
    settle(&mut second);
    assert!(log(&mut second).is_empty(), "the room is the first one's");
    settle(&mut first);
    settle(&mut second);
    assert_eq!(log(&mut first), ["told"]);
    assert!(log(&mut second).is_empty(), "the first has used the room");
    settle(&mut sink);
    settle(&mut second);
    assert_eq!(log(&mut second), ["told"]);
    settle(&mut sink);
    let said = ["there before", "by the first", "by the second"];
    assert_eq!(log(&mut sink), said);
}

/// Room that is not used goes to the next one.
#[test]
fn who_is_told_and_posts_nothing_lets_the_next_one_in() {
    let (mut sink, to_sink) = full();
    let (mut first, to_first) = logging();
    let (mut second, to_second) = logging();
    to_sink.when_room(&to_first, say("told"));
    to_sink.when_room(&to_second, say("told"));
    settle(&mut sink);
    settle(&mut second);
    assert!(log(&mut second).is_empty());
    settle(&mut first);
    settle(&mut second);
    assert_eq!(log(&mut second), ["told"]);
}

/// Whoever makes room does not wait for the asker, whose mailbox is full, and the letter comes.
#[test]
fn it_fits_into_a_full_mailbox() {
    let (mut sink, to_sink) = full();
    let (mut source, to_source) = full();
    to_sink.when_room(&to_source, say("told"));
    let sink = watched(move || {
        settle(&mut sink);
        sink
    });
    settle(&mut source);
    let told = log(&mut source);
    assert_eq!(told.len(), 2);
    assert!(told.contains(&"told"), "{told:?}");
    drop(sink);
}

#[test]
fn an_owner_may_ask_itself() {
    let (mut sink, to_sink) = full();
    let (asker, again) = (to_sink.clone(), to_sink.clone());
    to_sink.when_room(&asker, move |log: &mut Log| {
        log.push("told");
        again.try_execute(say("posted")).unwrap();
    });
    settle(&mut sink);
    assert_eq!(log(&mut sink), ["there before", "told", "posted"]);
}

/// Closed, quiesced or dropped, it is told, once, and learns it by its post.
#[test]
fn the_end_of_the_mailbox_is_told_too() {
    let ends: [fn(MailboxProcessor<Log>); 3] = [
        drop,
        |mut sink| assert_eq!(sink.close().len(), 1),
        |mut sink| sink.quiesce(),
    ];
    for end in ends {
        let (sink, to_sink) = full();
        let (mut source, to_source) = logging();
        let again = to_sink.clone();
        to_sink.when_room(&to_source, move |log: &mut Log| {
            let error = again.try_execute(say("never")).unwrap_err();
            assert!(error.is_closed());
            log.push("told");
        });
        settle(&mut source);
        assert!(log(&mut source).is_empty());
        end(sink);
        settle(&mut source);
        assert_eq!(log(&mut source), ["told"]);
        let again = to_sink.clone();
        again.when_room(&to_source, say("told at once"));
        settle(&mut source);
        assert_eq!(log(&mut source), ["told at once"]);
    }
}

/// Tells by its drop.
struct Told(std::sync::mpsc::Sender<()>);

impl Drop for Told {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

/// The asker ends while it waits, or when it was told and has not run it: what it captured is dropped,
/// and the next one is let in.
#[test]
fn an_asker_that_ends_gives_its_place_back() {
    for was_told in [false, true] {
        let (mut sink, to_sink) = full();
        let (gone, to_gone) = logging();
        let (mut next, to_next) = logging();
        let (dropped, drops) = channel();
        let told = Told(dropped);
        to_sink.when_room(&to_gone, move |_: &mut Log| drop(told));
        to_sink.when_room(&to_next, say("told"));
        if was_told {
            settle(&mut sink);
            settle(&mut next);
            assert!(log(&mut next).is_empty());
        }
        drop(gone);
        if !was_told {
            settle(&mut sink);
        }
        settle(&mut next);
        assert_eq!(log(&mut next), ["told"]);
        assert_eq!(drops.try_iter().count(), 1);
    }
}

/// RM2: no matter how many askers are gone, their places are given back one after the other.
#[test]
fn a_long_line_of_askers_that_are_gone_is_left_behind() {
    watched(|| {
        let (mut sink, to_sink) = full();
        let (gone, to_gone) = logging();
        let (mut next, to_next) = logging();
        for _ in 0..20_000 {
            to_sink.when_room(&to_gone, say("never"));
        }
        to_sink.when_room(&to_next, say("told"));
        drop(gone);
        settle(&mut sink);
        settle(&mut next);
        assert_eq!(log(&mut next), ["told"]);
        drop(sink);
    });
}

/// Somebody who was not in line takes the room that another was told of: that one asks again.
#[test]
fn room_that_was_taken_by_others_is_asked_for_again() {
    let (mut sink, to_sink) = full();
    let (mut source, to_source) = narrow(0, 4);
    fn go_on(to_sink: Executor<Log>, to_source: Executor<u32>) {
        let (sink, source) = (to_sink.clone(), to_source.clone());
        to_sink.when_room(&to_source, move |tries: &mut u32| {
            *tries += 1;
            match sink.try_execute(say("mine")) {
                Ok(()) => {}
                Err(PostError::Full(_)) => go_on(sink, source),
                Err(error) => panic!("{error}"),
            }
        });
    }
    go_on(to_sink.clone(), to_source);
    settle(&mut sink);
    to_sink.try_execute(say("stolen")).unwrap();
    settle(&mut source);
    assert_eq!(source.with_owner(|tries| *tries), 1);
    settle(&mut sink);
    settle(&mut source);
    assert_eq!(source.with_owner(|tries| *tries), 2);
    settle(&mut sink);
    assert_eq!(log(&mut sink), ["there before", "stolen", "mine"]);
}

/// Room is stolen before the one in line looks: it is not told for nothing.
#[test]
fn a_place_is_kept_until_there_is_room_in_its_turn() {
    let (mut sink, to_sink) = full();
    let (mut source, to_source) = logging();
    to_sink.when_room(&to_source, say("told"));
    let thief = to_sink.clone();
    // From inside: it goes to the owner's own queue, and takes no room.
    sink.with_owner(|_| thief.execute(say("own")).unwrap());
    settle(&mut sink);
    settle(&mut source);
    assert_eq!(log(&mut source), ["told"]);
}

#[test]
fn a_failure_in_it_gives_the_place_back() {
    let (mut sink, to_sink) = full();
    let builder = MailboxProcessor::<Log>::builder().on_failure(OnFailure::Skip);
    let mut failing = builder.build(Log::new()).unwrap();
    let (mut next, to_next) = logging();
    to_sink.when_room(&failing.executor(), |_: &mut Log| panic!("as it may"));
    to_sink.when_room(&failing.executor(), |_: &mut Log| {
        Err::<(), mailring::letter::BoxError>("as it may".into())
    });
    to_sink.when_room(&to_next, say("told"));
    settle(&mut sink);
    settle(&mut failing);
    settle(&mut failing);
    assert_eq!(failing.executor().counters().failures, 2);
    settle(&mut next);
    assert_eq!(log(&mut next), ["told"]);
}

/// Owners on threads of their own send by turns through a narrow mailbox, and sleep in between.
#[test]
fn nothing_is_lost_between_threads() {
    const SOURCES: u64 = 3;
    const EACH: u64 = 300;
    struct Source {
        next: u64,
        sink: Executor<Vec<(u64, u64)>>,
        own: Option<Executor<Source>>,
        number: u64,
    }
    impl Source {
        fn send(&mut self) {
            let own = self.own.clone().unwrap();
            while self.next < EACH {
                let letter = (self.number, self.next);
                match self
                    .sink
                    .try_execute(move |seen: &mut Vec<_>| seen.push(letter))
                {
                    Ok(()) => self.next += 1,
                    Err(PostError::Full(_)) => {
                        return self.sink.when_room(&own, Source::send);
                    }
                    Err(error) => panic!("{error}"),
                }
            }
            own.all_done();
        }
    }
    for capacity in [1, 2, 5] {
        let seen = watched(move || {
            let (mut sink, to_sink) = narrow(Vec::new(), capacity);
            let sources: Vec<_> = (0..SOURCES)
                .map(|number| {
                    let to_sink = to_sink.clone();
                    thread::spawn(move || {
                        let source = Source {
                            next: 0,
                            sink: to_sink,
                            own: None,
                            number,
                        };
                        let (mut source, to_source) = narrow(source, 1);
                        let own = to_source.clone();
                        source.with_owner(|source| {
                            source.own = Some(own);
                            source.send();
                        });
                        assert_eq!(source.run().unwrap(), Ended::AllDone);
                    })
                })
                .collect();
            let mut dice = Dice::new(44);
            while sink.with_owner(|seen| seen.len() as u64) < SOURCES * EACH {
                let letters = 1 + dice.roll(3) as usize;
                let _idle_or_not = sink.step(Budget::letters(letters)).unwrap();
                thread::yield_now();
            }
            for source in sources {
                source.join().unwrap();
            }
            sink.into_owner().unwrap()
        });
        for number in 0..SOURCES {
            let of_one = seen.iter().filter(|(who, _)| *who == number);
            assert!(of_one.map(|(_, nth)| *nth).eq(0..EACH));
        }
    }
}
