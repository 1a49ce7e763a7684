//! Letters of odd types: without a size, large and aligned, not shareable.

use crate::kind::Kind;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

on_both_kinds!(
    scenario_20_letters_without_a_size_are_counted,
    scenario_21_large_aligned_letters_arrive_intact,
    scenario_22_and_b13_cells_move_through,
    letters_may_be_functions,
);

fn scenario_20_letters_without_a_size_are_counted<K: Kind>() {
    static DROPPED: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];
    struct Nothing<const KIND: usize>;
    impl<const KIND: usize> Drop for Nothing<KIND> {
        fn drop(&mut self) {
            DROPPED[KIND].fetch_add(1, Relaxed);
        }
    }

    fn run<K: Kind, const KIND: usize>() {
        assert_eq!(size_of::<Nothing<KIND>>(), 0);
        let (producer, mut consumer) = K::bounded(3);
        for _ in 0..10 {
            for _ in 0..3 {
                assert!(producer.try_post(Nothing::<KIND>).is_ok());
            }
            assert!(producer.try_post(Nothing).is_err());
            assert_eq!(consumer.len(), 3);
            assert_eq!(consumer.drain(9, |_, _| {}), 3);
        }
        assert_eq!(DROPPED[KIND].load(Relaxed), 40);
        assert!(producer.try_post(Nothing).is_ok());
        drop(consumer);
        assert_eq!(DROPPED[KIND].load(Relaxed), 41);
    }
    if std::any::TypeId::of::<K>() == std::any::TypeId::of::<crate::kind::Mpsc>() {
        run::<K, 0>();
    } else {
        run::<K, 1>();
    }
}

fn scenario_21_large_aligned_letters_arrive_intact<K: Kind>() {
    #[repr(align(128))]
    struct Page {
        number: u64,
        bytes: [u8; 4096 - 128],
    }
    let (producer, consumer) = K::bounded(3);
    thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..200_u64 {
                let bytes = [number as u8; 4096 - 128];
                assert!(producer.post(Page { number, bytes }).is_ok());
            }
        });
        let mut expected = 0;
        let mut consumer = consumer;
        while let Ok(page) = consumer.take() {
            let address = std::ptr::from_ref(&page) as usize;
            assert_eq!((page.number, address % 128), (expected, 0));
            assert!(page.bytes.iter().all(|&byte| byte == expected as u8));
            expected += 1;
        }
        assert_eq!(expected, 200);
    });
}

fn scenario_22_and_b13_cells_move_through<K: Kind>() {
    let (producer, mut consumer) = K::bounded(4);
    thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..100_u8 {
                producer.post(Cell::new(number)).unwrap();
            }
        });
        for expected in 0..100 {
            let cell = consumer.take().unwrap();
            cell.set(cell.get() + 1);
            assert_eq!(cell.into_inner(), expected + 1);
        }
    });
}

fn letters_may_be_functions<K: Kind>() {
    type Mail = Box<dyn FnOnce(&mut u64) + Send>;
    let (producer, mut consumer) = K::bounded::<Mail>(8);
    for number in 1..=4 {
        let mail: Mail = Box::new(move |sum| *sum += number);
        assert!(producer.try_post(mail).is_ok());
    }
    let mut sum = 0;
    consumer.drain(8, |mail, _| mail(&mut sum));
    assert_eq!(sum, 10);
}

#[test]
fn scenario_23_letters_that_must_not_travel_may_stay_on_one_thread() {
    let (producer, mut consumer) = mailring::ring::mpsc::bounded(2).unwrap();
    let letter = Rc::new(5);
    producer.try_post(Rc::clone(&letter)).unwrap();
    assert_eq!(Rc::strong_count(&letter), 2);
    drop(consumer.try_take());
    assert_eq!(Rc::strong_count(&letter), 1);
}
