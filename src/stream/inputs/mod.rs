//! The inputs of a task: one, two or many, and what is the same for all of them.

mod head;
mod intake;
mod many;
mod operator;
mod order;
mod processor;
mod selection;
#[cfg(test)]
mod tests;
mod two;

pub use many::{FromInput, MultipleInputOperator};
pub use operator::TwoInputOperator;
pub use order::{InputLeftOut, NothingSelected};
pub use selection::{InputSelection, TooManyInputs};

pub(crate) use intake::{Intake, Taken};
pub(crate) use many::ManyInputs;
pub(crate) use operator::Sided;
pub(crate) use processor::MultipleInputProcessor;
pub(crate) use two::TwoInputs;
