//! Where threads are started: nowhere else in the crate.

#[cfg(all(mailring_loom, not(mailring_shuttle)))]
use loom::thread;
#[cfg(mailring_shuttle)]
use shuttle::thread;
use std::io;
#[cfg(not(mailring_loom))]
use std::thread;

pub(crate) use thread::JoinHandle;

/// Starts a thread called `name`. The system shows the first 15 bytes of it.
///
/// # Errors
/// The system's, where it has no thread left to give; or `InvalidInput`, where the name has a zero
/// byte in it, which no system could show.
pub(crate) fn spawn_named<T: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    if name.contains('\0') {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a thread's name has no zero byte",
        ));
    }
    thread::Builder::new().name(name.to_owned()).spawn(run)
}

#[cfg(all(test, not(mailring_loom)))]
mod tests {
    use super::spawn_named;
    use std::io::ErrorKind;

    #[test]
    fn a_thread_has_its_name() {
        let name = || std::thread::current().name().map(str::to_owned);
        let thread = spawn_named("reader-0", name).unwrap();
        assert_eq!(thread.join().unwrap().as_deref(), Some("reader-0"));
    }

    #[test]
    fn a_name_with_a_zero_byte_is_an_error() {
        let refused = spawn_named("reader\0", || ()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    }
}
