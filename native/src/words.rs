//! Finds the words of a text as Lucene's StandardTokenizer does, and normalises them.

use std::iter::once;
use std::sync::OnceLock;

use crate::hash::{murmur3, PADDING};
use caseless::Caseless;
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{is_nfc_quick, IsNormalized, UnicodeNormalization};

const CODE_POINTS: usize = 0x110000;
const MAX_UNITS: usize = 255;
/// Number of bits of the token id of a word pair; see `simdoc_search.sketch.word_pairs`.
const PAIR_BITS: u32 = 15;
pub const SPACE: u16 = b' ' as u16;
const CHUNK: usize = 16;
/// Number of bytes that are searched for letters at once.
const BLOCK: usize = 64;

/// The word grammar as an automaton. Its symbols are classes of characters. Python compiles it.
pub struct Grammar {
    symbols: Vec<u8>,
    joiners: Vec<bool>,
    next: Vec<u8>,
    accepting: usize,
    /// For each state and byte, whether the byte is an ASCII character that does not change the state.
    stays: Vec<[bool; 256]>,
    /// For each byte, whether it is an ASCII character that ends a word of ASCII letters, and does not begin a word.
    separates: [bool; 256],
}

/// The start and end of a word in a text, in bytes and in code points.
struct Span {
    bytes: (usize, usize),
    points: (usize, usize),
    /// Whether the word is known to consist of ASCII letters.
    is_plain: bool,
}

impl Grammar {
    /// Returns None if a table has the wrong size, or contains an unknown symbol or state.
    pub fn new(symbols: &[u8], joiners: &[u8], next: &[u8], accepting: usize) -> Option<Self> {
        let width = joiners.len().max(1);
        let states = next.len() / width;
        let is_closed = next.iter().all(|&state| (state as usize) < states);
        let is_known = symbols
            .iter()
            .all(|&symbol| (symbol as usize) < joiners.len());
        if symbols.len() != CODE_POINTS || states < 2 || !is_closed || !is_known {
            return None;
        }
        let stays = |state: usize| {
            std::array::from_fn(|byte| {
                byte < 128 && next[state * width + symbols[byte] as usize] as usize == state
            })
        };
        let stays: Vec<[bool; 256]> = (0..states).map(stays).collect();
        let after =
            |state: usize, byte: u8| next[state * width + symbols[byte as usize] as usize] as usize;
        let letter = after(1, b'a');
        let are_alike = (0..128u8)
            .filter(u8::is_ascii_alphabetic)
            .all(|byte| after(1, byte) == letter && stays[letter][byte as usize]);
        let has_plain_words = are_alike && letter >= accepting;
        let separates = |byte: usize| {
            let byte = byte as u8;
            has_plain_words && byte < 128 && after(1, byte) == 0 && after(letter, byte) == 0
        };
        Some(Grammar {
            symbols: symbols.to_vec(),
            joiners: joiners.iter().map(|&flag| flag != 0).collect(),
            next: next.to_vec(),
            accepting,
            separates: std::array::from_fn(separates),
            stays,
        })
    }

    /// Calls `emit` for the plain words at the start of a block. A plain word consists of ASCII letters, and a
    /// separator follows it. Returns the number of bytes of these words with their separators.
    #[inline(always)]
    fn each_plain_word(&self, block: &[u8; BLOCK], mut emit: impl FnMut(usize, usize)) -> usize {
        let letters = letters(block);
        let mut at = 0;
        while at < BLOCK {
            let end = at + (letters >> at).trailing_ones() as usize;
            if end == BLOCK || !self.separates[block[end] as usize] {
                break;
            }
            if end > at {
                emit(at, end);
            }
            at = end + 1;
        }
        at
    }

