//! A run's report as one page for a browser, which loads nothing from elsewhere.

mod charts;
mod figures;
mod flags;
mod group;
mod heat;
mod numbers;
mod page;
mod palette;
#[cfg(test)]
mod sample;
mod sections;
#[cfg(test)]
mod tests;

pub use page::page;
