//! Letters of one's own, with and without room for mail, and the default action as a letter.

use mailring::letter::{Kind, Letter, Mail, Outcome};
use mailring::mailbox::Taken;
use mailring::processor::{DefaultLetter, Ended, Executor, MailboxProcessor, Reason, Step};
use mailring::ring::Budget;

/// Carries mail.
enum Open {
    Add(u64),
    Mail(Mail<u64>),
}

impl Letter<u64> for Open {
    fn run(self, sum: &mut u64) -> Outcome {
        match self {
            Self::Add(number) => *sum += number,
            Self::Mail(mail) => return mail.run(sum),
        }
        Ok(())
    }
    fn kind(&self) -> Kind {
        match self {
            Self::Add(_) => const { Kind::new(1) },
            Self::Mail(mail) => mail.kind(),
        }
    }
    fn from_mail(mail: Mail<u64>) -> Result<Self, Mail<u64>> {
        Ok(Self::Mail(mail))
    }
}

/// Carries none.
#[derive(Debug, PartialEq)]
enum Sealed {
    Add(u64),
    Fail(&'static str),
}

impl Letter<u64> for Sealed {
    fn run(self, sum: &mut u64) -> Outcome {
        match self {
            Self::Add(number) => *sum += number,
            Self::Fail(error) => return Err(error.into()),
        }
        Ok(())
    }
    fn kind(&self) -> Kind {
        const { Kind::new(2) }
    }
    fn description(&self) -> &'static str {
        match self {
            Self::Add(_) => "add",
            Self::Fail(_) => "fail",
        }
    }
}

fn check_all_ways<L: Letter<u64> + Send + 'static>(add: fn(u64) -> L, kind: usize) {
    let mut processor = MailboxProcessor::<u64, L>::builder().build(0).unwrap();
    let executor = processor.executor();
    executor.post(add(1)).unwrap();
    let asked = executor.ask(|sum: &mut u64| *sum).unwrap();
    executor.try_post(add(10)).unwrap();
    let submitted = executor
        .submit(|sum: &mut u64| Ok::<_, String>(*sum))
        .unwrap();
    executor.execute(|sum: &mut u64| *sum += 100).unwrap();
    executor
        .execute_deferrable(|sum: &mut u64| *sum += 1_000)
        .unwrap();
    executor
        .try_execute(|sum: &mut u64| *sum += 10_000)
        .unwrap();
    executor
        .post_inline(|sum: &mut u64| *sum += 100_000)
        .unwrap();
    let probed = executor.probe().unwrap();
    let yielding = executor.clone();
    executor
        .execute_urgent(move |sum: &mut u64| assert!(yielding.try_yield(sum).unwrap()))
        .unwrap();
    executor.post_urgent(add(0)).unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(asked.wait(), Ok(1));
    assert_eq!(submitted.wait(), Ok(Ok(11)));
    assert!(probed.wait().is_ok());
    assert_eq!(processor.with_owner(|sum| *sum), 111_111);
    let counters = executor.counters();
    assert_eq!(
        (counters.letters(), counters.letters_by_kind[kind]),
        (11, 3)
    );

    // On the owner's thread as well.
    let own = executor.clone();
    executor
        .execute(move |_: &mut u64| {
            own.post(add(1)).unwrap();
            drop(own.ask(|sum: &mut u64| *sum += 1).unwrap());
            own.post_urgent(add(1)).unwrap();
        })
        .unwrap();
    assert_eq!(processor.run_until_idle().unwrap(), Step::Idle);
    assert_eq!(processor.with_owner(|sum| *sum), 111_114);

    // What is refused comes back, and a letter as what it was.
    processor.quiesce();
    let refused = executor
        .execute(|sum: &mut u64| *sum = 7)
        .unwrap_err()
        .into_inner();
    let again = executor.post_again(refused).unwrap_err().into_inner();
    processor.with_owner(|sum| again.run(sum)).unwrap();
    let letter = executor.post(add(5)).unwrap_err().into_inner();
    processor.with_owner(|sum| letter.run(sum)).unwrap();
    assert_eq!(processor.with_owner(|sum| *sum), 12);
}

