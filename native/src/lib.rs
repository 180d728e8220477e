//! The native kernel of simdoc-search: words, hashes of shingles, bucket minima and passage tokens in one pass.
//!
//! The Python code of `simdoc_search.analysis` and `simdoc_search.sketch` is the reference. The kernel must return
//! exactly the same values. Python passes the tables of the word grammar, so this crate does not contain them.

mod hash;
mod passages;
mod phrases;
mod runs;
mod sketch;
mod words;

use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use blake2::digest::consts::U16;
use blake2::{Blake2b, Digest};
use bytemuck::allocation::pod_collect_to_vec;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyByteArray;
use rustc_hash::{FxBuildHasher, FxHashMap};

use hash::{murmur3, PADDING};
use passages::{align, count_shingles, matched_words, Rules, Second};
use phrases::Phrases;
use runs::{Index, ABSENT};
use sketch::{Settings, Sketcher, Sketches};
use words::{Grammar, Normaliser, Words, SPACE};

type Buffer<'py> = Bound<'py, PyByteArray>;

/// The version of the methods of `Kernel`. It must equal `INTERFACE_VERSION` in `simdoc_search.analysis.native`.
const INTERFACE: u32 = 9;

/// Finds the words of texts, computes their fingerprints, and aligns texts. The methods release the GIL.
#[pyclass(frozen)]
struct Kernel {
    grammar: Grammar,
    nfkc_casefold: Normaliser,
    lowercase: Normaliser,
}

#[pymethods]
impl Kernel {
    /// Creates a kernel with the automaton of the word grammar.
    ///
    /// - `symbols`: the symbol of each code point, which is its class of characters
    /// - `joiners`: for each symbol, 1 if its characters are connectors (see `CONNECTORS` in Python), otherwise 0
    /// - `next`: the next state for each state and symbol, one state after the other
    /// - `accepting`: the first accepting state; all later states are accepting, too
    #[new]
    fn new(symbols: &[u8], joiners: &[u8], next: &[u8], accepting: usize) -> PyResult<Self> {
        let grammar = Grammar::new(symbols, joiners, next, accepting).ok_or_else(|| {
            PyValueError::new_err("the tables of the word grammar do not fit together")
        })?;
        Ok(Kernel {
            grammar,
            nfkc_casefold: Normaliser::nfkc_casefold(),
            lowercase: Normaliser::lowercase(),
        })
    }

