//! Consistent snapshots of a job: barriers, the subtask's side, the coordinator, storage, recovery.
