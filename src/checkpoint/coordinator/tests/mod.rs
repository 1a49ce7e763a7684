//! The coordinator on a time that tests set: scenarios by number, and random inputs against what must
//! always hold.
//!
//! What has gone wrong in other coordinators, storages and restores, by the numbers of the reference, and
//! why it does not here:
//!
//! | bug | what there is against it |
//! |---|---|
//! | K12, K21, K52: a task is told of a checkpoint that does not run yet, or not any more | the plan asks each task's status, T131, T158, T180; who cannot be told ends the checkpoint, T142, T143 |
//! | K14, K51: failures are not counted, or by another reason | one table of reasons, T155, and `k51` |
//! | K20, K43, K44: a wait that nobody ends | T127, T192, and jobs that are stepped at random, T165 |
//! | K22: begun, and for ever | C2: it is seen from the pending ones; T144, T145, T149 |
//! | K23: one who cannot be told keeps others from being told | telling is an effect for each, and no effect fails |
//! | K36: a promise is kept before the store has it | C5 is asserted; T156 |
//! | K38: more at once than are allowed | asserted behind each input; T139 |
//! | K45, K47: deletes hold up a task, or are overtaken by what there is to delete | they are effects that are carried out beside; they count, T163 |
//! | K48: a file of another attempt is taken for one's own | directories name the epoch (`storage/names.rs`); no file is shared by checkpoints |
//! | K49: what may be written is deleted | `Ended::Kept`; T152, and `k49` |
//! | K50: a broken entry is skipped | B65, T157, T167 in `tests/checkpoint_storage` |
//! | 5962: timers of what has ended stay | there is one, at the earliest deadline of what is pending |
//! | 13256, 20992, 34519: the schedule is stopped and started in several places | one place each, `suspend` and `job_running`; T149, T150, B63 |
//! | 15922: late answers are not told from unknown ones | T132, T138 |
//! | 21080: a union list with some who have finished | no state is dealt out to all |
//! | 27162: a request is decided on by another thread | the coordinator is one owner's, behind its mailbox |
//!
//! Not here, for want of what they are about: T133, of state that checkpoints share; T151, of claims; T153,
//! T162 and T194, of savepoints in files; T159 as far as it is about union lists; T161, of events of
//! operators' coordinators.

mod attempts;
mod edges;
mod ends;
mod failures;
mod random;
mod requests;
mod restored;
mod rig;
mod stages;
mod telling;
mod world;
