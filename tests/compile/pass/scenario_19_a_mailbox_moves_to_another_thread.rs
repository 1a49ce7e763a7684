//! The owner's side of a mailbox may move, whatever its owner is; its letters must be able to.
use mailring::letter::Mail;
use mailring::mailbox::{self, Mailbox};
use std::rc::Rc;

fn main() {
    let (sender, mailbox) = mailbox::bounded::<Rc<u8>, Mail<Rc<u8>>>(4).unwrap();
    sender.post(Mail::new(|_: &mut Rc<u8>| ())).unwrap();
    let owner = std::thread::spawn(move || {
        let mut mailbox: Mailbox<Rc<u8>> = mailbox;
        let taken = mailbox.take().unwrap();
        mailbox.run(taken, &mut Rc::new(1)).unwrap();
        mailbox
    });
    drop(owner.join().unwrap());
}