    /// Returns the normalised words of texts in six buffers: the UTF-16 units of all words (uint16), the start and end
    /// of each word in these units, the number of words of each text, and the start and end of each word in its text,
    /// in code points (int64).
    fn words<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<PyBackedStr>,
        profile: &str,
    ) -> PyResult<[Buffer<'py>; 6]> {
        let normaliser = self.normaliser(profile)?;
        let (words, counts) = py.allow_threads(|| {
            let mut words = Words::default();
            let counts = texts.iter().map(|text| {
                let before = words.starts.len();
                words.add(text, &self.grammar, normaliser);
                (words.starts.len() - before) as i64
            });
            let counts: Vec<i64> = counts.collect();
            (words, counts)
        });
        Ok([
            bytes(py, &words.units),
            bytes(py, &words.starts),
            bytes(py, &words.ends),
            bytes(py, &counts),
            bytes(py, &words.first_points),
            bytes(py, &words.last_points),
        ])
    }

    /// Returns the two halves (uint64) of the MurmurHash3 of each string. A string is the slice of `units` (UTF-16,
    /// uint16) between its values in `starts` and `ends` (int64).
    #[staticmethod]
    fn hashes<'py>(
        py: Python<'py>,
        units: &[u8],
        starts: &[u8],
        ends: &[u8],
    ) -> PyResult<[Buffer<'py>; 2]> {
        let mut units: Vec<u16> = pod_collect_to_vec(units);
        let (starts, ends): (Vec<i64>, Vec<i64>) =
            (pod_collect_to_vec(starts), pod_collect_to_vec(ends));
        let fits =
            |(&start, &end): (&i64, &i64)| 0 <= start && start <= end && end <= units.len() as i64;
        if starts.len() != ends.len() || !starts.iter().zip(&ends).all(fits) {
            return Err(PyValueError::new_err(
                "starts and ends must be places in the units",
            ));
        }
        let (h1, h2): (Vec<u64>, Vec<u64>) = py.allow_threads(|| {
            units.extend([0; PADDING]);
            starts
                .iter()
                .zip(&ends)
                .map(|(&start, &end)| murmur3(&units, start as usize, end as usize))
                .unzip()
        });
        Ok([bytes(py, &h1), bytes(py, &h2)])
    }

    /// Returns an id for each word of all texts (int32), the number of words of each text (int64), and whether each
    /// text has a word that contains a space (uint8). Equal words have equal ids, in all texts.
    #[allow(clippy::type_complexity)]
    fn word_numbers<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<PyBackedStr>,
        profile: &str,
    ) -> PyResult<[Buffer<'py>; 3]> {
        let normaliser = self.normaliser(profile)?;
        let (numbers, counts, has_space) =
            py.allow_threads(|| number_words(&texts, &self.grammar, normaliser));
        Ok([
            bytes(py, &numbers),
            bytes(py, &counts),
            bytes(py, &has_space),
        ])
    }

    /// Returns an `Aligner` that compares a text with others.
    fn aligner(
        slf: Py<Self>,
        py: Python<'_>,
        text: PyBackedStr,
        profile: String,
        min_run: usize,
        is_edited: bool,
        max_gap: i64,
    ) -> PyResult<Aligner> {
        let rules = Rules::new(min_run, is_edited, max_gap)?;
        let kernel = slf.get();
        let normaliser = kernel.normaliser(&profile)?;
        let (classes, index) = py.allow_threads(|| {
            let mut words = Words::default();
            words.add(&text, &kernel.grammar, normaliser);
            let mut classes = FxHashMap::default();
            let of_words = words
                .iter()
                .map(|word| number(&mut classes, Box::from(word)));
            let index = Index::new(of_words.collect());
            (classes, Mutex::new(index))
        });
        Ok(Aligner {
            kernel: slf,
            profile,
            rules,
            classes,
            index,
        })
    }

    /// Returns a `PhraseFinder` for phrases. The words of a phrase are separated by one space.
    fn phrase_finder(
        slf: Py<Self>,
        phrases: Vec<PyBackedStr>,
        profile: String,
    ) -> PyResult<PhraseFinder> {
        slf.get().normaliser(&profile)?;
        Ok(PhraseFinder {
            kernel: slf,
            profile,
            phrases: Phrases::new(&phrases),
        })
    }

    /// Returns the runs of the passages that two texts share (int64, four values per run): the index of the passage,
    /// the first word in `a`, the first word in `b`, and the number of words.
    ///
    /// A text is given as the ids of its words (int32). Equal words have equal ids.
    #[staticmethod]
    fn passages<'py>(
        py: Python<'py>,
        a: &[u8],
        b: &[u8],
        min_run: usize,
        is_edited: bool,
        max_gap: i64,
    ) -> PyResult<Buffer<'py>> {
        let rules = Rules::new(min_run, is_edited, max_gap)?;
        let (a, b): (Vec<i32>, Vec<i32>) = (pod_collect_to_vec(a), pod_collect_to_vec(b));
        let rows = py.allow_threads(|| {
            let mut rows = Vec::new();
            let mut numbers = FxHashMap::default();
            let a = a.iter().map(|word| number(&mut numbers, word)).collect();
            let words = b.iter().map(|word| *numbers.get(word).unwrap_or(&ABSENT));
            let second = Second {
                words: &words.collect::<Vec<_>>(),
                all_classes: &|| {
                    let mut numbers = numbers.clone();
                    b.iter().map(|word| number(&mut numbers, word)).collect()
                },
            };
            let passages = align(&mut Index::new(a), &second, &rules);
            for (index, runs) in passages.into_iter().enumerate() {
                for [i, j, size] in runs {
                    rows.push([index as i64, i, j, size]);
                }
            }
            rows
        });
        Ok(bytes(py, rows.as_flattened()))
    }

    /// Returns six numbers of shingles of `size` words: shared shingles, shingles of `a`, and shingles of `b`. The
    /// first three count every occurrence of a shingle, and the last three count distinct shingles.
    #[staticmethod]
    fn count_shingles(py: Python<'_>, a: &[u8], b: &[u8], size: usize) -> PyResult<[i64; 6]> {
        if size == 0 {
            return Err(PyValueError::new_err("size must be at least 1"));
        }
        let (a, b): (Vec<i32>, Vec<i32>) = (pod_collect_to_vec(a), pod_collect_to_vec(b));
        Ok(py.allow_threads(|| count_shingles(&a, &b, size)))
    }

    /// Returns the fingerprints of texts in nine buffers, and the hash of the words of each text if `words_hash`.
    ///
    /// The buffers are slots (int64), val1 and val2 (uint64), their number per text (int64), the number of distinct
    /// shingles per text (int64), passage token ids (uint32), their number per text (int64), token ids of word pairs
    /// (uint32), and their number per text (int64). The last two are empty without `word_pairs`.
    #[pyo3(signature = (texts, profile, shingle_size, short_texts, buckets, window, words_hash, word_pairs))]
    #[allow(clippy::too_many_arguments, clippy::type_complexity)]
    fn fingerprints<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<PyBackedStr>,
        profile: &str,
        shingle_size: usize,
        short_texts: bool,
        buckets: usize,
        window: usize,
        words_hash: bool,
        word_pairs: bool,
    ) -> PyResult<([Buffer<'py>; 9], Vec<String>)> {
        if shingle_size == 0 || !buckets.is_power_of_two() {
            return Err(PyValueError::new_err(
                "shingle_size must be at least 1, and buckets a power of two",
            ));
        }
        let normaliser = self.normaliser(profile)?;
        let (found, hashes, pairs, pair_counts) = py.allow_threads(|| {
            let mut sketcher = Sketcher::new(Settings {
                shingle_size,
                short_texts,
                buckets,
                window,
            });
            let (mut words, mut found) = (Words::default(), Sketches::default());
            let (mut hashes, mut pairs, mut pair_counts) = (Vec::new(), Vec::new(), Vec::new());
            for text in &texts {
                words.clear();
                words.add(text, &self.grammar, normaliser);
                words.pad();
                sketcher.add(&words, &mut found);
                if words_hash {
                    hashes.push(hex(&Blake2b::<U16>::digest(words.joined())));
                }
                if word_pairs {
                    let codes = words.pair_codes();
                    pair_counts.push(codes.len() as i64);
                    pairs.extend(codes);
                }
            }
            (found, hashes, pairs, pair_counts)
        });
        let buffers = [
            bytes(py, &found.slots),
            bytes(py, &found.val1),
            bytes(py, &found.val2),
            bytes(py, &found.counts),
            bytes(py, &found.shingles),
            bytes(py, &found.passages),
            bytes(py, &found.passage_counts),
            bytes(py, &pairs),
            bytes(py, &pair_counts),
        ];
        Ok((buffers, hashes))
    }
}