#[test]
fn a_letter_that_carries_mail_takes_all_ways_of_handing_work_in() {
    check_all_ways(Open::Add, 1);
}

#[test]
fn a_letter_that_carries_none_takes_them_too() {
    check_all_ways(Sealed::Add, 2);
}

#[test]
fn undelivered_letters_are_what_was_posted() {
    let mut processor = MailboxProcessor::<u64, Sealed>::builder().build(0).unwrap();
    let executor = processor.executor();
    executor.post(Sealed::Add(1)).unwrap();
    let reply = executor.ask(|_: &mut u64| ()).unwrap();
    executor.post(Sealed::Fail("never")).unwrap();
    let mut left = processor.close();
    assert!(matches!(left.next(), Some(Taken::Letter(Sealed::Add(1)))));
    assert!(matches!(left.next(), Some(Taken::Mail(_))));
    assert!(matches!(
        left.next(),
        Some(Taken::Letter(Sealed::Fail("never")))
    ));
    assert!(left.next().is_none());
    assert!(reply.wait().is_err());
}

#[test]
fn a_letter_that_fails_is_told_by_its_description() {
    let mut processor = MailboxProcessor::<u64, Sealed>::builder().build(0).unwrap();
    let executor = processor.executor();
    executor.post(Sealed::Add(1)).unwrap();
    executor.post(Sealed::Fail("broken")).unwrap();
    let failure = processor.run().unwrap_err();
    assert_eq!(failure.what(), "fail");
    assert_eq!(failure.to_string(), "fail: broken");
}

struct Machine {
    polls: u64,
    sum: u64,
    executor: Option<Executor<Machine, Event>>,
}

enum Event {
    Poll,
    Add(u64),
    Resume(mailring::processor::Suspension),
}

impl Letter<Machine> for Event {
    fn run(self, machine: &mut Machine) -> Outcome {
        let executor = machine.executor.clone().ok_or("not set up")?;
        match self {
            Self::Poll => {
                machine.polls += 1;
                if machine.polls == 10 {
                    executor.all_done();
                } else if machine.polls.is_multiple_of(2) {
                    let suspension = executor
                        .suspend_action(Reason::NoInput)
                        .ok_or("not inside")?;
                    executor.post(Self::Resume(suspension))?;
                }
            }
            Self::Add(number) => machine.sum += number,
            Self::Resume(suspension) => suspension.resume(),
        }
        Ok(())
    }
    fn description(&self) -> &'static str {
        match self {
            Self::Poll => "poll",
            Self::Add(_) => "add",
            Self::Resume(_) => "resume",
        }
    }
}

#[test]
fn the_default_action_as_a_letter_suspends_itself_and_is_resumed_by_a_letter() {
    let machine = Machine {
        polls: 0,
        sum: 0,
        executor: None,
    };
    let poll = DefaultLetter::new(|| Event::Poll);
    let builder = MailboxProcessor::<Machine, Event>::builder();
    let mut processor = builder.build_with(machine, poll).unwrap();
    let executor = processor.executor();
    processor.with_owner(|machine| machine.executor = Some(executor.clone()));
    executor.post(Event::Add(3)).unwrap();
    assert_eq!(processor.run().unwrap(), Ended::AllDone);
    processor.with_owner(|machine| assert_eq!((machine.polls, machine.sum), (10, 3)));
    assert_eq!(executor.counters().actions, 10);
}

#[test]
fn a_default_letter_that_fails_fails_the_processor() {
    let machine = Machine {
        polls: 0,
        sum: 0,
        executor: None,
    };
    let builder = MailboxProcessor::<Machine, Event>::builder();
    let poll = DefaultLetter::new(|| Event::Poll);
    let mut processor = builder.build_with(machine, poll).unwrap();
    let failure = processor.step(Budget::letters(1)).unwrap_err();
    assert!(failure.to_string().contains("not set up"), "{failure}");
}
