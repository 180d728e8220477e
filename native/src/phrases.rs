//! Finds phrases in texts, as `simdoc_search.stores.local.phrases` does.

use rustc_hash::FxHashMap;

use crate::words::{Words, SPACE};

/// The indices of phrases, by the numbers of their words.
type Indices = FxHashMap<Box<[u32]>, Vec<usize>>;

/// Sequences of words. A space in a normalised word separates two words.
pub struct Phrases {
    numbers: FxHashMap<Box<[u16]>, u32>,
    /// By the number of words of the phrases.
    by_length: Vec<(usize, Indices)>,
}

impl Phrases {
    /// The words of a phrase are separated by one space.
    pub fn new(phrases: &[impl AsRef<str>]) -> Self {
        let mut numbers = FxHashMap::default();
        let mut by_length: FxHashMap<usize, Indices> = FxHashMap::default();
        for (index, phrase) in phrases.iter().enumerate() {
            let units: Vec<u16> = phrase.as_ref().encode_utf16().collect();
            let words = units.split(|&unit| unit == SPACE).map(|word| {
                let next = numbers.len() as u32;
                *numbers.entry(Box::from(word)).or_insert(next)
            });
            let words: Box<[u32]> = words.collect();
            let same_length = by_length.entry(words.len()).or_default();
            same_length.entry(words).or_default().push(index);
        }
        Phrases {
            numbers,
            by_length: by_length.into_iter().collect(),
        }
    }

    /// Returns the indices of the phrases that a text contains, in ascending order.
    pub fn find(&self, words: &Words) -> Vec<usize> {
        let mut found = Vec::new();
        let mut known = Vec::new(); // the numbers of the last successive words that occur in phrases
        for word in words
            .iter()
            .flat_map(|word| word.split(|&unit| unit == SPACE))
        {
            let Some(&number) = self.numbers.get(word) else {
                known.clear();
                continue;
            };
            known.push(number);
            for (length, phrases) in &self.by_length {
                let window = known
                    .len()
                    .checked_sub(*length)
                    .map(|first| &known[first..]);
                found.extend(
                    window
                        .and_then(|window| phrases.get(window))
                        .into_iter()
                        .flatten(),
                );
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}
