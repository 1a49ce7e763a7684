//! A closure over `&mut O` behind a table of functions: in place when it is small, boxed otherwise.
//!
//! A1. `captures` holds one value of the very type that `table` was made for, from `Stored::new`
//!     until `Action::run` or `drop` takes it from there. Either spends the `Stored`, so the value
//!     is handed on or dropped once, also if a panic comes of it.
//! A2. That type fits `Captures` in size and alignment, and is `Send` and `'static`. Like every
//!     value of Rust it moves as bytes.
//! A3. `Action<O>` is made only by `Action::new`, whose table casts the owner back to this `O`, and
//!     is invariant in `O`.
//! A4. Nothing reaches the captures through a shared reference. So an `Action` is `Send` since by
//!     A2 they are, and `Sync` even where they are not; the compiler derives both, for all it sees
//!     are bytes and functions.

use core::any::type_name;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit, align_of, size_of};

use super::Describe;
use super::outcome::{IntoOutcome, Outcome};

/// The bytes that closures are stored in.
pub(super) const INLINE_BYTES: usize = 40;

/// How many words that is. Words one by one, so that those without a capture are never written.
const WORDS: usize = INLINE_BYTES / size_of::<u64>();

/// Room for a value: any bytes, initialised or not.
#[repr(C, align(8))]
struct Captures([MaybeUninit<u64>; WORDS]);

/// Whether an `A` fits in place.
pub(super) const fn fits<A>() -> bool {
    size_of::<A>() <= size_of::<Captures>() && align_of::<A>() <= align_of::<Captures>()
}

/// What can be done with one type of closure; one for each.
struct Table {
    /// Reads the closure out of the captures, and calls it with the owner.
    run: unsafe fn(*mut Captures, *mut ()) -> Outcome,
    /// Drops the closure where it is.
    drop: unsafe fn(*mut Captures),
    /// What the closure's type is called.
    description: fn() -> &'static str,
    /// Whether the captures are the closure's own, not a box's.
    is_inline: bool,
}

/// A value and its table; which owner the value wants is known to [`Action`].
///
/// `Drop` is here and not on `Action`, so that an action may outlive what its owner borrows.
struct Stored {
    captures: Captures,
    table: &'static Table,
}

/// Something to do with an `O`, once: an `FnOnce(&mut O)` of any type.
pub(super) struct Action<O> {
    stored: Stored,
    owner: PhantomData<fn(&mut O)>,
}

/// Reads an `A` out of `captures` and calls it with `owner`.
///
/// # Safety
/// `captures` holds an `A`, which is moved out of there; `owner` is a `&mut O`.
unsafe fn run<O, A, R>(captures: *mut Captures, owner: *mut ()) -> Outcome
where
    A: FnOnce(&mut O) -> R,
    R: IntoOutcome,
{
    // SAFETY: by A1 and A2 there is an aligned `A`, and by the caller it is ours from here on.
    let action = unsafe { captures.cast::<A>().read() };
    // SAFETY: by A3 and the caller this is the `&mut O` it was made of.
    let owner = unsafe { &mut *owner.cast::<O>() };
    action(owner).into_outcome()
}

/// Drops the `A` in `captures`.
///
/// # Safety
/// `captures` holds an `A`, which is not used any more.
unsafe fn drop<A>(captures: *mut Captures) {
    // SAFETY: by A1 and A2 there is an aligned `A`, and by the caller it is ours to drop.
    unsafe { captures.cast::<A>().drop_in_place() }
}

impl Stored {
    #[inline(always)]
    fn new<A>(value: A, table: &'static Table) -> Self {
        assert!(const { fits::<A>() }, "stored in place without room");
        let mut captures = Captures([const { MaybeUninit::uninit() }; WORDS]);
        // SAFETY: by the assertion it fits as A2 says; here A1 begins.
        unsafe { (&raw mut captures).cast::<A>().write(value) };
        Self { captures, table }
    }
}

impl Drop for Stored {
    fn drop(&mut self) {
        // SAFETY: by A1 the captures hold what the table is for, and they end here.
        unsafe { (self.table.drop)(&raw mut self.captures) }
    }
}

impl<O> Action<O> {
    /// `action`, in place if it fits.
    #[inline(always)]
    pub(super) fn new<F, R>(action: F) -> Self
    where
        F: FnOnce(&mut O) -> R + Send + 'static,
        R: IntoOutcome,
    {
        let stored = if const { fits::<F>() } {
            Stored::new(action, Self::table::<F, F, R>())
        } else {
            Stored::new(Box::new(action), Self::table::<Box<F>, F, R>())
        };
        Self {
            stored,
            owner: PhantomData,
        }
    }

    /// The table of the closure `F` that is stored as an `A`: as itself, or as a box of itself.
    const fn table<A, F, R>() -> &'static Table
    where
        A: FnOnce(&mut O) -> R,
        R: IntoOutcome,
    {
        const {
            &Table {
                run: run::<O, A, R>,
                drop: drop::<A>,
                description: type_name::<F>,
                is_inline: fits::<F>(),
            }
        }
    }

    /// Calls it; however it ends, its captures are gone.
    #[inline(always)]
    pub(super) fn run(self, owner: &mut O) -> Outcome {
        let mut stored = ManuallyDrop::new(self.stored);
        let owner = (&raw mut *owner).cast();
        // SAFETY: by A1 the captures hold what the table is for, and are not dropped again; by A3
        // the table is for this type of owner.
        unsafe { (stored.table.run)(&raw mut stored.captures, owner) }
    }

    /// Calls it where it lies; its captures are moved out before anything else.
    ///
    /// # Safety
    /// `place` holds an action, which nobody uses afterwards.
    #[inline(always)]
    pub(super) unsafe fn run_in_place(place: *mut Self, owner: &mut O) -> Outcome {
        let owner = (&raw mut *owner).cast();
        // SAFETY: by A1 the captures hold what the table is for, and by the caller they are not
        // dropped again; by A3 the table is for this type of owner.
        unsafe { ((*place).stored.table.run)(&raw mut (*place).stored.captures, owner) }
    }

    /// What its type is called.
    #[inline]
    pub(super) fn description(&self) -> &'static str {
        (self.stored.table.description)()
    }

    /// What its type is called, when somebody reads it.
    #[inline]
    pub(super) fn describe(&self) -> Describe {
        Describe::Ask(self.stored.table.description)
    }

    /// Whether it is stored in place.
    #[inline]
    pub(super) fn is_inline(&self) -> bool {
        self.stored.table.is_inline
    }
}
