//! Questions to a task: a thread waits for the answer, a task gets it as a letter.
//!
//! A task never waits for another: it would hold up all tasks of its thread, and for a task of its
//! own thread it would wait for ever, which is refused. So its question is a letter that posts the
//! answer back.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use mailring::letter::BoxError;
use mailring::task::{Engine, Shutdown, TaskHandle};

/// How many there are of each ware.
type Stock = BTreeMap<&'static str, u32>;

/// What sells wares, and has none.
struct Till {
    me: TaskHandle<Till>,
    stock: TaskHandle<Stock>,
    sold: mpsc::Sender<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    // On one thread, to show that this is no matter.
    let engine = Engine::builder().threads(1).build()?;
    let stock = engine.spawn("stock", |_cx| Stock::from([("bolts", 40), ("nuts", 12)]))?;

    // From this thread, and from another: a handle is for any of them.
    let bolts = stock.ask(|stock| stock["bolts"])?.wait()?;
    println!("a thread asks, and waits: {bolts} bolts");
    let asking = stock.clone();
    let other = thread::spawn(move || asking.ask(|stock| stock["nuts"]));
    let nuts = other.join().expect("asking does not panic")?.wait()?;
    println!("another asks, and hands the answer on: {nuts} nuts");

    // From a task, whose answer is a letter to it.
    let (sold, told) = mpsc::channel();
    let till = {
        let stock = stock.clone();
        engine.spawn("till", move |cx| Till {
            me: cx.handle(),
            stock,
            sold,
        })?
    };
    for (ware, count) in [("nuts", 10), ("nuts", 10), ("screws", 1)] {
        till.post(move |till| till.sell(ware, count))?;
    }
    for line in told.iter().take(3) {
        println!("a task asks, and goes on: {line}");
    }

    // What would wait for itself is told so, and does not hang.
    let refused = till.ask(|till| {
        till.stock
            .ask(|stock| stock.len())
            .map(|asked| asked.wait())
    })?;
    match refused.wait()? {
        Ok(Err(refused)) => println!("a task that would wait: {refused}"),
        other => unreachable!("{other:?}"),
    }
    let report = engine.shutdown(Shutdown::drain_within(Duration::from_secs(5)))?;
    println!("{report}");
    Ok(())
}

impl Till {
    /// Asks for `count` of `ware`; `answer` comes when the stock has got to it.
    fn sell(&mut self, ware: &'static str, count: u32) -> Result<(), BoxError> {
        let me = self.me.clone();
        self.stock.post(move |stock| {
            let there = stock.get_mut(ware).filter(|there| **there >= count);
            let left = there.map(|there| {
                *there -= count;
                *there
            });
            me.post(move |till| till.answer(ware, count, left))
        })?;
        Ok(())
    }

    fn answer(&mut self, ware: &str, count: u32, left: Option<u32>) -> Result<(), BoxError> {
        let line = match left {
            Some(left) => format!("{count} {ware} sold, {left} left"),
            None => format!("{count} {ware}: not so many there"),
        };
        Ok(self.sold.send(line)?)
    }
}
