//! Both kinds of ring behind one name, so that a scenario is written once.

use mailring::ring::{Consumer, Producer, Ring, mpsc, spsc};
use mailring::wait::{BusySpin, Parking, Spell, SpinHint, Step, WaitStrategy, Yielding};
use std::time::Duration;

pub(crate) trait Kind: 'static {
    type Ring<T: Send>: Ring<Letter = T, ProducerSide: Send, ConsumerSide: Send> + Send + Sync;

    /// A ring whose sides wait as `strategy` says.
    fn waiting<T: Send>(capacity: usize, strategy: Strategy) -> Handles<Self, T>;

    fn bounded<T: Send>(capacity: usize) -> Handles<Self, T> {
        Self::waiting(capacity, Strategy::Parking)
    }
}

/// The two handles of a ring of kind `K`.
pub(crate) type Handles<K, T> = (
    Producer<<K as Kind>::Ring<T>>,
    Consumer<<K as Kind>::Ring<T>>,
);

pub(crate) struct Mpsc;
pub(crate) struct Spsc;
/// As `Spsc`, with a full fence per post instead of `membarrier(2)`.
pub(crate) struct SpscFences;

impl Kind for Mpsc {
    type Ring<T: Send> = mpsc::Ring<T>;

    fn waiting<T: Send>(capacity: usize, strategy: Strategy) -> Handles<Self, T> {
        mpsc::Builder::new(capacity)
            .wait(|| strategy)
            .build()
            .unwrap()
    }
}

impl Kind for Spsc {
    type Ring<T: Send> = spsc::Ring<T>;

    fn waiting<T: Send>(capacity: usize, strategy: Strategy) -> Handles<Self, T> {
        spsc::Builder::new(capacity)
            .wait(|| strategy)
            .build()
            .unwrap()
    }
}

impl Kind for SpscFences {
    type Ring<T: Send> = spsc::Ring<T>;

    fn waiting<T: Send>(capacity: usize, strategy: Strategy) -> Handles<Self, T> {
        spsc::Builder::new(capacity)
            .wait(|| strategy)
            .fences()
            .build()
            .unwrap()
    }
}

/// Every wait strategy there is, and one of a user's own that changes its mind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Strategy {
    BusySpin,
    SpinHint,
    Yielding,
    Parking,
    ParkAtOnce,
    /// Takes turns between looking, spinning, yielding and parking.
    Fickle,
}

impl Strategy {
    pub(crate) const ALL: [Self; 6] = [
        Self::BusySpin,
        Self::SpinHint,
        Self::Yielding,
        Self::Parking,
        Self::ParkAtOnce,
        Self::Fickle,
    ];
}

impl WaitStrategy for Strategy {
    fn step(&self, spell: Spell) -> Step {
        match self {
            Self::BusySpin => BusySpin.step(spell),
            Self::SpinHint => SpinHint.step(spell),
            Self::Yielding => Yielding.step(spell),
            Self::Parking => Parking::default().step(spell),
            Self::ParkAtOnce => Parking::after(Duration::ZERO).step(spell),
            Self::Fickle => match spell.looks % 4 {
                0 => Step::Park,
                1 => Step::Look,
                2 => Step::Spin,
                _ => Step::Yield,
            },
        }
    }
}

/// Makes a test of each kind of ring from a function that is generic over it.
macro_rules! on_both_kinds {
    ($($scenario:ident),* $(,)?) => {$(
        mod $scenario {
            #[test]
            fn mpsc() {
                super::$scenario::<$crate::kind::Mpsc>();
            }

            #[test]
            fn spsc() {
                super::$scenario::<$crate::kind::Spsc>();
            }
        }
    )*};
}
