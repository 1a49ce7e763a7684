//! Processors: eight threads that post, ask, cancel and stop; letters that fail, yield and post; a
//! default action that is suspended and resumed; every end of a life.

mod schedules;

use core::time::Duration;
use mailring::ManualClock;
use mailring::letter::{Mail, Outcome, Priority};
use mailring::mailbox::{self, Marker, MarkerOptions, PostError, Taken, Undelivered};
use mailring::processor::{
    Builder, Controller, DefaultAction, Ended, Executor, MailboxProcessor, OnFailure, Step,
    Suspension,
};
use mailring::ring::Budget;
use schedules::{Ledger, Left, Letter, Made, Marks, check, check_anew, parking, roll};
use shuttle::thread;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};

const THREADS: usize = 8;
const POSTS_MAX: usize = 5;
const CAPACITY_MAX: usize = 4;

/// The owner: what was run, in order, and how often it has acted.
#[derive(Default)]
struct Owner {
    log: Vec<Made>,
    acts: usize,
}

/// How the owner's life ends when its loop has.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// What was accepted is run.
    Finish,
    /// What was accepted is handed back.
    Close,
    /// The processor goes.
    Drop,
}

/// Suspensions of the default action, for whoever comes to resume one.
type Suspensions = Arc<Mutex<Vec<Suspension>>>;

/// Unwinds as a panic does, without the hook, which would print the whole schedule.
fn panics() -> ! {
    resume_unwind(Box::new("a letter panics"))
}

/// Acts a few times, and is suspended in between.
fn action(kept: Suspensions) -> impl DefaultAction<Owner> {
    move |owner: &mut Owner, controller: &mut Controller<'_>| {
        owner.acts += 1;
        if owner.acts > 6 || roll(3) > 0 {
            let suspension = controller.suspend();
            kept.lock().expect("nothing fails").push(suspension);
        }
        if roll(40) == 0 {
            panics();
        }
    }
}

fn builder<L: mailring::letter::Letter<Owner> + Send + 'static>() -> Builder<Owner, L> {
    let mailbox = mailbox::Builder::new(1 + roll(CAPACITY_MAX))
        .urgent_capacity(1 + roll(CAPACITY_MAX))
        .markers(1)
        .urgent_markers(1)
        .batch_max(1 + roll(CAPACITY_MAX))
        .sender_wait(parking())
        .owner_wait(parking());
    let on_failure = match roll(4) {
        0 => OnFailure::Stop,
        1 => OnFailure::Propagate,
        _ => OnFailure::Skip,
    };
    MailboxProcessor::builder()
        .mailbox(mailbox)
        .on_failure(on_failure)
}

/// Registers an ordinary and an urgent marker, which tell `marks` of their runs.
fn markers<L: mailring::letter::Letter<Owner> + Send + 'static>(
    processor: &mut MailboxProcessor<Owner, L, impl DefaultAction<Owner>>,
    marks: &[Marks; 2],
) -> [Marker<Owner, L>; 2] {
    let mut lanes = [MarkerOptions::new(), MarkerOptions::new().urgent()]
        .into_iter()
        .zip(marks.clone());
    [(); 2].map(|()| {
        let (options, marks) = lanes.next().expect("one a lane");
        processor
            .marker_with("marker", options, move |_: &mut Owner| marks.ended())
            .expect("one a lane")
    })
}

/// Runs the loop until it has ended or failed, in one of the ways in which a host does.
fn run<L: mailring::letter::Letter<Owner> + Send + 'static>(
    processor: &mut MailboxProcessor<Owner, L, impl DefaultAction<Owner>>,
) {
    let by_steps = roll(3) == 0;
    let mut turn = || {
        if !by_steps {
            return processor.run().map(Step::Ended);
        }
        let step = processor.step(Budget::letters(1 + roll(4)));
        thread::yield_now();
        step
    };
    loop {
        // A panic comes out where the policy says so.
        match catch_unwind(AssertUnwindSafe(&mut turn)) {
            Ok(Ok(Step::Ended(Ended::Suspended) | Step::More | Step::Idle)) => {}
            Ok(Ok(_) | Err(_)) | Err(_) => return,
        }
    }
}

/// Ends a life; what was handed back.
fn end<L: mailring::letter::Letter<Owner> + Send + 'static>(
    end: End,
    processor: &mut MailboxProcessor<Owner, L, impl DefaultAction<Owner>>,
) -> Option<Undelivered<Owner, L>> {
    match end {
        End::Finish => {
            // It comes out with a panic where the policy says so, and is closed then as any.
            let finished = catch_unwind(AssertUnwindSafe(|| processor.finish()));
            Some(match finished {
                Ok(finished) => finished.undelivered,
                Err(_) => processor.close(),
            })
        }
        End::Close => Some(processor.close()),
        End::Drop => None,
    }
}