    /// Calls `emit` for each word of a text, in order. If several words begin at a position, the longest is a word of
    /// the text.
    #[inline(always)]
    fn each_word(&self, text: &[u8], mut emit: impl FnMut(Span)) {
        let width = self.joiners.len();
        let (mut here, mut point) = (0, 0);
        while here < text.len() {
            // Most words of many texts are plain. They are found without a branch per letter.
            while let Some(block) = text[here..].first_chunk::<BLOCK>() {
                let size = match block[0].is_ascii_alphabetic() {
                    true => self.each_plain_word(block, |start, end| {
                        emit(Span {
                            bytes: (here + start, here + end),
                            points: (point + start, point + end),
                            is_plain: true,
                        })
                    }),
                    false => 0,
                };
                if size == 0 {
                    break;
                }
                here += size;
                point += size;
            }
            if here == text.len() {
                break;
            }
            let (first, size) = decode(text, here);
            let mut symbol = self.symbols[first as usize] as usize;
            let mut state = self.next[width + symbol] as usize;
            if state == 0 {
                here += size;
                point += 1;
                continue;
            }
            let (mut at, mut points, mut units) = (here + size, 1, units_of(first));
            let (mut end, mut end_points) = (here, 0);
            let mut only_joiners = self.joiners[symbol];
            loop {
                // Skip ASCII characters that do not change the state, because most characters are of this kind.
                let limit = text.len().min(at + MAX_UNITS - units);
                let stays = &self.stays[state];
                let run = text[at..limit]
                    .iter()
                    .take_while(|&&byte| stays[byte as usize])
                    .count();
                at += run;
                points += run;
                units += run;
                if at == text.len() {
                    break;
                }
                let (letter, letter_size) = decode(text, at);
                units += units_of(letter);
                if units > MAX_UNITS {
                    break;
                }
                symbol = self.symbols[letter as usize] as usize;
                let next = self.next[state * width + symbol] as usize;
                if next != state {
                    if state >= self.accepting {
                        (end, end_points) = (at, points);
                    }
                    if next == 0 {
                        state = 0;
                        break;
                    }
                    only_joiners &= self.joiners[symbol];
                    state = next;
                }
                at += letter_size;
                points += 1;
            }
            if state >= self.accepting {
                (end, end_points) = (at, points);
            }
            if end > here {
                emit(Span {
                    bytes: (here, end),
                    points: (point, point + end_points),
                    is_plain: false,
                });
                (here, point) = (end, point + end_points);
            } else if only_joiners && units > MAX_UNITS {
                // Connectors alone are not a word. So a word that begins in a run of connectors ends after the run, and
                // begins at most `MAX_UNITS` before the end of the run.
                let mut run = points;
                while at < text.len() {
                    let (letter, letter_size) = decode(text, at);
                    if !self.joiners[self.symbols[letter as usize] as usize] {
                        break;
                    }
                    at += letter_size;
                    run += 1;
                }
                for _ in 0..run.saturating_sub(MAX_UNITS).max(1) {
                    here += decode(text, here).1;
                    point += 1;
                }
            } else {
                here += size;
                point += 1;
            }
        }
    }
}

/// Returns whether each byte of a block is an ASCII letter, one bit per byte.
#[inline(always)]
fn letters(block: &[u8; BLOCK]) -> u64 {
    let flags = block.map(|byte| ((byte | 0x20).wrapping_sub(b'a') < 26) as u8);
    let bits_of_eight = |eight: &[u8]| {
        let eight = u64::from_le_bytes(eight.try_into().unwrap());
        eight.wrapping_mul(0x0102_0408_1020_4080) >> 56
    };
    let eights = flags.chunks_exact(8).rev();
    eights.fold(0, |mask, eight| mask << 8 | bits_of_eight(eight))
}

/// Decodes the character that begins at byte `at`, and returns its code point and its number of bytes. `text` must be
/// valid UTF-8.
#[inline(always)]
fn decode(text: &[u8], at: usize) -> (u32, usize) {
    let rest = |offset: usize| (text[at + offset] & 0x3F) as u32;
    match text[at] {
        first @ 0..=0x7F => (first as u32, 1),
        first @ 0x80..=0xDF => ((first as u32 & 0x1F) << 6 | rest(1), 2),
        first @ 0xE0..=0xEF => ((first as u32 & 0x0F) << 12 | rest(1) << 6 | rest(2), 3),
        first => (
            (first as u32 & 0x07) << 18 | rest(1) << 12 | rest(2) << 6 | rest(3),
            4,
        ),
    }
}

