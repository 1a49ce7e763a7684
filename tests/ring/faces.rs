//! What the public types promise as types: threads, printing, errors.

use mailring::ring::{
    BatchError, Budget, Buffered, CapacityError, Closed, Counters, IntoIter, Iter, PostFuture,
    PostTimeoutError, Refusal, TakeFuture, TakeTimeoutError, TryIter, TryPostError, TryTakeError,
    Undelivered, Waited, mpsc, spsc,
};
use mailring::wait::{BusySpin, Parking, Spell, SpinHint, Step, Yielding};
use mailring::{Cpus, ManualClock, SystemClock};
use std::cell::Cell;
use std::error::Error;
use std::fmt::Debug;
use std::rc::Rc;

fn is_send<T: Send>() {}
fn is_sync<T: Sync>() {}
fn is_error<T: Error + Send + Sync + 'static>() {}
fn is_clone<T: Clone>() {}

/// A letter that may travel and must not be shared.
type Solitary = Cell<u8>;

#[test]
fn scenario_22_handles_of_letters_that_may_travel() {
    is_send::<mpsc::Producer<Solitary>>();
    is_sync::<mpsc::Producer<Solitary>>();
    is_clone::<mpsc::Producer<Solitary>>();
    is_send::<mpsc::WeakProducer<Solitary>>();
    is_sync::<mpsc::WeakProducer<Solitary>>();
    is_clone::<mpsc::WeakProducer<Solitary>>();
    is_send::<mpsc::Reservation<Solitary>>();
    is_sync::<mpsc::Reservation<Solitary>>();
    is_send::<mpsc::Consumer<Solitary>>();
    is_send::<spsc::Producer<Solitary>>();
    is_send::<spsc::Consumer<Solitary>>();
    is_send::<Undelivered<mpsc::Ring<Solitary>>>();
    is_send::<IntoIter<spsc::Ring<Solitary>>>();
    is_send::<Iter<'_, mpsc::Ring<Solitary>>>();
    is_send::<TryIter<'_, mpsc::Ring<Solitary>>>();
    is_send::<PostFuture<'_, mpsc::Ring<Solitary>>>();
    is_send::<TakeFuture<'_, mpsc::Ring<Solitary>>>();
    is_send::<TakeFuture<'_, spsc::Ring<Solitary>>>();
    is_send::<mpsc::Builder>();
    is_send::<spsc::Builder>();
}

/// Fails to compile where a type has the trait: both impls apply then, and the call is ambiguous.
macro_rules! is_not {
    ($type:ty: $trait:path) => {{
        trait Ambiguous<A> {
            fn here() {}
        }
        impl<T: ?Sized> Ambiguous<()> for T {}
        struct Has;
        impl<T: ?Sized + $trait> Ambiguous<Has> for T {}
        <$type as Ambiguous<_>>::here();
    }};
}

#[test]
fn scenario_23_and_b13_handles_of_letters_that_must_not_travel() {
    is_not!(mpsc::Producer<Rc<u8>>: Send);
    is_not!(mpsc::Producer<Rc<u8>>: Sync);
    is_not!(mpsc::WeakProducer<Rc<u8>>: Send);
    is_not!(mpsc::Reservation<Rc<u8>>: Send);
    is_not!(mpsc::Consumer<Rc<u8>>: Send);
    is_not!(spsc::Producer<Rc<u8>>: Send);
    is_not!(spsc::Consumer<Rc<u8>>: Send);
    is_not!(Undelivered<mpsc::Ring<Rc<u8>>>: Send);
}

#[test]
fn b73_there_is_one_of_each_and_it_is_not_shared() {
    is_not!(spsc::Producer<u8>: Clone);
    is_not!(spsc::Producer<u8>: Sync);
    is_not!(spsc::Consumer<u8>: Clone);
    is_not!(spsc::Consumer<u8>: Sync);
    is_not!(mpsc::Consumer<u8>: Clone);
}

#[test]
fn b72_errors_print_a_plain_sentence() {
    is_error::<Closed<u8>>();
    is_error::<TryPostError<u8>>();
    is_error::<PostTimeoutError<u8>>();
    is_error::<TryTakeError>();
    is_error::<TakeTimeoutError>();
    is_error::<CapacityError>();
    is_error::<BatchError<std::vec::IntoIter<u8>>>();
    let rest = Vec::<u8>::new().into_iter();
    let errors: [Box<dyn Error>; 11] = [
        Box::new(Closed(1)),
        Box::new(TryPostError::Full(1)),
        Box::new(TryPostError::Closed(1)),
        Box::new(PostTimeoutError::Timeout(1)),
        Box::new(PostTimeoutError::Closed(1)),
        Box::new(TryTakeError::Empty),
        Box::new(TryTakeError::Closed),
        Box::new(TakeTimeoutError::Timeout),
        Box::new(TakeTimeoutError::Closed),
        Box::new(CapacityError::Zero),
        Box::new(BatchError {
            posted: 3,
            rest,
            reason: Refusal::Full,
        }),
    ];
    for error in errors {
        let sentence = error.to_string();
        assert!(
            sentence.contains("ring") || sentence.contains("letter"),
            "{sentence}"
        );
        assert!(
            sentence.contains(' ') && !sentence.contains("(.."),
            "{sentence}"
        );
    }
}

#[test]
fn errors_do_not_ask_their_letters_to_print() {
    struct Silent;
    assert_eq!(format!("{:?}", TryPostError::Full(Silent)), "Full(..)");
    assert_eq!(format!("{}", Closed(Silent)), "the ring is closed");
}

#[test]
fn every_public_type_prints() {
    struct Silent;
    fn prints<T: Debug>(value: T) {
        assert!(!format!("{value:?}").is_empty());
    }
    let (producer, mut consumer) = mpsc::Builder::new(4).reserved(1).build::<Silent>().unwrap();
    prints(mpsc::Builder::new(4));
    prints(spsc::Builder::new(4));
    prints(&producer);
    prints(producer.downgrade());
    prints(producer.reservation(0));
    prints(producer.counters());
    prints(&consumer);
    prints(consumer.iter());
    prints(consumer.try_iter());
    prints(consumer.take_async());
    prints(consumer.into_iter());
    let (_producer, consumer) = spsc::bounded::<Silent>(4).unwrap();
    prints(&_producer);
    prints(consumer.close());
    let (producer, consumer) = mpsc::bounded::<u8>(1).unwrap();
    prints(producer.post_async(1));
    prints(producer.try_post_batch(0..3).unwrap_err().rest);
    prints(consumer);
    prints((
        Budget::letters(1),
        Waited::Kicked,
        Refusal::Full,
        Counters::default(),
    ));
    prints((mpsc::Rest::Look, mpsc::ReservedPost::AlreadyPending(1)));
    prints((BusySpin, SpinHint, Yielding, Parking::default()));
    prints((Step::Look, Spell::first(true)));
    prints((Cpus::allowed(), ManualClock::new(), SystemClock));
    fn name_is_enough<T: Debug>() {}
    name_is_enough::<Buffered<std::iter::Empty<Silent>>>();
}
