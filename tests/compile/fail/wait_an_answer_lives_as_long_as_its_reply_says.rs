//! A short borrow sent to a reply that promises a long one.
use mailring::wait::{Answer, reply};

fn send<'a>(answer: Answer<&'a str>, value: &'a str) {
    let _ = answer.send(value);
}

fn main() {
    let (answer, reply) = reply::<&'static str>();
    let short = String::from("short");
    send(answer, &short);
    println!("{:?}", reply.wait());
}
