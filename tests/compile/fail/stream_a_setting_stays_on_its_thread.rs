//! An operator gives its task's surroundings to a thread, which may have a waker alone.
use mailring::letter::Outcome;
use mailring::stream::{Operator, Output, Record, Setting};

struct Waking;

impl Operator<u32> for Waking {
    type Out = u32;

    fn open(&mut self, setting: &Setting) -> Outcome {
        let setting = setting.clone();
        std::thread::spawn(move || setting.waker().wake());
        Ok(())
    }

    fn process(&mut self, record: Record<u32>, out: &mut impl Output<u32>) -> Outcome {
        out.record(record)
    }
}

fn main() {}
