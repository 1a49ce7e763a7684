//! A processor in plain lists: one thread, one clock, and each of its runs is foretold.

use super::script::{Act, Ending, Letter, Life, MARKERS, Rhythm, Script, Setting};
use super::{BATCH_MAX, CAPACITY, Cause, Event, Facts, HIDDEN_MAX, URGENT_CAPACITY, YIELDS_MAX};
use mailring::mailbox::{MarkerPost, State};
use mailring::processor::{Ended, Step};
use std::sync::Arc;

/// What lies in a mailbox, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Letter(usize),
    Marker(usize),
    Timer(usize),
    /// A marker that came up while it ran.
    MarkerAgain(usize),
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    item: Item,
    priority: i32,
    is_deferrable: bool,
}

impl Entry {
    fn prompt(item: Item, priority: i32) -> Self {
        Self {
            item,
            priority,
            is_deferrable: false,
        }
    }

    fn is_shown(&self, least: i32, as_given: bool) -> bool {
        let is_lowest = self.is_deferrable && !as_given;
        least <= if is_lowest { -1 } else { self.priority }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Set outside, and not met by the owner.
    Arriving,
    /// By the order in which they were armed.
    Armed(u64),
    Due,
    Running,
    Cancelled,
    /// It ran, and was to run once.
    Done,
}

#[derive(Debug)]
struct Timer {
    setting: Arc<Setting>,
    due: u64,
    stage: Stage,
    /// Cancelled while it runs.
    is_over: bool,
}

/// How a run ended that did not end well.
enum Broken {
    Error(Cause),
    Panic(Cause),
}

type Run = Result<(), Broken>;

#[derive(Debug)]
pub(super) struct Model {
    life: Arc<Life>,
    pub(super) log: Vec<Event>,
    pub(super) facts: Facts,
    pub(super) state: State,
    is_refusing_senders: bool,
    letters: Vec<Arc<Letter>>,
    /// Urgent letters as they come; so many of them are out of the ring.
    urgent: Vec<Entry>,
    urgent_noted: usize,
    urgent_run: u32,
    batch: Vec<Entry>,
    later: Vec<Entry>,
    ring: Vec<Entry>,
    /// How many letters yields have moved out of the ring since the batch was begun.
    kept: usize,
    /// Posts that the next run of a marker stands for.
    posts: [u64; MARKERS.len()],
    is_running: [bool; MARKERS.len()],
    is_wanted_again: [bool; MARKERS.len()],
    pub(super) now: u64,
    timers: Vec<Timer>,
    arms: u64,
    takes_timers: bool,
    /// Something was asked for and not met.
    is_raised: bool,
    asked_suspends: u32,
    asked_quiesce: bool,
    asked_done: bool,
    reported: Option<Cause>,
    /// Of the default action.
    is_available: bool,
    /// A step has ended with a batch: the next one calls it first.
    is_owed: bool,
    generation: u64,
    resumed: u64,
    suspensions: Vec<u64>,
    calls: usize,
    suspends: u32,
    is_done: bool,
    has_failed: bool,
    is_closed: bool,
    failed_in_yield: Option<Cause>,
    failed: Option<Cause>,
    follow_ups_left: Option<usize>,
    is_inside: bool,
    yields: usize,
}

impl Model {
    pub(super) fn new(life: &Arc<Life>) -> Self {
        Self {
            life: Arc::clone(life),
            log: Vec::new(),
            facts: Facts::default(),
            state: State::Open,
            is_refusing_senders: false,
            letters: Vec::new(),
            urgent: Vec::new(),
            urgent_noted: 0,
            urgent_run: 0,
            batch: Vec::new(),
            later: Vec::new(),
            ring: Vec::new(),
            kept: 0,
            posts: [0; MARKERS.len()],
            is_running: [false; MARKERS.len()],
            is_wanted_again: [false; MARKERS.len()],
            now: 0,
            timers: Vec::new(),
            arms: 0,
            takes_timers: true,
            is_raised: false,
            asked_suspends: 0,
            asked_quiesce: false,
            asked_done: false,
            reported: None,
            is_available: life.has_action,
            is_owed: false,
            generation: 0,
            resumed: 0,
            suspensions: Vec::new(),
            calls: 0,
            suspends: 0,
            is_done: false,
            has_failed: false,
            is_closed: false,
            failed_in_yield: None,
            failed: None,
            follow_ups_left: None,
            is_inside: false,
            yields: 0,
        }
    }