/// What a thread has that uses a processor of closures.
#[derive(Clone)]
struct Hands {
    executor: Executor<Owner>,
    markers: [Marker<Owner>; 2],
    marks: [Marks; 2],
    kept: Suspensions,
    clock: ManualClock,
    ledger: Ledger,
}

impl Hands {
    /// A mail that runs `letter`, and then does something of its own.
    fn mail(&self, letter: Letter) -> impl FnOnce(&mut Owner) -> Outcome + Send + 'static {
        let (hands, what) = (self.clone(), roll(24));
        move |owner: &mut Owner| {
            owner.log.push(letter.ran());
            match what {
                0 => panics(),
                1 => return Err("a letter fails".into()),
                2..=4 => {
                    // What it runs may fail, and is told of then.
                    let _ran = hands.executor.try_yield(owner)?;
                }
                5 => hands.executor.yield_now(owner)?,
                6 | 7 => hands.post(THREADS),
                8 => hands.marks[0].post(&hands.markers[0]),
                9 => hands.executor.suspend_loop(),
                10 => hands.resume(),
                11 => {
                    let reason = mailring::processor::Reason::NoInput;
                    if let Some(suspension) = hands.executor.suspend_action(reason) {
                        hands.kept.lock().expect("nothing fails").push(suspension);
                    }
                }
                _ => {}
            }
            Ok(())
        }
    }

    fn resume(&self) {
        let suspension = self.kept.lock().expect("nothing fails").pop();
        if let Some(suspension) = suspension {
            suspension.resume();
        }
    }

    /// Posts in a random way.
    fn post(&self, who: usize) {
        let Self {
            executor, ledger, ..
        } = self;
        let (made, letter) = ledger.letter(who);
        let mail = self.mail(letter);
        let posted = match roll(7) {
            0 => executor.try_execute(mail),
            1 => executor.execute_urgent(mail),
            2 => executor.try_execute_urgent(mail),
            3 => executor.execute_deferrable(mail),
            4 => {
                let priority = Priority::new(roll(3) as i32 - 1);
                executor.with_priority(priority).execute(mail)
            }
            _ => executor.execute(mail),
        };
        match posted {
            Ok(()) => ledger.accepted(made),
            // Posted again, or dropped: refused for good.
            Err(PostError::Full(unposted)) => match executor.post_again(unposted) {
                Ok(()) => ledger.accepted(made),
                Err(refused) => drop(refused),
            },
            Err(refused) => drop(refused),
        }
    }

    /// Asks, and waits for the answer or gives up.
    fn ask(&self, who: usize) {
        let (made, letter) = self.ledger.letter(who);
        let fails = roll(16) == 0;
        let action = move |owner: &mut Owner| {
            owner.log.push(letter.ran());
            if fails {
                panics();
            }
            made
        };
        let Ok(reply) = self.executor.ask(action) else {
            return;
        };
        self.ledger.accepted(made);
        match roll(3) {
            0 => drop(reply),
            1 => {
                if let Ok(answer) = reply.wait_timeout(Duration::ZERO) {
                    assert_eq!(answer, made);
                }
            }
            _ => {
                if let Ok(answer) = reply.wait() {
                    assert_eq!(answer, made);
                }
            }
        }
    }

    /// Sets a timer, and may cancel it. A timer is no letter: it may never run, but if its cancel
    /// says so it does not.
    fn set_timer(&self) {
        let delay = Duration::from_millis(roll(3) as u64);
        let (ran, hands) = (Arc::new(Mutex::new(false)), self.clone());
        let seen = Arc::clone(&ran);
        let timer = self.executor.run_after(delay, move |_: &mut Owner| {
            *ran.lock().expect("nothing fails") = true;
            hands.resume();
        });
        if roll(2) == 0 {
            let cancelled = timer.cancel();
            let ran = *seen.lock().expect("nothing fails");
            assert!(!cancelled || !ran, "cancelled, and ran");
        }
    }

    /// What one of the threads does.
    fn work(mut self, who: usize) {
        for _ in 0..roll(1 + POSTS_MAX) {
            match roll(14) {
                0 => self = self.clone(),
                1 => self.resume(),
                2 => self.executor.suspend_loop(),
                3 => self.set_timer(),
                4 => self.clock.advance(Duration::from_millis(1)),
                5 | 6 => {
                    let lane = roll(2);
                    self.marks[lane].post(&self.markers[lane]);
                }
                7 | 8 => self.ask(who),
                9 if roll(8) == 0 => self.executor.quiesce(),
                9 if roll(8) == 0 => drop(self.executor.report_failure("reported")),
                _ => self.post(who),
            }
        }
    }
}

