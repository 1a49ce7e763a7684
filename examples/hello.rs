//! One owner of a number: another thread has it add, and asks for the sum.

use mailring::processor::MailboxProcessor;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut processor = MailboxProcessor::new(0)?;
    let executor = processor.executor();
    let owner = std::thread::spawn(move || processor.run());
    for number in 1..=100 {
        executor.execute(move |sum| *sum += number)?;
    }
    println!("the sum is {}", executor.ask(|sum| *sum)?.wait()?);
    executor.all_done();
    println!("the owner is done: {:?}", owner.join().unwrap()?);
    Ok(())
}
