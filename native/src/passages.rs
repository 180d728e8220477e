//! Finds the passages that two texts share, as `simdoc_search.passages.align` does with `chains` and `chance`.
//!
//! Floating-point sums are computed in the same order as in Python, so that both find the same passages.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::iter::once;

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::runs::{Index, Limits, Pair, Run, ABSENT};

/// The arguments of `simdoc_search.passages.align` besides the texts.
pub struct Rules {
    pub min_run: usize,
    pub is_edited: bool,
    pub max_gap: i64,
}

const MIN_EDITED_WORDS: usize = 15;
const MIN_NEARBY_WORDS: i64 = 10;
const NEARBY_REACH: i64 = 30;
const MIN_LONE_RUN: i64 = 8;
const MAX_PAIRS: u64 = 4;
const MAX_CHAIN_GAP: i64 = 50;
const MAX_REPLACED_WORDS: i64 = 60;
const MIN_DENSITY: f64 = 0.3;
const MAX_GAP_FACTOR: i64 = 8;
const MIN_MOVED_WORDS: i64 = 2;
const MAX_MOVED_GAP: i64 = 10;
const MAX_TESTED_END_WORDS: i64 = 40;
const CHANCE_RATE: f64 = 0.02;
const LOG_ODDS_PER_WORD: f64 = 0.7;
const MAX_EXPECTED_RUN_WORDS: f64 = 3.0;
const MIN_EXPECTED_GAP: f64 = 0.5;
const MIN_EVIDENCE: f64 = 3.0;
const MIN_EVIDENCE_WORDS: usize = 100;
const MIN_DICE: f64 = 0.35;
const MIN_SHORT_DICE: f64 = 0.6;
const MIN_CONTAINMENT: f64 = 0.6;
const MIN_CONTAINED_LENGTH: f64 = 1.5;
const WEIGHT_FACTOR: f64 = 40.0;
const MIN_WEIGHT_WORDS: usize = 400;

/// The second of two texts.
pub struct Second<'a> {
    /// The class of each word, which is `ABSENT` if the first text does not have the word.
    pub words: &'a [u32],
    /// Returns the class of each word. Words that the first text does not have are numbered in order of occurrence,
    /// after the classes of the first text.
    pub all_classes: &'a dyn Fn() -> Vec<u32>,
}

/// Returns the runs of each passage that two texts share.
pub fn align(a: &mut Index, b: &Second, rules: &Rules) -> Vec<Vec<Run>> {
    let (a_len, b_len) = (a.words.len(), b.words.len());
    let shorter = a_len.min(b_len);
    if shorter == 0 {
        return Vec::new();
    }
    let limit = |words: usize| words.min(shorter - shorter / 6);
    let min_run = limit(rules.min_run);
    let passages = if rules.is_edited {
        let min_words = limit(MIN_EDITED_WORDS).max(min_run);
        Search::new(a, b, min_run, min_words as i64, rules.max_gap).passages()
    } else {
        let (mut pair, mut runs) = (Pair::new(a, b.words), Vec::new());
        pair.add_rare_runs(min_run, MAX_PAIRS, &mut runs);
        let runs = pair.add_covering_runs(runs, min_run);
        let runs = pair.uncovered_runs(&runs, min_run as i64);
        runs.into_iter().map(|run| vec![run]).collect()
    };
    drop_nested(passages, a_len)
}

/// Returns whether a passage covers each word of `a`.
pub fn matched_words(a: &mut Index, b: &Second, rules: &Rules) -> Vec<u8> {
    let mut mask = vec![0u8; a.words.len()];
    for [i, _, size] in align(a, b, rules).into_iter().flatten() {
        mask[i as usize..(i + size) as usize].fill(1);
    }
    mask
}

/// Returns the numbers of shared shingles, of shingles of `a` and of shingles of `b`. The first three numbers count
/// every occurrence of a shingle, and the last three count distinct shingles.
pub fn count_shingles(a: &[i32], b: &[i32], size: usize) -> [i64; 6] {
    let windows = (a.len() + b.len() + 2).saturating_sub(2 * size);
    let mut counts = FxHashMap::with_capacity_and_hasher(windows, FxBuildHasher);
    for (text, side) in [a, b].into_iter().zip([0, 1]) {
        for shingle in text.windows(size) {
            counts.entry(shingle).or_insert([0i64; 2])[side] += 1;
        }
    }
    let mut sums = [0; 6];
    for [in_a, in_b] in counts.into_values() {
        let (one_a, one_b) = (in_a.min(1), in_b.min(1));
        let row = [in_a.min(in_b), in_a, in_b, one_a.min(one_b), one_a, one_b];
        for (sum, count) in sums.iter_mut().zip(row) {
            *sum += count;
        }
    }
    sums
}

