//! What travels through the queues: words, of which the first ones carry what is measured.

use std::marker::PhantomData;

/// A letter: plain words, as many as the payload to measure has.
pub trait Letter: Copy + Default + Send + Sync + 'static {
    /// Its size in bytes.
    const BYTES: usize = size_of::<Self>();

    /// The letter that carries `word` in its first word.
    fn new(word: u64) -> Self;

    /// Its first word.
    fn word(&self) -> u64;

    /// The letter that carries two words, if it has so many; else the first alone.
    fn pair(first: u64, second: u64) -> Self;

    /// Its second word, or the first where it has no second.
    fn second_word(&self) -> u64;
}

/// `WORDS` words of 8 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Words<const WORDS: usize>(pub [u64; WORDS]);

impl<const WORDS: usize> Default for Words<WORDS> {
    fn default() -> Self {
        Self([0; WORDS])
    }
}

impl<const WORDS: usize> Letter for Words<WORDS> {
    #[inline]
    fn new(word: u64) -> Self {
        let mut words = [0; WORDS];
        words[0] = word;
        Self(words)
    }

    #[inline]
    fn word(&self) -> u64 {
        self.0[0]
    }

    #[inline]
    fn pair(first: u64, second: u64) -> Self {
        let mut words = [0; WORDS];
        words[WORDS.min(2) - 1] = second;
        words[0] = first;
        Self(words)
    }

    #[inline]
    fn second_word(&self) -> u64 {
        self.0[WORDS.min(2) - 1]
    }
}

/// Consecutive letters that are to be posted under one claim: an iterator that can be looked at
/// without being used up, so that what did not fit is tried again.
#[derive(Clone, Debug)]
pub struct Batch<L> {
    next: u64,
    end: u64,
    letter: PhantomData<L>,
}

impl<L: Letter> Batch<L> {
    /// The letters with the words `first..first + count`.
    #[inline]
    #[must_use]
    pub fn new(first: u64, count: usize) -> Self {
        Self {
            next: first,
            end: first + count as u64,
            letter: PhantomData,
        }
    }

    /// Leaves out the next `count` letters, which have been posted.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        assert!(count <= self.len(), "more was posted than there was");
        self.next += count as u64;
    }

    /// The next letter, which stays.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<L> {
        (self.next < self.end).then(|| L::new(self.next))
    }
}

impl<L: Letter> Iterator for Batch<L> {
    type Item = L;

    #[inline]
    fn next(&mut self) -> Option<L> {
        let letter = self.first()?;
        self.next += 1;
        Some(letter)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.end - self.next) as usize;
        (left, Some(left))
    }
}

impl<L: Letter> ExactSizeIterator for Batch<L> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_gives_its_letters_in_order_and_those_left_out_never() {
        let mut batch = Batch::<Words<7>>::new(5, 4);
        assert_eq!(batch.first().map(|letter| letter.word()), Some(5));
        batch.advance(1);
        assert_eq!(batch.len(), 3);
        let words: Vec<_> = batch.map(|letter| letter.word()).collect();
        assert_eq!(words, [6, 7, 8]);
        assert_eq!(Words::<7>::BYTES, 56);
    }

    #[test]
    fn a_letter_of_two_words_and_more_carries_both() {
        let letter = Words::<2>::pair(3, 4);
        assert_eq!((letter.word(), letter.second_word()), (3, 4));
        let short = Words::<1>::pair(3, 4);
        assert_eq!((short.word(), short.second_word()), (3, 3));
    }

    #[test]
    #[should_panic(expected = "more was posted")]
    fn a_batch_cannot_be_advanced_past_its_end() {
        Batch::<Words<1>>::new(0, 2).advance(3);
    }
}