/// Eight threads and an owner of closures: what was accepted is run, or handed back, and nobody
/// waits for ever.
fn a_life_with_closures() {
    let at_end = [End::Finish, End::Close, End::Drop][roll(3)];
    let (ledger, marks, kept) = (
        Ledger::new(),
        [Marks::default(), Marks::default()],
        Suspensions::default(),
    );
    let clock = ManualClock::new();
    let mut processor = builder::<Mail<Owner>>()
        .clock(clock.clone())
        .build_with(Owner::default(), action(Arc::clone(&kept)))
        .expect("a small one");
    let hands = Hands {
        executor: processor.executor(),
        markers: markers(&mut processor, &marks),
        marks: marks.clone(),
        kept,
        clock,
        ledger: ledger.clone(),
    };
    let working: Vec<_> = (0..THREADS)
        .map(|who| {
            let hands = hands.clone();
            thread::spawn(move || hands.work(who))
        })
        .collect();
    let owning = thread::spawn({
        let marks = marks.clone();
        move || {
            run(&mut processor);
            let left = end(at_end, &mut processor)?;
            let mut unrun = 0;
            for taken in left {
                match taken {
                    Taken::Letter(_mail) => unrun += 1,
                    Taken::Marker(id) => marks[id.index()].ended(),
                    other => unreachable!("{other:?}"),
                }
            }
            Some(unrun)
        }
    });
    for thread in working {
        thread.join().expect("nobody fails but letters");
    }
    // Whoever waits for more waits no longer.
    hands.executor.all_done();
    let left = owning.join().expect("nobody fails but letters");
    drop(hands);
    match left {
        Some(unrun) => {
            ledger.settle(Left::Counted(unrun));
            marks.iter().for_each(Marks::settle);
        }
        None => ledger.settle(Left::Dropped),
    }
}

impl mailring::letter::Letter<Owner> for Letter {
    fn run(self, owner: &mut Owner) -> Outcome {
        owner.log.push(self.ran());
        match roll(40) {
            0 => panics(),
            1 => Err("a letter fails".into()),
            _ => Ok(()),
        }
    }
}

/// What a thread does that posts letters of a type of their own; each lane is numbered as a thread.
fn post_letters(executor: &Executor<Owner, Letter>, ledger: &Ledger, who: usize) {
    for _ in 0..roll(1 + POSTS_MAX) {
        let urgent = roll(3) == 0;
        let by = 2 * who + usize::from(urgent);
        let (made, letter) = ledger.letter(by);
        let posted = match roll(3) {
            _ if urgent => executor.post_urgent(letter),
            0 => executor.try_post(letter),
            1 => {
                let (more_made, more) = ledger.letters(by, roll(CAPACITY_MAX));
                let made: Vec<_> = [made].into_iter().chain(more_made).collect();
                let rest = match executor.post_batch([letter].into_iter().chain(more)) {
                    Ok(_posted) => Vec::new(),
                    Err(refused) => refused.into_inner(),
                };
                let posted = made.len() - rest.len();
                made[..posted]
                    .iter()
                    .for_each(|made| ledger.accepted(*made));
                rest.into_iter().for_each(Letter::refused);
                continue;
            }
            _ => executor.post(letter),
        };
        match posted {
            Ok(()) => ledger.accepted(made),
            Err(refused) => refused.into_inner().refused(),
        }
    }
}

/// Eight threads and an owner of letters of their own type, each of which says what became of it:
/// those of one thread and lane are run, and handed back, in order.
fn a_life_with_letters() {
    let at_end = [End::Finish, End::Close, End::Drop][roll(3)];
    let ledger = Ledger::new();
    let mut processor = builder::<Letter>()
        .build_with(Owner::default(), action(Suspensions::default()))
        .expect("a small one");
    let executor = processor.executor();
    let working: Vec<_> = (0..THREADS)
        .map(|who| {
            let (executor, ledger) = (executor.clone(), ledger.clone());
            thread::spawn(move || post_letters(&executor, &ledger, who))
        })
        .collect();
    let owning = thread::spawn(move || {
        run(&mut processor);
        let left = end(at_end, &mut processor);
        let mut log = processor.with_owner(|owner| core::mem::take(&mut owner.log));
        for taken in left.into_iter().flatten() {
            match taken {
                Taken::Letter(letter) => log.push(letter.returned()),
                other => unreachable!("{other:?}"),
            }
        }
        log
    });
    for thread in working {
        thread.join().expect("nobody fails but letters");
    }
    executor.all_done();
    let log = owning.join().expect("nobody fails but letters");
    drop(executor);
    ledger.assert_in_order(&log);
    ledger.settle(match at_end {
        End::Drop => Left::Dropped,
        End::Finish | End::Close => Left::None,
    });
}

#[test]
fn shuttle_a_life_with_closures() {
    check(10_000, a_life_with_closures);
}

#[test]
fn shuttle_a_life_with_letters() {
    check(10_000, a_life_with_letters);
}

/// See the README for the command.
#[test]
#[ignore = "takes minutes"]
fn long_processors() {
    check_anew(200_000, "a_life_with_closures", a_life_with_closures);
    check_anew(200_000, "a_life_with_letters", a_life_with_letters);
}