/// Compares one text with others. The methods release the GIL.
#[pyclass(frozen)]
struct Aligner {
    kernel: Py<Kernel>,
    profile: String,
    rules: Rules,
    classes: FxHashMap<Box<[u16]>, u32>,
    index: Mutex<Index>,
}

#[pymethods]
impl Aligner {
    /// Compares the text with each other text.
    ///
    /// For each other text, returns whether a shared passage covers each word of the first text (uint8). Also returns
    /// the number of words of each other text (int64).
    fn matched_words<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<PyBackedStr>,
    ) -> PyResult<[Buffer<'py>; 2]> {
        let kernel = self.kernel.get();
        let normaliser = kernel.normaliser(&self.profile)?;
        let (masks, counts) = py.allow_threads(|| {
            let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
            let (mut masks, mut counts) = (Vec::new(), Vec::new());
            let (mut words, mut classes) = (Words::default(), Vec::new());
            for text in &texts {
                words.clear();
                words.add(text, &kernel.grammar, normaliser);
                let class = |word: &[u16]| self.classes.get(word).copied();
                classes.clear();
                classes.extend(words.iter().map(|word| class(word).unwrap_or(ABSENT)));
                let all_classes = || {
                    let mut others = FxHashMap::default();
                    let known = self.classes.len() as u32;
                    let class =
                        |word| class(word).unwrap_or_else(|| known + number(&mut others, word));
                    words.iter().map(class).collect()
                };
                let second = Second {
                    words: &classes,
                    all_classes: &all_classes,
                };
                masks.extend(matched_words(&mut index, &second, &self.rules));
                counts.push(classes.len() as i64);
            }
            (masks, counts)
        });
        Ok([bytes(py, &masks), bytes(py, &counts)])
    }
}