fn units_of(point: u32) -> usize {
    1 + (point > 0xFFFF) as usize
}

/// Normalises words. A letter whose result does not depend on its neighbours is looked up in a table.
pub struct Normaliser {
    /// The table, in pages of 256 code points. A page is computed when one of its letters first occurs.
    pages: Vec<OnceLock<[Letter; PAGE]>>,
    fold: fn(char, &mut String),
    composes: bool,
}

const PAGE: usize = 256;

/// The normalised form of a letter; None if it depends on the neighbours of the letter, or has more than two units.
type Letter = Option<Folded>;

#[derive(Clone, Copy)]
struct Folded {
    units: [u16; 2],
    count: u8,
}

impl Normaliser {
    /// Normalises with NFKC_Casefold.
    pub fn nfkc_casefold() -> Self {
        Self::new(casefold, true)
    }

    /// Normalises each code point separately, as Lucene's LowerCaseFilter does.
    pub fn lowercase() -> Self {
        Self::new(lowercase, false)
    }

    fn new(fold: fn(char, &mut String), composes: bool) -> Self {
        let pages = (0..CODE_POINTS / PAGE).map(|_| OnceLock::new()).collect();
        Normaliser {
            pages,
            fold,
            composes,
        }
    }

    /// Appends the normalised form of a word.
    fn push(&self, word: &str, units: &mut Vec<u16>) {
        let start = units.len();
        for letter in word.chars() {
            match self.letter(letter) {
                Some(folded) => {
                    units.extend_from_slice(&folded.units);
                    units.truncate(units.len() - folded.units.len() + folded.count as usize);
                }
                None => {
                    units.truncate(start);
                    units.extend(self.folded(word.chars()).encode_utf16());
                    return;
                }
            }
        }
    }

    #[inline(always)]
    fn letter(&self, letter: char) -> Letter {
        let (page, place) = (letter as usize / PAGE, letter as usize % PAGE);
        self.pages[page].get_or_init(|| self.page(page))[place]
    }

    fn page(&self, page: usize) -> [Letter; PAGE] {
        let letter = |place| char::from_u32((page * PAGE + place) as u32);
        std::array::from_fn(|place| letter(place).and_then(|letter| self.alone(letter)))
    }

    fn alone(&self, letter: char) -> Letter {
        let folded = self.folded(once(letter));
        let count = folded.encode_utf16().count();
        let mut units = [0; 2];
        if count > units.len() || self.composes && folded.chars().any(may_compose) {
            return None;
        }
        folded
            .encode_utf16()
            .zip(&mut units)
            .for_each(|(unit, slot)| *slot = unit);
        Some(Folded {
            units,
            count: count as u8,
        })
    }

    fn folded(&self, letters: impl Iterator<Item = char>) -> String {
        let mut folded = String::new();
        letters.for_each(|letter| (self.fold)(letter, &mut folded));
        if self.composes {
            folded.nfc().collect()
        } else {
            folded
        }
    }
}

fn may_compose(letter: char) -> bool {
    canonical_combining_class(letter) != 0 || is_nfc_quick(once(letter)) != IsNormalized::Yes
}

/// Appends the NFKC_Casefold mapping of a character (Unicode 3.13, R5), before composition with its neighbours.
fn casefold(letter: char, out: &mut String) {
    let folded: String = once(letter).nfd().default_case_fold().nfkc().collect();
    out.extend(
        folded
            .chars()
            .default_case_fold()
            .nfkc()
            .filter(|&c| !is_ignorable(c)),
    );
}

/// Appends Java's `Character.toLowerCase` of a code point.
fn lowercase(letter: char, out: &mut String) {
    match letter {
        '\u{130}' => out.push('i'),
        _ => out.extend(letter.to_lowercase()),
    }
}

