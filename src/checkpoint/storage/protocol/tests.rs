//! What the model does not come to: damage, ends of numbers, starts beside others.

use super::{Answer, Base, Effect, Outcome, Protocol, Step};
use crate::checkpoint::Epoch;
use crate::checkpoint::storage::names::Attempt;
use crate::checkpoint::storage::record::{Body, Kept, Record};
use crate::checkpoint::storage::writer::{WriterId, Writers};
use crate::stream::CheckpointId;

const OWN: WriterId = WriterId(1);
const OTHER: WriterId = WriterId(2);

fn attempt(epoch: u64, id: u64) -> Attempt {
    Attempt {
        epoch: Epoch(epoch),
        id: CheckpointId::new(id).unwrap(),
    }
}

/// Another's record of a checkpoint.
fn record(number: u64, epoch: u64, id: u64) -> Record<u64> {
    Record {
        number,
        job: "job".into(),
        epoch: Epoch(epoch),
        writer: OTHER,
        takeover: 1,
        next_id: id.saturating_add(1),
        kept: Vec::new(),
        body: Body::Checkpoint(attempt(epoch, id), id),
    }
}

fn protocol(base: Base) -> Protocol<u64> {
    Protocol::new("job", Writers::from(OWN), 1, base)
}

/// Answers one effect after the other; what comes then.
fn answered(protocol: &mut Protocol<u64>, answers: Vec<Answer<u64>>) -> Step<u64> {
    let mut step = protocol.take_over();
    for answer in answers {
        assert!(matches!(step, Step::Do(_)), "{step:?} before {answer:?}");
        step = protocol.answer(answer);
    }
    step
}

fn read(record: Record<u64>) -> Answer<u64> {
    Answer::Read(Box::new(record))
}

fn created(step: Step<u64>) -> Record<u64> {
    match step {
        Step::Do(Effect::Create(record)) => (*record).clone(),
        step => panic!("{step:?}"),
    }
}

fn answers_up_to(last: u64, head: Record<u64>) -> Vec<Answer<u64>> {
    let records = Answer::Records((1..=last).collect());
    vec![records, Answer::Attempts(Vec::new()), read(head)]
}

#[test]
fn a_damaged_head_stops_who_has_not_chosen() {
    let mut protocol = protocol(Base::Head);
    let step = answered(
        &mut protocol,
        vec![
            Answer::Records(vec![1, 2, 3]),
            Answer::Attempts(Vec::new()),
            Answer::Unreadable,
        ],
    );
    assert_eq!(step, Step::Done(Outcome::Failed));
}

#[test]
fn who_has_chosen_goes_above_all_that_a_damaged_record_may_have_said() {
    let mut protocol = protocol(Base::Record(2));
    let step = answered(
        &mut protocol,
        vec![
            Answer::Records(vec![4, 2, 1, 3]),
            Answer::Attempts(vec![attempt(1, 9)]),
            read(record(2, 1, 8)),
            Answer::Unreadable,
            Answer::Unreadable,
        ],
    );
    let takeover = created(step);
    assert_eq!((takeover.number, takeover.takeover), (5, 5));
    // Each of the two may be of one more run, and of one more checkpoint than 9.
    assert_eq!((takeover.epoch, takeover.next_id), (Epoch(4), 12));
    let chosen = Kept {
        number: 2,
        attempt: attempt(1, 8),
    };
    assert_eq!(takeover.kept, [chosen]);
}

#[test]
fn the_chosen_one_is_to_be_kept_and_whole() {
    let mut newer = record(3, 1, 2);
    newer.kept = Vec::new();
    for (answers, outcome) in [
        (vec![], Outcome::NotKept { number: 2 }),
        (vec![Answer::Unreadable], Outcome::Failed),
        (
            vec![read(record(2, 1, 1)), read(newer)],
            Outcome::NotKept { number: 2 },
        ),
    ] {
        let numbers = match answers.is_empty() {
            true => vec![1, 3],
            false => vec![1, 2, 3],
        };
        let mut protocol = protocol(Base::Record(2));
        let mut all = vec![Answer::Records(numbers), Answer::Attempts(Vec::new())];
        all.extend(answers);
        assert_eq!(answered(&mut protocol, all), Step::Done(outcome));
    }
}

