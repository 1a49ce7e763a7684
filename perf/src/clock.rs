//! The clock of all measurements: raw ticks now, nanoseconds after the run.

use std::sync::OnceLock;
use std::time::Instant;

/// A reading of [`Clock::now`]. Readings of different CPUs are compared, so see
/// [`Machine`](crate::machine::Machine) for whether they may be.
pub type Ticks = u64;

/// Reads the CPU's time stamp counter where that runs at a constant rate, else the system's
/// monotone clock, which then is behind the same face.
#[derive(Clone, Debug)]
pub struct Clock {
    quanta: quanta::Clock,
    ticks_per_us: f64,
}

impl Clock {
    /// The clock. The first call takes up to 200 ms to measure the counter's rate.
    #[must_use]
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Clock> = OnceLock::new();
        SHARED.get_or_init(|| {
            let quanta = quanta::Clock::new();
            // The rate for deadlines: how many ticks a microsecond has.
            let ns_per_gibi = quanta.delta_as_nanos(0, 1 << 30);
            Self {
                quanta,
                ticks_per_us: (1u64 << 30) as f64 * 1e3 / ns_per_gibi as f64,
            }
        })
    }

    /// The time in ticks. Not ordered against what the CPU does before and after.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Ticks {
        self.quanta.raw()
    }

    /// The time in ticks, read when all that was loaded before has arrived. To be used for the end
    /// of what waits for a word of another thread: a CPU may read its counter before such a load is
    /// done, and the time would come out too short.
    #[inline]
    #[must_use]
    pub fn now_after_loads(&self) -> Ticks {
        #[cfg(target_arch = "x86_64")]
        #[expect(unsafe_code, reason = "an instruction that all such CPUs have")]
        // SAFETY: the fence needs SSE2, which is part of x86_64.
        unsafe {
            std::arch::x86_64::_mm_lfence();
        }
        self.now()
    }

    /// Ticks in nanoseconds.
    #[inline]
    #[must_use]
    pub fn ns(&self, ticks: Ticks) -> u64 {
        self.quanta.delta_as_nanos(0, ticks)
    }

    /// Nanoseconds in ticks, with fractions.
    #[must_use]
    pub fn ticks(&self, ns: f64) -> f64 {
        ns * self.ticks_per_us / 1e3
    }

    /// Whether the ticks are those of the CPU's counter.
    #[must_use]
    pub fn is_tsc(&self) -> bool {
        // The system clock's ticks are nanoseconds as they are; a counter's rate is measured and,
        // even if it is near that, not the very same.
        const TICKS: Ticks = 1 << 40;
        self.ns(TICKS) != TICKS
    }

    /// What one reading costs, in nanoseconds.
    #[must_use]
    pub fn cost_ns(&self) -> f64 {
        const READINGS: u32 = 10_000;
        let start = Instant::now();
        for _ in 0..READINGS {
            std::hint::black_box(self.now());
        }
        start.elapsed().as_nanos() as f64 / f64::from(READINGS)
    }
}
