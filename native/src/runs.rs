//! Finds runs of equal words in two texts, as `simdoc_search.passages.runs` and `chains` do.
//!
//! A run is an array of its first word in text `a`, its first word in text `b`, and its number of words.

use std::borrow::Cow;
use std::hash::Hash;

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

/// Returns the runs around rare windows, and runs that cover every shared window of `min_run` words.
pub fn shared_runs(a: &[i32], b: &[i32], limits: &Limits) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut windows = Windows::shared(a, b);
    for length in 1..=limits.max_window {
        let classes = windows.classes(length);
        runs.extend(rare_runs(a, b, &classes, limits.max_pairs));
    }
    unique(&mut runs);
    let runs = dense_runs(runs, limits);
    let runs = add_covering_runs(a, b, &windows.classes(limits.min_run), runs, limits.min_run);
    uncovered_runs(&runs, a.len(), b.len(), limits.min_run as i64)
}

pub type Classes = (Vec<u32>, Vec<u32>);

/// The classes of windows in both texts. Equal windows have the same class.
pub struct Windows {
    /// The classes of windows of 1, 2, 4, ... words.
    levels: Vec<Classes>,
    /// Whether all windows that only one text has share one class: `ONLY_A` or `ONLY_B`.
    shared_only: bool,
}

const ONLY_A: u32 = 0;
const ONLY_B: u32 = 1;

impl Windows {
    pub fn of(a: &[i32], b: &[i32]) -> Self {
        let level = number(a.iter().copied(), b.iter().copied());
        Windows {
            levels: vec![level],
            shared_only: false,
        }
    }

    /// Computes classes for shared windows only. All windows that only one text has share one class, which is much
    /// faster. The ids of the words of `a` must be less than its number of words.
    pub fn shared(a: &[i32], b: &[i32]) -> Self {
        let (mut is_in_a, mut is_in_b) = (vec![false; a.len()], vec![false; a.len()]);
        for &word in a {
            is_in_a[word as usize] = true;
        }
        for &word in b {
            if let Some(is_in_b) = is_in_b.get_mut(word as usize) {
                *is_in_b = true;
            }
        }
        let classes = |words: &[i32], is_in_other: &[bool], only: u32| {
            let class = |&word: &i32| match is_in_other.get(word as usize) {
                Some(true) => word as u32 + ONLY_B + 1,
                _ => only,
            };
            words.iter().map(class).collect()
        };
        let level = (classes(a, &is_in_b, ONLY_A), classes(b, &is_in_a, ONLY_B));
        Windows {
            levels: vec![level],
            shared_only: true,
        }
    }

    /// Returns the class of the window of `length` words that begins at each word of `a` and of `b`.
    pub fn classes(&mut self, length: usize) -> Cow<'_, Classes> {
        let level = length.ilog2() as usize;
        while self.levels.len() <= level {
            let shift = 1 << (self.levels.len() - 1);
            self.levels
                .push(self.lengthen(self.levels.last().unwrap(), shift));
        }
        match length - (1 << level) {
            0 => Cow::Borrowed(&self.levels[level]),
            shift => Cow::Owned(self.lengthen(&self.levels[level], shift)),
        }
    }

    /// Returns the classes of windows that are `shift` words longer.
    fn lengthen(&self, (a, b): &Classes, shift: usize) -> Classes {
        fn pairs(classes: &[u32], shift: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
            let second = classes.get(shift..).unwrap_or_default();
            classes.iter().copied().zip(second.iter().copied())
        }
        let (a, b) = (pairs(a, shift), pairs(b, shift));
        if self.shared_only {
            let may_be_shared = |pair: (u32, u32)| (pair.0.min(pair.1) > ONLY_B).then_some(pair);
            number_shared(a.map(may_be_shared), b.map(may_be_shared))
        } else {
            number(a, b)
        }
    }
}