struct Search<'a> {
    max_gap: i64,
    min_run: i64,
    min_words: i64,
    runs: Vec<Run>,
    a: &'a [u32],
    b: &'a Second<'a>,
    // Computed on first use, because only passages of several runs need it, and most pairs of texts have no such passage.
    information: OnceCell<Vec<f64>>,
    words: OnceCell<ClassifiedWords>,
}

/// The classes of all words of `b`, and the number of words of each class in both texts.
struct ClassifiedWords {
    b: Vec<u32>,
    in_a: Vec<u32>,
    in_b: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(a: &'a mut Index, b: &'a Second, min_run: usize, min_words: i64, max_gap: i64) -> Self {
        let limits = Limits {
            max_window: 3.min(min_words as usize),
            max_pairs: MAX_PAIRS,
            reach: NEARBY_REACH,
            min_nearby_words: MIN_NEARBY_WORDS * min_words / MIN_EDITED_WORDS as i64,
            min_lone_run: MIN_LONE_RUN,
            min_run,
        };
        let runs = Pair::new(a, b.words).shared_runs(&limits);
        Search {
            max_gap,
            min_run: min_run as i64,
            min_words,
            runs,
            a: &a.words,
            b,
            information: OnceCell::new(),
            words: OnceCell::new(),
        }
    }

    /// For each word of `a`, the sum of the information of the words before it.
    fn information(&self) -> &[f64] {
        self.information.get_or_init(|| {
            let mut counts = count(self.a, 0);
            for &class in self.b.words.iter().filter(|&&class| class != ABSENT) {
                counts[class as usize] += 1;
            }
            let total = (self.a.len() + self.b.words.len()).max(MIN_EVIDENCE_WORDS) as f64;
            let of_class = counts.iter().map(|&count| -(count as f64 / total).ln());
            let of_class: Vec<f64> = of_class.collect();
            let mut sum = 0.0;
            let sums = self.a.iter().map(|&class| {
                sum += of_class[class as usize];
                sum
            });
            once(0.0).chain(sums).collect()
        })
    }

    fn words(&self) -> &ClassifiedWords {
        self.words.get_or_init(|| {
            let b = (self.b.all_classes)();
            let in_b = count(&b, count_classes(self.a));
            let in_a = count(self.a, in_b.len());
            ClassifiedWords { b, in_a, in_b }
        })
    }

    /// Returns the weight of a class. Equal words have the same class.
    fn weight(&self, class: u32) -> f64 {
        let share = |counts: &[u32], words: usize| {
            counts[class as usize] as f64 / words.max(MIN_WEIGHT_WORDS) as f64
        };
        let ClassifiedWords { b, in_a, in_b } = self.words();
        let share = share(in_a, self.a.len()).max(share(in_b, b.len()));
        -(WEIGHT_FACTOR * share).ln().min(0.0)
    }

    fn passages(&mut self) -> Vec<Vec<Run>> {
        let mut taken = [vec![false; self.a.len()], vec![false; self.b.words.len()]];
        let mut passages = Vec::new();
        let mut groups = vec![std::mem::take(&mut self.runs)];
        let mut chain_gap = MAX_CHAIN_GAP;
        let keep_length = self.min_run.min(MIN_LONE_RUN);
        while !groups.is_empty() {
            let mut rejected = Vec::new();
            let chains = groups
                .into_iter()
                .flat_map(|group| join_into_chains(group, chain_gap));
            for chain in chains {
                let has_long_run = chain.iter().any(|run| run[2] >= self.min_run);
                if !has_long_run && count_words(&chain) < self.min_words {
                    continue;
                }
                let chain = trim_ends(chain, keep_length);
                if chain.is_empty() {
                    continue;
                }
                let runs = cut_overlaps(&chain, &mut taken);
                for run in runs.iter().filter(|run| run[2] < self.min_run) {
                    let [i, j, size] = run.map(|value| value as usize); // they may be dropped below
                    taken[0][i..i + size].fill(false);
                    taken[1][j..j + size].fill(false);
                }
                self.add_repeated_runs(&chain, &taken, &mut passages);
                let [a_first, a_end, b_first, b_end] = bounding_box(&chain);
                taken[0][a_first..a_end].fill(false);
                taken[1][b_first..b_end].fill(false);
                let min_moved = MIN_MOVED_WORDS.min(self.min_run);
                let runs = drop_displaced_words(self.drop_chance_runs(runs), min_moved);
                let max_gap = self.max_gap.min(chain_gap);
                for part in split_at_gaps(runs, max_gap, MAX_REPLACED_WORDS) {
                    let part = trim_ends(part, keep_length); // its ends were inside the chain
                    if part.len() > 1 && !self.is_one_passage(&part) {
                        rejected.push(part);
                        continue;
                    }
                    let minimum = [self.min_words, self.min_run][usize::from(part.len() <= 1)];
                    if count_words(&part) >= minimum {
                        passages.push(part);
                    }
                }
            }
            groups = rejected;
            chain_gap /= 2;
        }
        passages
    }

