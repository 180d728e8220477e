//! Finds runs of equal words in two texts, as `simdoc_search.passages.runs` and `chains` do.
//!
//! A run is an array of its first word in text `a`, its first word in text `b`, and its number of words.

use rustc_hash::{FxBuildHasher, FxHashMap};

pub type Run = [i64; 3];

/// Limits of the search for runs; see `simdoc_search.passages.align`.
pub struct Limits {
    /// Maximum number of words of a window that is searched for.
    pub max_window: usize,
    /// Maximum number of pairs of equal windows: the number of occurrences in `a` times that in `b`. More frequent
    /// windows are not searched for.
    pub max_pairs: u64,
    /// Width of a square in words; `dense_runs` counts the words of runs in a square and its neighbours.
    pub reach: i64,
    pub min_nearby_words: i64,
    pub min_lone_run: i64,
    pub min_run: usize,
}

const MAX_COUNTED_WORDS: i64 = 4;
const MAX_TRIED_POSITIONS: usize = 4;
/// An index keeps all windows of up to this number of words.
const MAX_KEPT_LENGTH: usize = 3;

/// The class of a word or window that only the second text has.
pub const ABSENT: u32 = u32::MAX;

/// The first of two texts, and an index of its windows. It is made once for many second texts.
pub struct Index {
    /// The class of each word. Equal words have equal classes, which are numbered from 0 in order of occurrence.
    pub words: Vec<u32>,
    /// By the number of words of the windows.
    levels: FxHashMap<usize, Level>,
    /// For each diagonal, the end of the last run. All values are 0 between calls.
    ends: Vec<i64>,
}

/// The windows of one length in the first text. Equal windows have equal classes.
struct Level {
    classes: Vec<u32>,
    /// The class of a window, by the classes of its first part and of its last part.
    by_parts: FxHashMap<(u32, u32), u32>,
    /// The positions of all classes, one class after the other, and the start of each class in `order`.
    order: Vec<u32>,
    starts: Vec<u32>,
    /// For each class, its number of windows in the second text. All values are 0 between calls.
    counts: Vec<u32>,
}

impl Level {
    fn new(classes: Vec<u32>, by_parts: FxHashMap<(u32, u32), u32>) -> Self {
        let count = classes.iter().max().map_or(0, |&class| class as usize + 1);
        let mut starts = vec![0; count + 1];
        for &class in &classes {
            starts[class as usize + 1] += 1;
        }
        for index in 0..count {
            starts[index + 1] += starts[index];
        }
        let mut next = starts.clone();
        let mut order = vec![0; classes.len()];
        for (position, &class) in classes.iter().enumerate() {
            order[next[class as usize] as usize] = position as u32;
            next[class as usize] += 1;
        }
        Level {
            classes,
            by_parts,
            order,
            starts,
            counts: vec![0; count],
        }
    }

    /// Returns the positions of a class in the first text, in ascending order.
    fn places(&self, class: u32) -> &[u32] {
        let class = class as usize;
        &self.order[self.starts[class] as usize..self.starts[class + 1] as usize]
    }
}

/// Returns the length of the windows whose pairs are windows of `length` words. It is a power of 2.
fn part_length(length: usize) -> usize {
    length.next_power_of_two() / 2
}

impl Index {
    /// `words` are the classes of the words; see `Index::words`.
    pub fn new(words: Vec<u32>) -> Self {
        let level = Level::new(words.clone(), FxHashMap::default());
        Index {
            words,
            levels: FxHashMap::from_iter([(1, level)]),
            ends: Vec::new(),
        }
    }