    // The mailbox.

    fn has_ordinary(&self) -> bool {
        !self.batch.is_empty() || !self.later.is_empty() || !self.ring.is_empty()
    }

    fn has_letters(&self) -> bool {
        !self.urgent.is_empty() || self.has_ordinary()
    }

    /// Which letters were accepted and have not come up.
    pub(super) fn waiting(&self) -> Vec<usize> {
        let all = [&self.urgent, &self.batch, &self.later, &self.ring];
        let items = all.into_iter().flatten().map(|entry| entry.item);
        let mut letters: Vec<_> = items
            .filter_map(|item| match item {
                Item::Letter(number) => Some(number),
                _ => None,
            })
            .collect();
        letters.sort_unstable();
        letters
    }

    fn note_urgent(&mut self) {
        let most = URGENT_CAPACITY + MARKERS.iter().filter(|(is_urgent, _)| *is_urgent).count();
        self.urgent_noted = self.urgent_noted.max(self.urgent.len().min(most));
    }

    fn post(&mut self, letter: &Arc<Letter>) -> Result<(), &'static str> {
        let entry = Entry {
            item: Item::Letter(self.letters.len()),
            priority: letter.priority,
            is_deferrable: letter.way.is_deferrable(),
        };
        self.letters.push(Arc::clone(letter));
        let is_urgent = letter.way.is_urgent();
        if self.is_inside {
            self.post_own(entry, is_urgent)
        } else if self.is_refusing_senders {
            Err("closed")
        } else {
            let (lane, lies, most) = if is_urgent {
                let lies = self.urgent.len() - self.urgent_noted;
                (&mut self.urgent, lies, URGENT_CAPACITY)
            } else {
                let lies = self.ring.len();
                (&mut self.ring, lies, CAPACITY)
            };
            match letter.way.is_try() {
                _ if lies < most => {
                    lane.push(entry);
                    Ok(())
                }
                true => Err("full"),
                false => Err("would deadlock"),
            }
        }
    }