/// Returns whether a character is a Default_Ignorable_Code_Point (Unicode DerivedCoreProperties).
fn is_ignorable(letter: char) -> bool {
    matches!(letter,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180E}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// The words of one or more texts in one buffer of UTF-16 units. A space follows each word.
#[derive(Default)]
pub struct Words {
    pub units: Vec<u16>,
    pub starts: Vec<i64>,
    pub ends: Vec<i64>,
    /// Start and end of each word in its text, in code points.
    pub first_points: Vec<i64>,
    pub last_points: Vec<i64>,
}

/// If the first `length` bytes of `text` are ASCII, appends them in lower case. Returns whether they are ASCII.
#[inline(always)]
fn push_ascii(text: &[u8], length: usize, is_plain: bool, units: &mut Vec<u16>) -> bool {
    // A block of fixed size is converted without a loop. Then the units after the end of the word are removed.
    if let (Some(block), 0..=CHUNK) = (text.first_chunk::<CHUNK>(), length) {
        let is_ascii = is_plain || block[..length].iter().fold(0, |all, byte| all | byte) < 128;
        if is_ascii {
            let end = units.len() + length;
            units.extend_from_slice(&block.map(|byte| byte.to_ascii_lowercase() as u16));
            units.truncate(end);
        }
        return is_ascii;
    }
    let word = &text[..length];
    if word.is_ascii() {
        units.extend(word.iter().map(|byte| byte.to_ascii_lowercase() as u16));
    }
    word.is_ascii()
}

impl Words {
    /// Appends the words of a text. Call `pad` after the last text, before the words are hashed.
    pub fn add(&mut self, text: &str, grammar: &Grammar, normaliser: &Normaliser) {
        self.units.reserve(text.len() + CHUNK);
        grammar.each_word(text.as_bytes(), |span| {
            self.starts.push(self.units.len() as i64);
            if !push_ascii(
                &text.as_bytes()[span.bytes.0..],
                span.bytes.1 - span.bytes.0,
                span.is_plain,
                &mut self.units,
            ) {
                normaliser.push(&text[span.bytes.0..span.bytes.1], &mut self.units);
            }
            self.ends.push(self.units.len() as i64);
            self.units.push(SPACE);
            self.first_points.push(span.points.0 as i64);
            self.last_points.push(span.points.1 as i64);
        });
    }

    /// Returns the units of a word.
    pub fn word(&self, index: usize) -> &[u16] {
        &self.units[self.starts[index] as usize..self.ends[index] as usize]
    }

    /// Returns the units of each word.
    pub fn iter(&self) -> impl Iterator<Item = &[u16]> {
        (0..self.starts.len()).map(|index| self.word(index))
    }

    /// Appends the padding that `murmur3` needs.
    pub fn pad(&mut self) {
        self.units.extend([SPACE; PADDING]);
    }

    /// Returns the words, joined by spaces.
    pub fn joined(&self) -> String {
        let units = &self.units[..self.ends.last().map_or(0, |&end| end as usize)];
        if units.iter().fold(0, |all, &unit| all | unit) < 128 {
            let ascii = units.iter().map(|&unit| unit as u8).collect();
            return String::from_utf8(ascii).unwrap_or_default();
        }
        String::from_utf16_lossy(units)
    }

    /// Returns the token ids of the pairs of adjacent words, ascending and distinct. A word with a space counts as two
    /// words. Call `pad` first.
    pub fn pair_codes(&self) -> Vec<u32> {
        let end = self.ends.last().map_or(0, |&end| end as usize);
        let spaces = (0..end).filter(|&place| self.units[place] == SPACE);
        let (mut first, mut second) = (0, None);
        let mut found = [0u64; (1 << PAIR_BITS) / 64]; // one bit for each token id
        for space in spaces.chain([end]) {
            if let Some(next) = second.replace(space + 1) {
                let code = murmur3(&self.units, first, space).0 >> (64 - PAIR_BITS);
                found[code as usize / 64] |= 1 << (code % 64);
                first = next;
            }
        }
        let mut codes = Vec::with_capacity(self.starts.len());
        for (place, &bits) in (0..).step_by(64).zip(&found) {
            let mut bits = bits;
            while bits != 0 {
                codes.push(place + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
        codes
    }

    pub fn clear(&mut self) {
        self.units.clear();
        self.starts.clear();
        self.ends.clear();
        self.first_points.clear();
        self.last_points.clear();
    }
}