    /// Adds the windows of `length` words.
    fn add_level(&mut self, length: usize) {
        if self.levels.contains_key(&length) {
            return;
        }
        let part = part_length(length);
        self.add_level(part);
        if !length.is_power_of_two() && length > MAX_KEPT_LENGTH {
            // The minimum length of a run depends on short second texts, so there may be many such lengths.
            let is_kept = |length: usize| length.is_power_of_two() || length <= MAX_KEPT_LENGTH;
            self.levels.retain(|&length, _| is_kept(length));
        }
        let classes = &self.levels[&part].classes;
        let last_parts = classes.get(length - part..).unwrap_or_default();
        let mut by_parts = FxHashMap::with_capacity_and_hasher(last_parts.len(), FxBuildHasher);
        let classes = classes.iter().zip(last_parts).map(|(&first, &last)| {
            let next = by_parts.len() as u32;
            *by_parts.entry((first, last)).or_insert(next)
        });
        let classes = classes.collect();
        self.levels.insert(length, Level::new(classes, by_parts));
    }
}

/// The windows of `length` words that both texts have: the position in the second text, and the class.
struct Shared {
    length: usize,
    windows: Vec<(u32, u32)>,
}

/// A first and a second text.
pub struct Pair<'a> {
    index: &'a mut Index,
    b: &'a [u32],
    shared: Vec<Shared>,
}

impl<'a> Pair<'a> {
    /// `b` has the class of each word of the second text, which is `ABSENT` if the first text does not have the word.
    pub fn new(index: &'a mut Index, b: &'a [u32]) -> Self {
        let words = b.iter().enumerate();
        let windows = words
            .filter(|(_, &class)| class != ABSENT)
            .map(|(position, &class)| (position as u32, class));
        let words = Shared {
            length: 1,
            windows: windows.collect(),
        };
        Pair {
            index,
            b,
            shared: vec![words],
        }
    }

    /// Finds the shared windows of `length` words. Returns their index in `self.shared`.
    fn find_shared(&mut self, length: usize) -> usize {
        self.index.add_level(length);
        if let Some(known) = self.shared.iter().position(|known| known.length == length) {
            return known;
        }
        let part = part_length(length);
        let parts = self.find_shared(part);
        let parts = self.shared[parts].windows.as_slice();
        let by_parts = &self.index.levels[&length].by_parts;
        let mut windows = Vec::new();
        let mut last_parts = parts.iter().peekable();
        for &(position, first) in parts {
            let last_position = position + (length - part) as u32;
            while last_parts.next_if(|last| last.0 < last_position).is_some() {}
            let last = last_parts.peek().filter(|last| last.0 == last_position);
            if let Some(&class) = last.and_then(|last| by_parts.get(&(first, last.1))) {
                windows.push((position, class));
            }
        }
        self.shared.push(Shared { length, windows });
        self.shared.len() - 1
    }

    /// Returns the runs around rare windows, and runs that cover every shared window of `min_run` words.
    pub fn shared_runs(&mut self, limits: &Limits) -> Vec<Run> {
        let mut runs = Vec::new();
        for length in 1..=limits.max_window {
            self.add_rare_runs(length, limits.max_pairs, &mut runs);
        }
        unique(&mut runs);
        let runs = self.add_covering_runs(dense_runs(runs, limits), limits.min_run);
        self.uncovered_runs(&runs, limits.min_run as i64)
    }

    /// Adds the runs around rare windows of `length` words.
    pub fn add_rare_runs(&mut self, length: usize, max_pairs: u64, runs: &mut Vec<Run>) {
        let shared = self.find_shared(length);
        let shared = &self.shared[shared].windows;
        let Index {
            words,
            levels,
            ends,
        } = &mut *self.index;
        let Some(level) = levels.get_mut(&length) else {
            return;
        };
        for &(_, class) in shared {
            level.counts[class as usize] += 1;
        }
        if ends.len() < words.len() + self.b.len() {
            ends.resize(words.len() + self.b.len(), 0);
        }
        let diagonal = |i: usize, j: usize| words.len() + j - i;
        let first = runs.len();
        for &(j, class) in shared {
            let places = level.places(class);
            if places.len() as u64 * u64::from(level.counts[class as usize]) > max_pairs {
                continue;
            }
            for &i in places {
                let (i, j) = (i as usize, j as usize);
                let end = &mut ends[diagonal(i, j)];
                if i as i64 >= *end {
                    let run = extend(words, self.b, i, j);
                    *end = run[0] + run[2];
                    runs.push(run);
                }
            }
        }
        for &[i, j, _] in &runs[first..] {
            ends[diagonal(i as usize, j as usize)] = 0;
        }
        for &(_, class) in shared {
            level.counts[class as usize] = 0;
        }
    }