    /// Adds the long runs of a chain as passages if `cut_overlaps` removed or shortened them. `taken` marks the words of
    /// the other long runs.
    fn add_repeated_runs(
        &self,
        chain: &[Run],
        taken: &[Vec<bool>; 2],
        passages: &mut Vec<Vec<Run>>,
    ) {
        for run in chain.iter().filter(|run| run[2] >= self.min_run) {
            let [i, j, size] = run.map(|value| value as usize);
            let mut words = taken[0][i..i + size].iter().chain(&taken[1][j..j + size]);
            if words.any(|&is_taken| !is_taken) {
                passages.push(vec![*run]);
            }
        }
    }

    fn drop_chance_runs(&self, mut runs: Vec<Run>) -> Vec<Run> {
        while runs.len() > 1 {
            let pairs: Vec<f64> = runs.windows(2).map(count_pairs).collect();
            let last = pairs.len();
            let evidence = runs.iter().enumerate().map(|(number, run)| {
                let before = if number > 0 {
                    pairs[number - 1]
                } else {
                    f64::INFINITY
                };
                let after = if number < last {
                    pairs[number]
                } else {
                    f64::INFINITY
                };
                let (first, end) = (run[0] as usize, (run[0] + run[2]) as usize);
                let information = self.information();
                let sum = information[end] - information[first];
                let evidence = sum - before.min(after).ln();
                let is_weak = evidence < MIN_EVIDENCE && run[2] < self.min_run;
                [f64::INFINITY, evidence][usize::from(is_weak)]
            });
            let weak: Vec<f64> = evidence.collect();
            if weak.iter().all(|evidence| evidence.is_infinite()) {
                break;
            }
            let is_kept = |number: usize| {
                let before = number
                    .checked_sub(1)
                    .map_or(f64::INFINITY, |index| weak[index]);
                let after = *weak.get(number + 1).unwrap_or(&f64::INFINITY);
                !(weak[number].is_finite() && weak[number] <= before && weak[number] < after)
            };
            let numbers = 0..runs.len();
            runs = numbers
                .filter(|&number| is_kept(number))
                .map(|number| runs[number])
                .collect();
        }
        runs
    }

    fn is_one_passage(&self, runs: &[Run]) -> bool {
        let words = count_words(runs);
        let [a_first, a_end, b_first, b_end] = bounding_box(runs);
        let shorter = (a_end - a_first).min(b_end - b_first) as i64;
        if words < self.min_words
            || (words as f64) < MIN_DENSITY * shorter as f64
            || shorter < self.min_words
        {
            return false;
        }
        let a = class_counts(&self.a[a_first..a_end]);
        let b = class_counts(&self.words().b[b_first..b_end]);
        let weigh = |counts: &[(u32, i64)]| -> f64 {
            let weights = counts
                .iter()
                .map(|&(class, count)| self.weight(class) * count as f64);
            weights.fold(0.0, |sum, weight| sum + weight)
        };
        let (mut shared, mut rest) = (Vec::new(), b.as_slice());
        for &(class, count) in &a {
            rest = &rest[rest.partition_point(|&(other, _)| other < class)..];
            if let Some(&(other, other_count)) = rest.first() {
                if other == class {
                    shared.push((class, count.min(other_count)));
                }
            }
        }
        let (shared, weight_a, weight_b) = (weigh(&shared), weigh(&a), weigh(&b));
        let both = weight_a + weight_b;
        let dice = if both != 0.0 {
            2.0 * shared / both
        } else {
            1.0
        };
        let min_words = self.min_words as f64;
        if dice >= MIN_DICE && dice * words as f64 >= MIN_SHORT_DICE * min_words {
            return true;
        }
        if shared < MIN_CONTAINMENT * weight_a.min(weight_b) {
            return false;
        }
        let is_ordered = heaviest_increasing_subsequence(runs, &rank_by_b(runs));
        let ordered = runs.iter().zip(is_ordered);
        let words: i64 = ordered
            .filter(|&(_, is_ordered)| is_ordered)
            .map(|(run, _)| run[2])
            .sum();
        words as f64 >= MIN_CONTAINED_LENGTH * min_words
    }
}