    fn post_own(&mut self, entry: Entry, is_urgent: bool) -> Result<(), &'static str> {
        if self.state != State::Open || self.follow_ups_left == Some(0) {
            return Err("closed");
        }
        self.follow_ups_left = self.follow_ups_left.map(|left| left - 1);
        if is_urgent {
            self.note_urgent();
            self.urgent.insert(self.urgent_noted, entry);
            self.urgent_noted += 1;
        } else {
            self.later.push(entry);
        }
        Ok(())
    }

    fn post_marker(&mut self, index: usize) -> MarkerPost {
        if self.is_refusing_senders {
            return MarkerPost::Closed;
        }
        self.posts[index] += 1;
        if self.posts[index] > 1 {
            return MarkerPost::AlreadyPending;
        }
        let (is_urgent, priority) = MARKERS[index];
        let entry = Entry::prompt(Item::Marker(index), priority);
        if is_urgent {
            self.urgent.push(entry);
        } else {
            self.ring.push(entry);
        }
        MarkerPost::Posted
    }

    fn take_urgent(&mut self, at: usize) -> Item {
        if self.urgent_noted == 0 {
            self.note_urgent();
        }
        self.urgent_noted -= 1;
        self.urgent_run += 1;
        self.urgent.remove(at).item
    }

    fn take_from_batch(&mut self) -> Option<Item> {
        if !self.urgent.is_empty() && self.urgent_run < 8 {
            return Some(self.take_urgent(0));
        }
        if self.urgent.is_empty() {
            self.urgent_run = 0;
        }
        if self.batch.is_empty() {
            return None;
        }
        self.urgent_run = 0;
        Some(self.batch.remove(0).item)
    }

    fn take(&mut self) -> Option<Item> {
        if !self.urgent.is_empty() && (self.urgent_run < 8 || !self.has_ordinary()) {
            return Some(self.take_urgent(0));
        }
        self.urgent_run = 0;
        [&mut self.batch, &mut self.later, &mut self.ring]
            .into_iter()
            .find(|list| !list.is_empty())
            .map(|list| list.remove(0).item)
    }

    fn take_shown(&mut self, least: i32, as_given: bool) -> Option<Item> {
        if least == -1 {
            return self.take();
        }
        self.urgent_noted = self.urgent.len();
        let is_shown = |entry: &Entry| entry.is_shown(least, as_given);
        let urgent = self.urgent.iter().position(is_shown);
        if self.urgent_run < 8
            && let Some(at) = urgent
        {
            return Some(self.take_urgent(at));
        }
        for list in [&mut self.batch, &mut self.later] {
            if let Some(at) = list.iter().position(is_shown) {
                self.urgent_run = 0;
                return Some(list.remove(at).item);
            }
        }
        // What is hidden of the ring is kept, up to where the one that is shown was, or so far as may.
        let shown = self.ring.iter().position(is_shown);
        let hidden = shown.unwrap_or(self.ring.len());
        let kept = hidden.min(HIDDEN_MAX - self.kept);
        self.later.extend(self.ring.drain(..kept));
        self.kept += kept;
        if shown.is_some() && kept == hidden && self.kept < HIDDEN_MAX {
            self.urgent_run = 0;
            return Some(self.ring.remove(0).item);
        }
        urgent.map(|at| self.take_urgent(at))
    }

    fn refill_batch(&mut self) {
        if self.batch.is_empty() {
            self.batch = std::mem::take(&mut self.later);
            self.kept = 0;
            let from_ring = self.ring.len().min(BATCH_MAX);
            self.batch.extend(self.ring.drain(..from_ring));
            if self.batch.is_empty() {
                self.urgent_run = 0;
            }
        }
    }

    fn quiesce_mailbox(&mut self) {
        if self.state == State::Open {
            self.state = State::Quiesced;
        }
        self.is_refusing_senders = true;
    }

    // The timers.

    fn arm(&mut self, number: usize) {
        let timer = &mut self.timers[number];
        timer.stage = if self.takes_timers {
            self.arms += 1;
            Stage::Armed(self.arms)
        } else {
            Stage::Cancelled
        };
    }

    fn take_in_timers(&mut self) {
        for number in 0..self.timers.len() {
            if self.timers[number].stage == Stage::Arriving {
                self.arm(number);
            }
        }
    }

    fn fire(&mut self) {
        let timers = self.timers.iter().enumerate();
        let mut due: Vec<_> = timers
            .filter_map(|(number, timer)| match timer.stage {
                Stage::Armed(arm) if timer.due <= self.now => Some((timer.due, arm, number)),
                _ => None,
            })
            .collect();
        due.sort_unstable();
        for (_, _, number) in due {
            let timer = &mut self.timers[number];
            timer.stage = Stage::Due;
            let entry = Entry::prompt(Item::Timer(number), timer.setting.priority);
            self.later.push(entry);
        }
    }

    fn quiesce_timers(&mut self) {
        self.take_in_timers();
        self.fire();
        self.takes_timers = false;
        self.drop_timers(|stage| matches!(stage, Stage::Armed(_)));
    }

    fn drop_timers(&mut self, which: impl Fn(Stage) -> bool) {
        for timer in &mut self.timers {
            if which(timer.stage) {
                timer.stage = Stage::Cancelled;
            }
        }
    }

    fn set(&mut self, setting: &Arc<Setting>) {
        let due = self.now.saturating_add_signed(setting.after);
        let number = self.timers.len();
        self.log.push(Event::Set(number, due));
        self.timers.push(Timer {
            setting: Arc::clone(setting),
            due,
            stage: Stage::Arriving,
            is_over: false,
        });
        if self.is_inside {
            self.arm(number);
        } else if self.is_refusing_senders {
            self.timers[number].stage = Stage::Cancelled;
        } else {
            self.is_raised = true;
        }
        if due <= self.now {
            self.advance(1);
        }
    }

    fn cancel(&mut self, number: usize) {
        let timer = &mut self.timers[number];
        let is_periodic = !matches!(timer.setting.rhythm, Rhythm::Once);
        let will_not_run = match timer.stage {
            Stage::Done => false,
            Stage::Running => is_periodic,
            _ => true,
        };
        if will_not_run {
            if timer.stage == Stage::Running {
                timer.is_over = true;
            } else {
                timer.stage = Stage::Cancelled;
            }
        }
        self.log.push(Event::Cancel(number, will_not_run));
    }

    fn advance(&mut self, time: u64) {
        self.now += time;
        self.is_raised = true;
    }

    pub(super) fn timers_pending(&mut self) -> usize {
        self.take_in_timers();
        let is_pending = |timer: &&Timer| matches!(timer.stage, Stage::Armed(_) | Stage::Due);
        self.timers.iter().filter(is_pending).count()
    }

    /// Which timers have their callbacks still, whatever the owner does next.
    pub(super) fn timers_alive(&self) -> Vec<usize> {
        let timers = self.timers.iter().enumerate();
        let is_alive = |stage| !matches!(stage, Stage::Cancelled | Stage::Done);
        timers
            .filter(|(_, timer)| is_alive(timer.stage))
            .map(|(number, _)| number)
            .collect()
    }

    // The loop.

    fn meet_control(&mut self) {
        if !std::mem::take(&mut self.is_raised) {
            return;
        }
        self.suspends += std::mem::take(&mut self.asked_suspends);
        self.is_done |= self.asked_done;
        self.has_failed |= self.reported.is_some();
        if std::mem::take(&mut self.asked_quiesce) {
            self.quiesce_mailbox();
            self.quiesce_timers();
        }
        self.take_in_timers();
        if self.resumed >= self.generation && self.generation > 0 {
            self.is_available = true;
        }
    }

    fn is_stopping(&mut self) -> bool {
        self.meet_control();
        self.suspends > 0 || self.is_done || self.has_failed || self.is_closed
    }

    /// Whether yields run nothing any more; while it finishes, that all is done is no reason.
    fn is_cancelled(&self) -> bool {
        let may_finish = self.suspends > 0 || self.is_done || self.is_closed;
        self.has_failed || may_finish && self.follow_ups_left.is_none()
    }

    fn stopping(&mut self) -> Result<Step, Broken> {
        if self.has_failed {
            return Err(Broken::Error(self.take_failure()));
        }
        if self.suspends > 0 {
            self.suspends -= 1;
            return Ok(Step::Ended(Ended::Suspended));
        }
        let ended = if self.is_done {
            Ended::AllDone
        } else {
            Ended::Closed
        };
        Ok(Step::Ended(ended))
    }

    fn take_failure(&mut self) -> Cause {
        let in_yield = self.failed_in_yield.take();
        let failure = in_yield.or_else(|| self.reported.clone());
        failure.expect("a processor that goes on has failed once at most")
    }

    fn suspend_action(&mut self) {
        if std::mem::replace(&mut self.is_available, false) {
            self.generation += 1;
        }
        self.suspensions.push(self.generation);
    }

    pub(super) fn act(&mut self, act: &Act) {
        // From outside nothing is run.
        assert!(self.act_inside(act).is_ok());
    }

    fn act_inside(&mut self, act: &Act) -> Run {
        match act {
            Act::Post(letter) => {
                let number = self.letters.len();
                let posted = self.post(letter);
                self.facts.rejected += u64::from(posted.is_err());
                self.log.push(Event::Posted(number, posted));
            }
            Act::Marker(index) => {
                let posted = self.post_marker(*index);
                self.log.push(Event::Marked(*index, posted));
            }
            Act::Set(setting) => self.set(setting),
            Act::Cancel(_) if self.timers.is_empty() => {}
            Act::Cancel(any) => self.cancel(any % self.timers.len()),
            Act::Advance(time) => self.advance(*time),
            Act::Yield(least, as_given) => return self.yield_once(*least, *as_given),
            Act::SuspendAction => {
                if self.is_inside {
                    self.meet_control();
                    self.suspend_action();
                    self.log.push(Event::Suspended(self.suspensions.len() - 1));
                }
            }
            Act::Resume(_) if self.suspensions.is_empty() => {}
            Act::Resume(any) => {
                let number = any % self.suspensions.len();
                let generation = self.suspensions[number];
                self.is_raised |= self.resumed <= generation;
                self.resumed = self.resumed.max(generation);
                self.log.push(Event::Resumed(number));
            }
            Act::SuspendLoop => {
                self.asked_suspends += 1;
                self.is_raised = true;
            }
            Act::Look => {
                let is_told = self.is_inside && (self.is_raised || self.is_cancelled());
                let interrupts = is_told || self.is_inside && self.has_letters();
                let has_urgent = is_told || self.is_inside && !self.urgent.is_empty();
                let is_idle = self.is_inside.then(|| self.is_idle());
                self.log
                    .push(Event::Looked(interrupts, has_urgent, is_idle));
            }
            Act::Quiesce => {
                self.asked_quiesce = true;
                self.is_raised = true;
            }
            Act::AllDone => {
                self.asked_done = true;
                self.is_raised = true;
            }
            Act::Report => {
                if self.reported.is_none() {
                    self.reported = Some("reported".to_owned());
                    self.is_raised = true;
                }
            }
        }
        Ok(())
    }

    fn yield_once(&mut self, least: i32, as_given: bool) -> Run {
        if self.yields == YIELDS_MAX {
            return Ok(());
        }
        self.log.push(Event::Yield(least, as_given));
        self.yields += 1;
        let yielded = self.run_one_for(least, as_given);
        self.yields -= 1;
        self.log.push(Event::Yielded(yielded?));
        Ok(())
    }

    fn run_one_for(&mut self, least: i32, as_given: bool) -> Result<&'static str, Broken> {
        if !self.is_inside {
            return Ok("not the owner");
        }
        self.meet_control();
        if self.is_cancelled() {
            return Ok("cancelled");
        }
        self.fire();
        if !self.has_letters() && self.state == State::Open {
            return Ok("none");
        }
        match self.take_shown(least, as_given) {
            Some(item) => match self.run(item) {
                Ok(()) => Ok("ran"),
                Err(Broken::Error(cause)) => {
                    self.has_failed = true;
                    self.failed_in_yield.get_or_insert(cause);
                    Ok("failed")
                }
                Err(panic) => Err(panic),
            },
            None if self.kept == HIDDEN_MAX && !self.ring.is_empty() => Ok("crowded"),
            None if self.has_letters() => Ok("none"),
            None => Ok("closed"),
        }
    }

    fn perform(&mut self, script: &Script, cause: Cause) -> Run {
        for act in &script.acts {
            self.act_inside(act)?;
        }
        match self.life.ending(script) {
            Ending::Done => Ok(()),
            Ending::Error => Err(Broken::Error(cause)),
            Ending::Panic => Err(Broken::Panic(cause)),
        }
    }

    /// Runs what was taken.
    fn run(&mut self, item: Item) -> Run {
        match item {
            Item::Letter(number) => {
                let letter = Arc::clone(&self.letters[number]);
                let kind = if letter.way.is_note() {
                    1 + number % 3
                } else {
                    0
                };
                self.facts.letters[kind] += 1;
                self.log.push(Event::Letter(number));
                self.perform(&letter.script, format!("letter {number}"))
            }
            Item::Marker(index) => {
                let (runs, coalesced) = &mut self.facts.of_markers[index];
                *runs += 1;
                *coalesced += std::mem::take(&mut self.posts[index]) - 1;
                self.run_marker(index)
            }
            Item::MarkerAgain(index) => self.run_marker(index),
            Item::Timer(number) => self.run_timer(number),
        }
    }

    fn run_marker(&mut self, index: usize) -> Run {
        if std::mem::replace(&mut self.is_running[index], true) {
            self.is_wanted_again[index] = true;
            return Ok(());
        }
        self.facts.markers += 1;
        self.log.push(Event::Marker(index));
        let life = Arc::clone(&self.life);
        let run = self.perform(&life.markers[index], format!("marker {index}"));
        self.is_running[index] = false;
        if std::mem::take(&mut self.is_wanted_again[index]) {
            let entry = Entry::prompt(Item::MarkerAgain(index), MARKERS[index].1);
            self.later.push(entry);
        }
        run
    }

    fn run_timer(&mut self, number: usize) -> Run {
        let timer = &mut self.timers[number];
        if timer.stage != Stage::Due {
            return Ok(());
        }
        timer.stage = Stage::Running;
        self.facts.timers += 1;
        let due = timer.due;
        let setting = Arc::clone(&timer.setting);
        self.log.push(Event::Timer(number, due, self.now));
        let run = self.perform(&setting.script, format!("timer {number}"));
        let now = self.now;
        let timer = &mut self.timers[number];
        let next = match setting.rhythm {
            Rhythm::Once => None,
            Rhythm::Rate(period) => Some(due + ((now - due) / period + 1) * period),
            Rhythm::Delay(period) => Some(now + period),
        };
        match next {
            None => timer.stage = Stage::Done,
            Some(_) if timer.is_over => timer.stage = Stage::Cancelled,
            Some(next) => {
                timer.due = next;
                self.arm(number);
            }
        }
        run
    }

    /// Deals with a failure; `Err` says that the processor ends by it.
    fn fail(&mut self, broken: Broken) -> Result<(), Cause> {
        let (Broken::Error(cause) | Broken::Panic(cause)) = broken;
        self.facts.failures.push(cause.clone());
        if !self.has_failed {
            return Ok(());
        }
        self.quiesce_mailbox();
        self.failed = Some(cause.clone());
        Err(cause)
    }

    pub(super) fn step(&mut self, budget: usize) -> Result<Step, Cause> {
        if let Some(cause) = &self.failed {
            return Err(cause.clone());
        }
        self.is_inside = true;
        let step = self.turns(budget);
        self.is_inside = false;
        step.or_else(|broken| self.fail(broken).map(|()| Step::More))
    }

    fn turns(&mut self, mut left: usize) -> Result<Step, Broken> {
        loop {
            if self.is_stopping() {
                return self.stopping();
            }
            self.fire();
            if !(self.is_owed && self.is_available) && self.has_letters() {
                self.refill_batch();
                while left > 0
                    && let Some(item) = self.take_from_batch()
                {
                    self.run(item)?;
                    left -= 1;
                    if self.is_stopping() {
                        return self.stopping();
                    }
                }
                self.is_owed = self.batch.is_empty();
            }
            if left == 0 {
                return Ok(Step::More);
            }
            if self.is_available {
                left -= 1;
                self.is_owed = false;
                self.call()?;
                continue;
            }
            self.fire();
            if !self.is_raised && !self.has_letters() {
                let is_armed = |timer: &Timer| matches!(timer.stage, Stage::Armed(_));
                let is_over = self.state != State::Open && !self.timers.iter().any(is_armed);
                return Ok(if is_over {
                    Step::Ended(Ended::Quiesced)
                } else {
                    Step::Idle
                });
            }
        }
    }

    /// Calls the default action.
    fn call(&mut self) -> Run {
        self.log.push(Event::Action(self.calls));
        let life = Arc::clone(&self.life);
        let call = &life.calls[self.calls % life.calls.len()];
        self.calls += 1;
        self.facts.actions += 1;
        if call.suspends {
            self.suspend_action();
            self.log.push(Event::Suspended(self.suspensions.len() - 1));
        }
        self.perform(&call.script, "action".to_owned())
    }

    /// With the owner; the panic that comes out of it.
    pub(super) fn with_owner(&mut self, acts: &[Act]) -> Result<(), Cause> {
        self.is_inside = true;
        let done = acts.iter().try_for_each(|act| self.act_inside(act));
        self.is_inside = false;
        done.map_err(|(Broken::Error(cause) | Broken::Panic(cause))| cause)
    }

    pub(super) fn is_idle(&mut self) -> bool {
        self.meet_control();
        !self.is_available
            && !self.has_letters()
            && self.state == State::Open
            && self.follow_ups_left.is_none()
    }

    pub(super) fn quiesce(&mut self) {
        self.quiesce_mailbox();
        self.quiesce_timers();
    }

    /// How many ran, what was left, and what ended it early.
    pub(super) fn finish(&mut self) -> (usize, Vec<Item>, Option<Cause>) {
        let mut ran = 0;
        if self.failed.is_none() {
            self.is_refusing_senders = true;
            self.follow_ups_left = Some(self.life.follow_ups_max);
            self.quiesce_timers();
        }
        while self.failed.is_none() {
            self.is_inside = true;
            let done = self.run_out(&mut ran);
            self.is_inside = false;
            match done {
                Ok(()) => break,
                Err(broken) => drop(self.fail(broken)),
            }
        }
        (ran, self.close(), self.failed.clone())
    }

    fn run_out(&mut self, ran: &mut usize) -> Run {
        loop {
            if self.is_stopping() && self.has_failed {
                return Err(Broken::Error(self.take_failure()));
            }
            let Some(item) = self.take() else {
                return Ok(());
            };
            *ran += 1;
            self.run(item)?;
        }
    }

    /// What was accepted and did not come up.
    pub(super) fn close(&mut self) -> Vec<Item> {
        self.takes_timers = false;
        self.drop_timers(|stage| !matches!(stage, Stage::Done));
        self.is_refusing_senders = true;
        self.state = State::Closed;
        self.is_closed = true;
        self.urgent_noted = 0;
        let Self {
            urgent,
            batch,
            later,
            ring,
            ..
        } = self;
        let lists = [urgent, batch, later, ring];
        let all = lists.into_iter().flat_map(std::mem::take);
        all.filter_map(|entry| match entry.item {
            Item::Timer(_) => None,
            Item::MarkerAgain(index) => Some(Item::Marker(index)),
            item => Some(item),
        })
        .collect()
    }
}