/// Finds phrases in texts. The methods release the GIL.
#[pyclass(frozen)]
struct PhraseFinder {
    kernel: Py<Kernel>,
    profile: String,
    phrases: Phrases,
}

#[pymethods]
impl PhraseFinder {
    /// Returns the indices of the phrases that each text contains, in ascending order.
    fn find(&self, py: Python<'_>, texts: Vec<PyBackedStr>) -> PyResult<Vec<Vec<usize>>> {
        let kernel = self.kernel.get();
        let normaliser = kernel.normaliser(&self.profile)?;
        Ok(py.allow_threads(|| {
            let mut words = Words::default();
            let find = |text: &PyBackedStr| {
                words.clear();
                words.add(text, &kernel.grammar, normaliser);
                self.phrases.find(&words)
            };
            texts.iter().map(find).collect()
        }))
    }
}

impl Kernel {
    fn normaliser(&self, profile: &str) -> PyResult<&Normaliser> {
        match profile {
            "nfkc_cf" => Ok(&self.nfkc_casefold),
            "lowercase" => Ok(&self.lowercase),
            _ => Err(PyValueError::new_err(format!(
                "profile must be 'nfkc_cf' or 'lowercase', not {profile:?}"
            ))),
        }
    }
}

/// Returns the bytes of numbers for numpy, in the byte order of the machine.
fn bytes<'py, T: bytemuck::NoUninit>(py: Python<'py>, values: &[T]) -> Buffer<'py> {
    PyByteArray::new(py, bytemuck::cast_slice(values))
}

/// Returns the number of a key. A new key gets the next number, from 0 on.
fn number<K: Eq + Hash>(numbers: &mut FxHashMap<K, u32>, key: K) -> u32 {
    let next = numbers.len() as u32;
    *numbers.entry(key).or_insert(next)
}

type Numbers = (Vec<i32>, Vec<i64>, Vec<u8>);

/// Returns the id of each word, the number of words of each text, and whether each text has a word that contains a
/// space.
fn number_words(texts: &[PyBackedStr], grammar: &Grammar, normaliser: &Normaliser) -> Numbers {
    let mut words = Words::default();
    let mut has_space = Vec::new();
    let counts = texts.iter().map(|text| {
        let before = words.starts.len();
        words.add(text, grammar, normaliser);
        has_space.push(u8::from(
            (before..words.starts.len()).any(|word| words.word(word).contains(&SPACE)),
        ));
        (words.starts.len() - before) as i64
    });
    let counts: Vec<i64> = counts.collect();
    let mut known = FxHashMap::with_capacity_and_hasher(words.starts.len() / 2, FxBuildHasher);
    let numbers = words.iter().map(|word| number(&mut known, word) as i32);
    (numbers.collect(), counts, has_space)
}

impl Rules {
    fn new(min_run: usize, is_edited: bool, max_gap: i64) -> PyResult<Self> {
        if min_run == 0 || max_gap < 0 {
            return Err(PyValueError::new_err(
                "min_run must be at least 1, and max_gap at least 0",
            ));
        }
        Ok(Rules {
            min_run,
            is_edited,
            max_gap,
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[pymodule]
fn simdoc_search_native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("INTERFACE", INTERFACE)?;
    module.add_class::<Kernel>()
}