fn count_classes(classes: &[u32]) -> usize {
    classes.iter().max().map_or(0, |&class| class as usize + 1)
}

/// Counts the words of at least `size` classes.
fn count(classes: &[u32], size: usize) -> Vec<u32> {
    let mut counts = vec![0; count_classes(classes).max(size)];
    for &class in classes {
        counts[class as usize] += 1;
    }
    counts
}

fn class_counts(classes: &[u32]) -> Vec<(u32, i64)> {
    let mut sorted = classes.to_vec();
    sorted.sort_unstable();
    let groups = sorted.chunk_by(|one, other| one == other);
    groups.map(|group| (group[0], group.len() as i64)).collect()
}

fn count_words(runs: &[Run]) -> i64 {
    runs.iter().map(|run| run[2]).sum()
}

/// Returns the start and end of the runs in `a`, then in `b`.
fn bounding_box(runs: &[Run]) -> [usize; 4] {
    let side = |side: usize| {
        let first = runs.iter().map(|run| run[side]).min().unwrap_or(0);
        let end = runs.iter().map(|run| run[side] + run[2]).max().unwrap_or(0);
        [first as usize, end as usize]
    };
    let ([a_first, a_end], [b_first, b_end]) = (side(0), side(1));
    [a_first, a_end, b_first, b_end]
}