fn number<T: Hash + Eq>(a: impl Iterator<Item = T>, b: impl Iterator<Item = T>) -> Classes {
    let size = a.size_hint().0 + b.size_hint().0;
    let mut numbers = FxHashMap::with_capacity_and_hasher(size, FxBuildHasher);
    let mut class = |window| {
        let next = numbers.len() as u32;
        *numbers.entry(window).or_insert(next)
    };
    (a.map(&mut class).collect(), b.map(&mut class).collect())
}

/// Like `number`, but a window that only one text has gets the class `ONLY_A` or `ONLY_B`. A window that is None is
/// known to be in only one text.
fn number_shared<T: Hash + Eq>(
    a: impl Iterator<Item = Option<T>>,
    b: impl Iterator<Item = Option<T>>,
) -> Classes {
    let mut numbers = FxHashMap::with_capacity_and_hasher(b.size_hint().0, FxBuildHasher);
    let mut b_classes: Vec<u32> = b
        .map(|window| {
            let next = numbers.len() as u32 + ONLY_B + 1;
            window.map_or(ONLY_B, |window| *numbers.entry(window).or_insert(next))
        })
        .collect();
    let mut is_in_a = vec![false; numbers.len() + ONLY_B as usize + 1];
    let a_classes = a
        .map(|window| {
            let class = window.and_then(|window| numbers.get(&window));
            class.map_or(ONLY_A, |&class| {
                is_in_a[class as usize] = true;
                class
            })
        })
        .collect();
    for class in &mut b_classes {
        if !is_in_a[*class as usize] {
            *class = ONLY_B;
        }
    }
    (a_classes, b_classes)
}

/// The positions of each class, in ascending order.
struct Positions {
    starts: Vec<usize>,
    order: Vec<usize>,
}

impl Positions {
    fn of(classes: &[u32], count: usize) -> Self {
        let mut starts = vec![0; count + 1];
        for &class in classes {
            starts[class as usize + 1] += 1;
        }
        for index in 0..count {
            starts[index + 1] += starts[index];
        }
        let mut next = starts.clone();
        let mut order = vec![0; classes.len()];
        for (position, &class) in classes.iter().enumerate() {
            order[next[class as usize]] = position;
            next[class as usize] += 1;
        }
        Positions { starts, order }
    }

    fn get(&self, class: u32) -> &[usize] {
        &self.order[self.starts[class as usize]..self.starts[class as usize + 1]]
    }
}

pub fn count_classes(a: &[u32], b: &[u32]) -> usize {
    a.iter()
        .chain(b)
        .max()
        .map_or(0, |&class| class as usize + 1)
}

/// Returns whether the texts share a window. `count` is the number of classes of `Windows::shared`.
fn has_shared(count: usize) -> bool {
    count > ONLY_B as usize + 1
}

fn equal_after(a: &[i32], b: &[i32], i: usize, j: usize) -> usize {
    a[i..]
        .iter()
        .zip(&b[j..])
        .take_while(|(x, y)| x == y)
        .count()
}

/// Returns the longest run that contains word `i` of `a` and word `j` of `b`.
fn extend(a: &[i32], b: &[i32], i: usize, j: usize) -> Run {
    let before = a[..i].iter().rev().zip(b[..j].iter().rev());
    let before = before.take_while(|(x, y)| x == y).count();
    let size = before + equal_after(a, b, i, j);
    [(i - before) as i64, (j - before) as i64, size as i64]
}

pub fn rare_runs(
    a: &[i32],
    b: &[i32],
    (a_classes, b_classes): &Classes,
    max_pairs: u64,
) -> Vec<Run> {
    let count = count_classes(a_classes, b_classes);
    let mut runs = Vec::new();
    if !has_shared(count) {
        return runs;
    }
    let in_b = Positions::of(b_classes, count);
    let mut in_a = vec![0; count];
    for &class in a_classes {
        in_a[class as usize] += 1;
    }
    let mut ends: FxHashMap<i64, i64> = FxHashMap::default(); // the end of the last run on each diagonal
    for (i, &class) in a_classes.iter().enumerate() {
        let places = in_b.get(class);
        if places.len() as u64 * in_a[class as usize] > max_pairs {
            continue;
        }
        for &j in places {
            let end = ends.entry(j as i64 - i as i64).or_insert(-1);
            if i as i64 >= *end {
                let run = extend(a, b, i, j);
                *end = run[0] + run[2];
                runs.push(run);
            }
        }
    }
    runs
}

