//! T195 and T196: what outlives which end.

use super::*;

#[test]
fn t195_each_policy_keeps_what_it_names_and_nothing_else() {
    use JobEnd::{Cancelled, Failed, Finished};
    let kept =
        |policy: RetentionPolicy| [Finished, Cancelled, Failed].map(|end| policy.retains(end));
    assert_eq!(kept(RetentionPolicy::Never), [false, false, false]);
    assert_eq!(kept(RetentionPolicy::OnFailure), [false, false, true]);
    assert_eq!(kept(RetentionPolicy::OnCancellation), [false, true, true]);
    assert_eq!(kept(RetentionPolicy::Always), [true, true, true]);
}

#[test]
fn t196_a_suspended_job_keeps_all_whatever_the_policy_is() {
    for policy in [
        RetentionPolicy::Never,
        RetentionPolicy::OnFailure,
        RetentionPolicy::OnCancellation,
        RetentionPolicy::Always,
    ] {
        assert!(policy.retains(JobEnd::Suspended), "{policy:?}");
    }
}