    /// Adds runs that cover every shared window of `length` words, in both texts.
    pub fn add_covering_runs(&mut self, mut runs: Vec<Run>, length: usize) -> Vec<Run> {
        let shared = self.find_shared(length);
        let (level, shared) = (&self.index.levels[&length], &self.shared[shared].windows);
        if shared.is_empty() {
            return runs;
        }
        let (a, b) = (self.index.words.as_slice(), self.b);
        let mut by_class: Vec<(u32, u32)> = shared.iter().map(|&(j, class)| (class, j)).collect();
        by_class.sort_unstable();
        let places: Vec<u32> = by_class.iter().map(|&(_, j)| j).collect();
        let (mut starts, mut first) = (Vec::new(), 0);
        for group in by_class.chunk_by(|one, other| one.0 == other.0) {
            let places = &places[first..first + group.len()];
            starts.extend(level.places(group[0].0).iter().map(|&i| (i, places)));
            first += group.len();
        }
        starts.sort_unstable_by_key(|&(i, _)| i);
        let uncovered = uncovered_starts(a, b, &starts, length, &runs);
        runs.extend(uncovered.into_iter().map(|(i, j)| extend(a, b, i, j)));
        unique(&mut runs);
        let swapped: Vec<Run> = runs.iter().map(|&[i, j, size]| [j, i, size]).collect();
        let starts = shared.iter().map(|&(j, class)| (j, level.places(class)));
        let uncovered = uncovered_starts(b, a, &starts.collect::<Vec<_>>(), length, &swapped);
        runs.extend(uncovered.into_iter().map(|(j, i)| extend(a, b, i, j)));
        unique(&mut runs);
        runs
    }

    pub fn uncovered_runs(&self, runs: &[Run], min_long_run: i64) -> Vec<Run> {
        uncovered_runs(runs, self.index.words.len(), self.b.len(), min_long_run)
    }
}

fn equal_after(a: &[u32], b: &[u32], i: usize, j: usize) -> usize {
    a[i..]
        .iter()
        .zip(&b[j..])
        .take_while(|(x, y)| x == y)
        .count()
}

/// Returns the longest run that contains word `i` of `a` and word `j` of `b`.
fn extend(a: &[u32], b: &[u32], i: usize, j: usize) -> Run {
    let before = a[..i].iter().rev().zip(b[..j].iter().rev());
    let before = before.take_while(|(x, y)| x == y).count();
    let size = before + equal_after(a, b, i, j);
    [(i - before) as i64, (j - before) as i64, size as i64]
}

fn unique(runs: &mut Vec<Run>) {
    runs.sort_unstable();
    runs.dedup();
}

/// Returns the runs that are long, or near other runs. `runs` are in ascending order.
fn dense_runs(mut runs: Vec<Run>, limits: &Limits) -> Vec<Run> {
    let squares = runs.iter().map(|&[i, j, size]| {
        let words = size.min(MAX_COUNTED_WORDS);
        (i / limits.reach, (j / limits.reach) as usize, words)
    });
    let squares: Vec<(i64, usize, i64)> = squares.collect();
    let width = squares.iter().map(|square| square.1 + 3).max().unwrap_or(0);
    // For each column of squares, the words of the runs in three rows. Before the first column is an empty one.
    let mut columns = vec![0; width];
    let (mut number, mut first, mut end) = (0, 0, 0);
    runs.retain(|run| {
        let (row, column, _) = squares[number];
        number += 1;
        while squares[first].0 < row - 1 {
            columns[squares[first].1 + 1] -= squares[first].2;
            first += 1;
        }
        while squares.get(end).is_some_and(|square| square.0 <= row + 1) {
            columns[squares[end].1 + 1] += squares[end].2;
            end += 1;
        }
        let nearby: i64 = columns[column..column + 3].iter().sum();
        run[2] >= limits.min_lone_run || nearby >= limits.min_nearby_words
    });
    runs
}

