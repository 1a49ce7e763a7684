//! Posts by right: letters that always fit because somebody else keeps count of them.
//!
//! R15. There are never more letters by right in the ring than rights it was built for: a right is
//!      spent by the post and is had again only when its letter was taken and its room released. So
//!      the slots beyond the capacity are enough, and a claim by right reads no head.

use super::WeakProducer;
use crate::ring::error::Closed;
use crate::ring::protocol::Claim as _;

impl<T> WeakProducer<T> {
    /// Posts `letter` by right: it always fits.
    ///
    /// # Errors
    /// [`Closed`], with the letter.
    ///
    /// # Safety
    /// The caller has one of the rights the ring was built for, and spends it (R15).
    pub(crate) unsafe fn post_by_right(&self, letter: T) -> Result<(), Closed<T>> {
        match self.ring.claim_reserved() {
            Ok(claim) => claim.publish(letter).map_err(Closed),
            Err(_) => Err(Closed(letter)),
        }
    }
}