fn unique(runs: &mut Vec<Run>) {
    runs.sort_unstable();
    runs.dedup();
}

fn dense_runs(runs: Vec<Run>, limits: &Limits) -> Vec<Run> {
    let square = |run: &Run| (run[0] / limits.reach, run[1] / limits.reach);
    let mut words: FxHashMap<(i64, i64), i64> = FxHashMap::default();
    for run in &runs {
        *words.entry(square(run)).or_default() += run[2].min(MAX_COUNTED_WORDS);
    }
    let is_dense = |run: &Run| {
        let (row, column) = square(run);
        let around =
            (-1..=1).flat_map(|down| (-1..=1).map(move |right| (row + down, column + right)));
        let nearby: i64 = around.filter_map(|near| words.get(&near)).sum();
        nearby >= limits.min_nearby_words
    };
    let mut runs = runs;
    runs.retain(|run| run[2] >= limits.min_lone_run || is_dense(run));
    runs
}

pub fn add_covering_runs(
    a: &[i32],
    b: &[i32],
    (a_classes, b_classes): &Classes,
    mut runs: Vec<Run>,
    length: usize,
) -> Vec<Run> {
    if !has_shared(count_classes(a_classes, b_classes)) {
        return runs;
    }
    let uncovered = uncovered_starts(a, b, a_classes, b_classes, length, &runs);
    runs.extend(uncovered.into_iter().map(|(i, j)| extend(a, b, i, j)));
    unique(&mut runs);
    let swapped: Vec<Run> = runs.iter().map(|&[i, j, size]| [j, i, size]).collect();
    let uncovered = uncovered_starts(b, a, b_classes, a_classes, length, &swapped);
    runs.extend(uncovered.into_iter().map(|(j, i)| extend(a, b, i, j)));
    unique(&mut runs);
    runs
}

fn uncovered_starts(
    a: &[i32],
    b: &[i32],
    a_classes: &[u32],
    b_classes: &[u32],
    length: usize,
    known: &[Run],
) -> Vec<(usize, usize)> {
    let mut change = vec![0i32; a_classes.len() + 1];
    for &[i, _, size] in known.iter().filter(|run| run[2] >= length as i64) {
        change[i as usize] += 1;
        change[(i + size) as usize - length + 1] -= 1;
    }
    let positions = Positions::of(b_classes, count_classes(a_classes, b_classes));
    let mut covering = 0;
    let mut order = Vec::new();
    for (i, &class) in a_classes.iter().enumerate() {
        covering += change[i];
        if covering == 0 && !positions.get(class).is_empty() {
            order.push(i);
        }
    }
    let mut starts = Vec::new();
    let (mut end, mut other_end, mut index) = (0i64, 0i64, 0);
    while let Some(&i) = order.get(index) {
        let places = positions.get(a_classes[i]);
        let expected = other_end + (i as i64 - end).min(0);
        let next = places.partition_point(|&place| (place as i64) < expected);
        let next = if next < places.len() { next } else { 0 };
        let tried = &places[next..places.len().min(next + MAX_TRIED_POSITIONS)];
        let (mut best, mut best_size) = (tried[0], 0);
        for &j in tried {
            let size = equal_after(a, b, i, j);
            if size > best_size {
                (best, best_size) = (j, size);
            }
        }
        end = (i + best_size) as i64;
        other_end = (best + best_size) as i64;
        starts.push((i, best));
        // Continue with the last window that leaves no gap after this run.
        let after = order.partition_point(|&position| position as i64 <= end);
        index = (index + 1).max(after.saturating_sub(1));
    }
    starts
}

pub fn uncovered_runs(runs: &[Run], a_len: usize, b_len: usize, min_long_run: i64) -> Vec<Run> {
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