fn root(parents: &mut [usize], mut node: usize) -> usize {
    while parents[node] != node {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    node
}

fn join_into_chains(mut runs: Vec<Run>, max_gap: i64) -> Vec<Vec<Run>> {
    runs.sort_by_key(|run| (run[0], run[1])); // a stable sort, as in Python
    let min_gap = max_gap / MAX_GAP_FACTOR + 1;
    let max_gap_a = max_gap * max_gap / min_gap;
    let mut parents: Vec<usize> = (0..runs.len()).collect();
    for near in 0..if max_gap > 0 { runs.len() } else { 0 } {
        let [i, j, size] = runs[near];
        for (later, &[next_i, next_j, next_size]) in runs.iter().enumerate().skip(near + 1) {
            if next_i > i + size + max_gap_a {
                break;
            }
            let gap_a = next_i - i - size;
            let gap_b = (next_j - j - size).max(j - next_j - next_size);
            let is_joined = if gap_a.min(gap_b) < 0 {
                gap_a.max(gap_b) <= max_gap
            } else {
                gap_a.max(min_gap) * gap_b.max(min_gap) <= max_gap * max_gap
            };
            if is_joined {
                let (one, other) = (root(&mut parents, near), root(&mut parents, later));
                parents[one.max(other)] = one.min(other);
            }
        }
    }
    let mut chains: Vec<Vec<Run>> = Vec::new();
    let mut chain_of_root = vec![usize::MAX; runs.len()];
    for (index, run) in runs.iter().enumerate() {
        let root = root(&mut parents, index);
        if chain_of_root[root] == usize::MAX {
            chain_of_root[root] = chains.len();
            chains.push(Vec::new());
        }
        chains[chain_of_root[root]].push(*run);
    }
    chains
}

fn trim_ends(mut runs: Vec<Run>, keep_length: i64) -> Vec<Run> {
    for column in [0, 1] {
        if runs.len() < 2 {
            break;
        }
        let (start, end) = (
            |run: &Run| run[column],
            move |run: &Run| run[column] + run[2],
        );
        let words = count_words(&runs);
        let spread = runs.iter().map(end).max().unwrap() - runs.iter().map(start).min().unwrap();
        let between = (spread - words).max(0);
        let average = words as f64 / runs.len() as f64;
        let gap =
            between as f64 / words as f64 * average.min(MAX_EXPECTED_RUN_WORDS) + MIN_EXPECTED_GAP;
        let (mut order, mut backwards): (Vec<usize>, Vec<usize>) =
            ((0..runs.len()).collect(), (0..runs.len()).collect());
        order.sort_by_key(|&number| start(&runs[number]));
        backwards.sort_by_key(|&number| Reverse(end(&runs[number])));
        let max_words = MAX_TESTED_END_WORDS.min(words / 2);
        let spans = |order: &[usize], is_backwards: bool| -> Vec<(i64, i64)> {
            let spans = order.iter().map(|&number| {
                let (start, end) = (start(&runs[number]), end(&runs[number]));
                if is_backwards {
                    (-end, -start)
                } else {
                    (start, end)
                }
            });
            spans.collect()
        };
        let first = count_chance_runs(&spans(&order, false), gap, max_words, keep_length);
        let last = count_chance_runs(&spans(&backwards, true), gap, max_words, keep_length);
        let mut is_kept = vec![true; runs.len()];
        for &number in order[..first].iter().chain(&backwards[..last]) {
            is_kept[number] = false;
        }
        let mut kept = is_kept.into_iter();
        runs.retain(|_| kept.next().unwrap());
    }
    runs
}

fn count_chance_runs(
    spans: &[(i64, i64)],
    expected_gap: f64,
    max_words: i64,
    keep_length: i64,
) -> usize {
    let (mut words, mut count) = (0, 0);
    let (mut evidence, mut minimum) = (0.0, 0.0);
    let steps = (spans.len() - 1).min(max_words as usize);
    for (number, pair) in spans.windows(2).take(steps).enumerate() {
        let size = pair[0].1 - pair[0].0;
        words += size;
        if words > max_words || size >= keep_length {
            break;
        }
        let gap = (pair[1].0 - pair[0].1).max(0) as f64;
        evidence += LOG_ODDS_PER_WORD * (size - 1) as f64;
        evidence += -expected_gap.ln() - gap / expected_gap - CHANCE_RATE.ln() + CHANCE_RATE * gap;
        if evidence < minimum {
            (minimum, count) = (evidence, number + 1);
        }
    }
    count
}

/// Shortens each run to its longest part that does not overlap a longer run, and returns these parts in order. Marks
/// their words in `taken`.
fn cut_overlaps(runs: &[Run], taken: &mut [Vec<bool>; 2]) -> Vec<Run> {
    let mut by_size = runs.to_vec();
    by_size.sort_by_key(|run| Reverse(run[2])); // a stable sort, as in Python
    let mut kept = Vec::new();
    for run in by_size {
        let [i, j, size] = run.map(|value| value as usize);
        let (mut best, mut start) = ((0, 0), 0);
        for at in 0..=size {
            if at == size || taken[0][i + at] || taken[1][j + at] {
                if at - start > best.1 - best.0 {
                    best = (start, at);
                }
                start = at + 1;
            }
        }
        let (start, end) = best;
        if start < end {
            taken[0][i + start..i + end].fill(true);
            taken[1][j + start..j + end].fill(true);
            kept.push([i + start, j + start, end - start].map(|value| value as i64));
        }
    }
    kept.sort_unstable();
    kept
}

/// Returns the number of words of `b` between two runs. It is negative if they overlap.
fn gap_in_b(one: &Run, next: &Run) -> i64 {
    (next[1] - one[1] - one[2]).max(one[1] - next[1] - next[2])
}

/// Returns the number of pairs of positions between two successive runs where an equal run could begin.
fn count_pairs(pair: &[Run]) -> f64 {
    let (one, next) = (&pair[0], &pair[1]);
    let (da, db) = (next[0] - one[0] - one[2], gap_in_b(one, next));
    let area = (da + 1) * (db + 1);
    let pairs = if next[1] < one[1] {
        4 * area // the run could be before or after its neighbour in each text
    } else if da == db {
        da + 1
    } else {
        area
    };
    pairs as f64
}

/// Removes the words that are in another order in the two texts, unless at least `min_moved` were moved together.
fn drop_displaced_words(runs: Vec<Run>, min_moved: i64) -> Vec<Run> {
    if runs.windows(2).all(|pair| pair[0][1] < pair[1][1]) {
        return runs;
    }
    let ranks = rank_by_b(&runs);
    let mut is_kept = heaviest_increasing_subsequence(&runs, &ranks);
    let moved: Vec<usize> = (0..runs.len()).filter(|&number| !is_kept[number]).collect();
    let is_same_block = |&last: &usize, &number: &usize| {
        let ([i, j, size], [next_i, next_j, _]) = (runs[last], runs[number]);
        number == last + 1
            && ranks[number] == ranks[last] + 1
            && next_i - i - size <= MAX_MOVED_GAP
            && next_j - j - size <= MAX_MOVED_GAP
    };
    for block in moved.chunk_by(is_same_block) {
        let words: i64 = block.iter().map(|&number| runs[number][2]).sum();
        for &number in block {
            is_kept[number] = words >= min_moved;
        }
    }
    let kept = runs
        .into_iter()
        .zip(is_kept)
        .filter(|&(_, is_kept)| is_kept);
    kept.map(|(run, _)| run).collect()
}

/// Returns the position of each run in the order of `b`.
fn rank_by_b(runs: &[Run]) -> Vec<usize> {
    let mut by_b: Vec<usize> = (0..runs.len()).collect();
    by_b.sort_by_key(|&number| runs[number][1]);
    let mut ranks = vec![0; runs.len()];
    for (rank, &number) in by_b.iter().enumerate() {
        ranks[number] = rank;
    }
    ranks
}

/// Returns whether each run is in the subsequence with the most words whose ranks increase. The rank of a run is its
/// position in the order of `b`.
fn heaviest_increasing_subsequence(runs: &[Run], ranks: &[usize]) -> Vec<bool> {
    // A Fenwick tree: the word count and last run, plus one, of the best subsequence in a range of ranks.
    let mut tree = vec![(0, 0); runs.len() + 1];
    let find_best = |tree: &[(i64, usize)], mut end: usize| {
        let mut best = (0, 0);
        while end > 0 {
            best = tree[end].max(best);
            end &= end - 1;
        }
        best
    };
    let mut previous = Vec::with_capacity(runs.len());
    for (number, (run, &rank)) in runs.iter().zip(ranks).enumerate() {
        let (words, last) = find_best(&tree, rank);
        previous.push(last);
        let mut node = rank + 1;
        while node < tree.len() {
            tree[node] = tree[node].max((words + run[2], number + 1));
            node += node & node.wrapping_neg();
        }
    }
    let mut is_chosen = vec![false; runs.len()];
    let (_, mut last) = find_best(&tree, runs.len());
    while last > 0 {
        is_chosen[last - 1] = true;
        last = previous[last - 1];
    }
    is_chosen
}

fn split_at_gaps(runs: Vec<Run>, max_gap: i64, max_replaced_words: i64) -> Vec<Vec<Run>> {
    let mut words = vec![0];
    for run in &runs {
        words.push(words[words.len() - 1] + run[2]);
    }
    let total = words[runs.len()];
    let (mut parts, mut start, mut end) = (Vec::new(), 0, i64::MIN);
    for (last, pair) in runs.windows(2).enumerate() {
        end = end.max(pair[0][0] + pair[0][2]);
        let gap = pair[1][0] - end;
        if gap <= max_gap {
            continue;
        }
        let is_replacement = gap <= max_replaced_words && gap <= 2 * gap_in_b(&pair[0], &pair[1]);
        let smaller_side = (words[last + 1] - words[start]).min(total - words[last + 1]);
        if !(is_replacement && 2 * smaller_side >= gap) {
            parts.push(runs[start..=last].to_vec());
            start = last + 1;
        }
    }
    if start < runs.len() {
        parts.push(runs[start..].to_vec());
    }
    parts
}

fn drop_nested(mut passages: Vec<Vec<Run>>, word_count: usize) -> Vec<Vec<Run>> {
    passages.sort_by_key(|runs| Reverse(count_words(runs))); // a stable sort, as in Python
    let mut boxes: Vec<[usize; 4]> = Vec::new();
    let mut owner = vec![usize::MAX; word_count]; // index of the larger passage that matches each word of `a`
    passages.retain(|runs| {
        let area = bounding_box(runs);
        let is_inside = |outer: &[usize; 4]| {
            outer[0] <= area[0] && area[1] <= outer[1] && outer[2] <= area[2] && area[3] <= outer[3]
        };
        let words = runs
            .iter()
            .flat_map(|run| run[0] as usize..(run[0] + run[2]) as usize);
        let (mut adds_words, mut is_nested, mut last) = (false, false, usize::MAX);
        for number in words.map(|word| owner[word]) {
            adds_words |= number == usize::MAX;
            if number != last && number != usize::MAX {
                is_nested |= is_inside(&boxes[number]);
            }
            last = number;
        }
        if is_nested && !adds_words {
            return false;
        }
        for run in runs {
            owner[run[0] as usize..(run[0] + run[2]) as usize].fill(boxes.len());
        }
        boxes.push(area);
        true
    });
    passages
}