/// Returns starts of runs that cover every shared window of `length` words of `a`. `windows` are the shared windows of
/// `a` in order: the position of each, and its positions in `b`.
fn uncovered_starts(
    a: &[u32],
    b: &[u32],
    windows: &[(u32, &[u32])],
    length: usize,
    known: &[Run],
) -> Vec<(usize, usize)> {
    let mut change = vec![0i32; a.len() + 2 - length];
    for &[i, _, size] in known.iter().filter(|run| run[2] >= length as i64) {
        change[i as usize] += 1;
        change[(i + size) as usize - length + 1] -= 1;
    }
    let (mut covering, mut summed) = (0, 0);
    let is_uncovered = |&&(i, _): &&(u32, &[u32])| {
        covering += change[summed..=i as usize].iter().sum::<i32>();
        summed = i as usize + 1;
        covering == 0
    };
    let order: Vec<(u32, &[u32])> = windows.iter().filter(is_uncovered).copied().collect();
    let mut starts = Vec::new();
    let (mut end, mut other_end, mut index) = (0i64, 0i64, 0);
    while let Some(&(i, places)) = order.get(index) {
        let expected = other_end + (i64::from(i) - end).min(0);
        let next = places.partition_point(|&place| i64::from(place) < expected);
        let next = if next < places.len() { next } else { 0 };
        let tried = &places[next..places.len().min(next + MAX_TRIED_POSITIONS)];
        let (mut best, mut best_size) = (tried[0], 0);
        for &j in tried {
            let size = equal_after(a, b, i as usize, j as usize);
            if size > best_size {
                (best, best_size) = (j, size);
            }
        }
        end = i64::from(i) + best_size as i64;
        other_end = i64::from(best) + best_size as i64;
        starts.push((i as usize, best as usize));
        // Continue with the last window that leaves no gap after this run.
        let after = order.partition_point(|&(position, _)| i64::from(position) <= end);
        index = (index + 1).max(after.saturating_sub(1));
    }
    starts
}

fn uncovered_runs(runs: &[Run], a_len: usize, b_len: usize, min_long_run: i64) -> Vec<Run> {
    let mut by_size: Vec<Run> = runs.to_vec();
    by_size.sort_by_key(|run| -run[2]); // a stable sort keeps runs of the same size in order
    let (mut a_marks, mut b_marks) = (vec![0i32; a_len + 1], vec![0i32; b_len + 1]);
    let (mut a_before, mut b_before) = (vec![0i64; a_len + 2], vec![0i64; b_len + 2]);
    let mut kept: Vec<Run> = Vec::new();
    let mut marked = 0; // number of kept runs that `a_before` and `b_before` include
    for same_size in by_size.chunk_by(|one, other| one[2] == other[2]) {
        let size = same_size[0][2];
        if marked < kept.len() {
            sum_covered(&a_marks, &mut a_before);
            sum_covered(&b_marks, &mut b_before);
            marked = kept.len();
        }
        for run in same_size {
            let [i, j, _] = run.map(|value| value as usize);
            let in_a = a_before[i + size as usize] - a_before[i];
            let in_b = b_before[j + size as usize] - b_before[j];
            let is_covered = if size >= min_long_run {
                in_a.min(in_b) >= size
            } else {
                2 * in_a.max(in_b) >= size
            };
            if !is_covered {
                kept.push(*run);
            }
        }
        for run in &kept[marked..] {
            let [i, j, size] = run.map(|value| value as usize);
            a_marks[i] += 1;
            a_marks[i + size] -= 1;
            b_marks[j] += 1;
            b_marks[j + size] -= 1;
        }
    }
    kept
}

/// Sets `before` to the number of covered words before each word.
fn sum_covered(marks: &[i32], before: &mut [i64]) {
    let (mut depth, mut covered) = (0, 0);
    for (index, mark) in marks.iter().enumerate() {
        depth += mark;
        covered += i64::from(depth > 0);
        before[index + 1] = covered;
    }
}
