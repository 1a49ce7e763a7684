//! The two-phase commit by itself, and the file sink on disks that fail and lose what was not synced.

mod failing;
mod power_loss;
mod surviving_disk;
mod two_phase_commit;