#[test]
fn numbers_end() {
    let exhausted = |number| Step::Done(Outcome::Exhausted { number });
    let mut at_the_end = protocol(Base::Head);
    let answers = vec![
        Answer::Records(vec![u64::MAX]),
        Answer::Attempts(Vec::new()),
        read(record(u64::MAX, 1, 1)),
    ];
    assert_eq!(answered(&mut at_the_end, answers), exhausted(u64::MAX));

    let mut last_epoch = protocol(Base::Head);
    let answers = answers_up_to(3, record(3, u64::MAX, 1));
    assert_eq!(answered(&mut last_epoch, answers), exhausted(3));

    let mut last_id = protocol(Base::Head);
    let mut answers = answers_up_to(3, record(3, 1, 1));
    answers[1] = Answer::Attempts(vec![attempt(1, u64::MAX)]);
    assert_eq!(answered(&mut last_id, answers), exhausted(3));

    // T175: the last id but one can still be committed.
    let mut almost = protocol(Base::Head);
    let mut answers = answers_up_to(3, record(3, 1, u64::MAX - 2));
    answers.extend([Answer::Created, Answer::Records(vec![3, 4])]);
    let committed = Step::Done(Outcome::Committed { number: 4 });
    assert_eq!(answered(&mut almost, answers), committed);
    let step = almost.commit(attempt(2, u64::MAX - 1), 0);
    assert_eq!(created(step).next_id, u64::MAX);
    let _confirm = almost.answer(Answer::Created);
    let _done = almost.answer(Answer::Records(vec![4, 5]));
    assert_eq!(almost.commit(attempt(2, u64::MAX), 0), exhausted(5));
}

#[test]
fn a_head_that_moves_on_all_the_time_is_not_followed_for_ever() {
    let mut protocol = protocol(Base::Head);
    let mut step = protocol.take_over();
    let mut rounds = 0;
    loop {
        step = match step {
            Step::Do(Effect::ListRecords) => {
                rounds += 1;
                protocol.answer(Answer::Records(vec![rounds]))
            }
            Step::Do(Effect::ListAttempts) => protocol.answer(Answer::Attempts(Vec::new())),
            Step::Do(Effect::Read(_)) => protocol.answer(Answer::Absent),
            step => break assert_eq!(step, Step::Done(Outcome::Contended)),
        };
        assert!(rounds < 1000);
    }
    assert!(rounds > 10);
}

#[test]
fn who_took_a_number_that_was_free_again_starts_again() {
    let mut protocol = protocol(Base::Head);
    let mut answers = answers_up_to(3, record(3, 1, 1));
    answers.extend([Answer::Created, Answer::Records(vec![1, 4, 6])]);
    // Whoever wrote 6 took over with 1, and has not seen 4.
    answers.push(read(record(6, 1, 3)));
    let step = answered(&mut protocol, answers);
    assert_eq!(step, Step::Do(Effect::ListRecords));
}

#[test]
fn who_is_taken_over_while_starting_is_fenced() {
    let mut protocol = protocol(Base::Head);
    let mut answers = answers_up_to(3, record(3, 1, 1));
    answers.extend([Answer::Created, Answer::Records(vec![1, 4, 6])]);
    let mut head = record(6, 3, 2);
    head.takeover = 5;
    answers.push(read(head));
    let step = answered(&mut protocol, answers);
    assert_eq!(step, Step::Done(Outcome::Fenced { by: 6 }));
    assert!(protocol.is_fenced());
    assert_eq!(
        protocol.commit(attempt(2, 2), 0),
        Step::Done(Outcome::Fenced { by: 6 })
    );
}

#[test]
fn a_no_after_an_answer_that_did_not_come_is_no_answer() {
    let mut protocol = protocol(Base::Head);
    let mut answers = answers_up_to(3, record(3, 1, 1));
    answers.extend([Answer::Created, Answer::Records(vec![4])]);
    let _taken_over = answered(&mut protocol, answers);
    for (first, outcome) in [
        (None, Outcome::Failed),
        (Some(Answer::Unclear), Outcome::MaybeWritten { number: 5 }),
    ] {
        let mut protocol = protocol.clone();
        let mut step = protocol.commit(attempt(2, 2), 0);
        if let Some(unclear) = first {
            let _read_back = protocol.answer(unclear);
            step = protocol.answer(Answer::Absent);
        }
        assert_eq!(created(step).number, 5);
        assert_eq!(protocol.answer(Answer::Failed), Step::Done(outcome));
    }
}

#[test]
fn who_goes_on_is_fenced_where_the_head_is_anothers() {
    let of = |writer| Record {
        writer,
        ..record(2, 1, 1)
    };
    let writers = Writers::from(OWN).next();
    let own = [OWN, writers.last()];
    let going_on = || Protocol::new("job", writers.clone(), 1, Base::Head);
    let mut left_behind = going_on();
    let step = answered(&mut left_behind, answers_up_to(2, of(OTHER)));
    assert_eq!(step, Step::Done(Outcome::Fenced { by: 2 }));
    assert!(left_behind.is_fenced());
    for own in own {
        let step = answered(&mut going_on(), answers_up_to(2, of(own)));
        assert_eq!(created(step).number, 3);
    }
    // Somebody takes over while it does.
    let mut answers = answers_up_to(2, of(OWN));
    let taken = Record {
        number: 3,
        ..of(OTHER)
    };
    answers.extend([Answer::Taken, read(taken.clone())]);
    answers.extend(answers_up_to(3, taken));
    let step = answered(&mut going_on(), answers);
    assert_eq!(step, Step::Done(Outcome::Fenced { by: 3 }));
}
