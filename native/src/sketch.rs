//! Computes the bucket minima and passage token ids of a text from the hashes of its shingles.

use crate::hash::{murmur3, PADDING};
use crate::words::Words;

const MULTIPLIER: u64 = 37;
const PASSAGE_BITS: u32 = 30;

/// The settings of a fingerprint.
#[derive(Clone, Copy)]
pub struct Settings {
    pub shingle_size: usize,
    pub short_texts: bool,
    pub buckets: usize,
    /// Number of successive shingles of which winnowing keeps the smallest hash; 0 for no passage tokens.
    pub window: usize,
}

/// Computes the fingerprints of one text after the other in the same memory.
pub struct Sketcher {
    settings: Settings,
    ones: (u64, u64),
    val1: Vec<u64>,
    distinct: Distinct,
    best: Vec<u128>, // val2 in the upper half, val1 in the lower half,
    filled: Vec<bool>,
    codes: Vec<u32>,
}

/// The fingerprints of a batch of texts, one text after the other. `counts` and `passage_counts` are the numbers of
/// values of each text.
#[derive(Default)]
pub struct Sketches {
    pub slots: Vec<i64>,
    pub val1: Vec<u64>,
    pub val2: Vec<u64>,
    pub counts: Vec<i64>,
    pub shingles: Vec<i64>,
    pub passages: Vec<u32>,
    pub passage_counts: Vec<i64>,
}

impl Sketcher {
    pub fn new(settings: Settings) -> Self {
        Sketcher {
            settings,
            ones: murmur3(&[0; 2 + PADDING], 0, 2), // hash of the index of the only hash function, 0
            val1: Vec::new(),
            distinct: Distinct::default(),
            best: vec![u128::MAX; settings.buckets],
            filled: vec![false; settings.buckets],
            codes: Vec::new(),
        }
    }

    /// Appends the fingerprint of a text with these words.
    pub fn add(&mut self, words: &Words, out: &mut Sketches) {
        let Settings {
            shingle_size,
            short_texts,
            buckets,
            window,
        } = self.settings;
        let count = words.starts.len();
        let shingles = match count {
            0 => 0,
            _ if count >= shingle_size => count - shingle_size + 1,
            _ => short_texts as usize,
        };
        self.filled.fill(false);
        self.best.fill(u128::MAX);
        self.val1.clear();
        self.distinct.clear(shingles);
        let shift = 64 - buckets.trailing_zeros();
        for first in 0..shingles {
            let last = (first + shingle_size).min(count) - 1;
            let (h1, h2) = murmur3(
                &words.units,
                words.starts[first] as usize,
                words.ends[last] as usize,
            );
            self.distinct.insert(h1);
            let val1 = h1.wrapping_mul(MULTIPLIER).wrapping_add(self.ones.0);
            let val2 = h2.wrapping_mul(MULTIPLIER).wrapping_add(self.ones.1);
            let bucket = if buckets == 1 {
                0
            } else {
                (val2 >> shift) as usize
            };
            // Without a branch, because it would be hard to predict.
            self.best[bucket] = self.best[bucket].min((val2 as u128) << 64 | val1 as u128);
            self.filled[bucket] = true;
            if window > 0 {
                self.val1.push(val1);
            }
        }
        let before = out.slots.len();
        for (bucket, &best) in self.best.iter().enumerate() {
            if self.filled[bucket] {
                out.slots.push(bucket as i64);
                out.val1.push(best as u64);
                out.val2.push((best >> 64) as u64);
            }
        }
        out.counts.push((out.slots.len() - before) as i64);
        out.shingles.push(self.distinct.count as i64);
        let before = out.passages.len();
        if window > 0 && shingles > 0 {
            self.winnow(window);
            out.passages.extend(&self.codes);
        }
        out.passage_counts
            .push((out.passages.len() - before) as i64);
    }

    /// Sets `codes` to the passage token ids: the smallest hash of each window, ascending and distinct.
    ///
    /// Source: Schleimer, Wilkerson, Aiken 2003, Winnowing.
    fn winnow(&mut self, window: usize) {
        let codes: Vec<u32> = self
            .val1
            .iter()
            .map(|value| (value >> (64 - PASSAGE_BITS)) as u32)
            .collect();
        self.codes.clear();
        let mut smallest = 0; // last position of the smallest hash of the window
        for end in 0..codes.len() {
            if end >= window && smallest + window <= end {
                let first = smallest + 1;
                smallest = first;
                for place in first..=end {
                    if codes[place] <= codes[smallest] {
                        smallest = place;
                    }
                }
            } else if codes[end] <= codes[smallest] {
                smallest = end;
            }
            if end + 1 >= window.min(codes.len()) && self.codes.last() != Some(&codes[smallest]) {
                self.codes.push(codes[smallest]);
            }
        }
        self.codes.sort_unstable();
        self.codes.dedup();
    }
}

/// A hash table that counts distinct hashes. In `places`, 0 is a free slot, so `has_zero` stands for the hash 0.
#[derive(Default)]
struct Distinct {
    places: Vec<u64>,
    has_zero: bool,
    count: usize,
}

impl Distinct {
    fn clear(&mut self, values: usize) {
        let size = (2 * values).next_power_of_two().max(16);
        self.places.clear();
        self.places.resize(size, 0);
        self.has_zero = false;
        self.count = 0;
    }

    fn insert(&mut self, hash: u64) {
        if hash == 0 {
            self.count += !self.has_zero as usize;
            self.has_zero = true;
            return;
        }
        let mask = self.places.len() - 1;
        let mut place = hash as usize & mask;
        while self.places[place] != 0 {
            if self.places[place] == hash {
                return;
            }
            place = (place + 1) & mask;
        }
        self.places[place] = hash;
        self.count += 1;
    }
}
