//! The one owner's side of a mailbox is borrowed by two threads that both take.
use mailring::letter::Mail;
use mailring::mailbox;

fn main() {
    let (_sender, mut mailbox) = mailbox::bounded::<u8, Mail<u8>>(4).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| mailbox.take().is_ok());
        scope.spawn(|| mailbox.take().is_ok());
    });
}
