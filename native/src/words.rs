//! Words of a text, as Lucene's StandardTokenizer finds them, normalised and joined by spaces.

use std::iter::once;
use std::sync::OnceLock;

use crate::hash::PADDING;
use caseless::Caseless;
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{is_nfc_quick, IsNormalized, UnicodeNormalization};

pub const CODE_POINTS: usize = 0x110000;
const MAX_UNITS: usize = 255;
const SPACE: u16 = b' ' as u16;

/// The word grammar as an automaton over classes of characters; Python compiles it.
pub struct Grammar {
    pub symbols: Vec<u8>,
    pub joiners: Vec<bool>,
    pub next: Vec<u8>,
    pub accepting: usize,
}

/// A word in a text: bytes and code points from start to end.
struct Span {
    bytes: (usize, usize),
    points: (usize, usize),
}

impl Grammar {
    fn width(&self) -> usize {
        self.joiners.len()
    }

    /// Calls `emit` for each word of a text, in order.
    fn each_word(&self, text: &str, emit: impl FnMut(Span)) {
        if text.is_ascii() {
            self.scan(text.as_bytes(), |bytes, at| (bytes[at] as u32, 1), emit);
        } else {
            self.scan(text.as_bytes(), decoded, emit);
        }
    }

    /// Reads on as long as a longer word may come, and takes the longest one.
    #[inline(always)]
    fn scan(
        &self,
        text: &[u8],
        decode: impl Fn(&[u8], usize) -> (u32, usize),
        mut emit: impl FnMut(Span),
    ) {
        let width = self.width();
        let (mut here, mut point) = (0, 0);
        while here < text.len() {
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
            let mut row = &self.next[state * width..(state + 1) * width];
            while at < text.len() {
                let (letter, letter_size) = decode(text, at);
                units += units_of(letter);
                if units > MAX_UNITS {
                    break;
                }
                symbol = self.symbols[letter as usize] as usize;
                let next = row[symbol] as usize;
                if next != state {
                    // Most letters do not change the state; only here does anything wait for the table.
                    if state >= self.accepting {
                        (end, end_points) = (at, points);
                    }
                    if next == 0 {
                        state = 0;
                        break;
                    }
                    only_joiners &= self.joiners[symbol];
                    state = next;
                    row = &self.next[state * width..(state + 1) * width];
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
                });
                (here, point) = (end, point + end_points);
            } else if only_joiners && units > MAX_UNITS {
                // No word begins in a long run of joiners before its last 255 units.
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

/// Decodes the UTF-8 character at a byte of valid UTF-8.
fn decoded(text: &[u8], at: usize) -> (u32, usize) {
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

/// Normalises words. A letter that its neighbours do not influence is looked up in a table.
pub struct Normaliser {
    /// For each letter of 256 its UTF-16 unit or WHOLE_WORD; a page is made when one of its letters occurs.
    pages: Vec<OnceLock<[i32; PAGE]>>,
    fold: fn(char, &mut String),
    composes: bool,
}

const PAGE: usize = 256;
const WHOLE_WORD: i32 = -1;

impl Normaliser {
    /// NFKC_Casefold of each word.
    pub fn nfkc_casefold() -> Self {
        Self::new(casefold, true)
    }

    /// Lucene's LowerCaseFilter: each code point alone.
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

    /// Appends a normalised word.
    fn push(&self, word: &str, units: &mut Vec<u16>) {
        let start = units.len();
        for letter in word.chars() {
            match self.letter(letter) {
                WHOLE_WORD => {
                    units.truncate(start);
                    units.extend(self.folded(word.chars()).encode_utf16());
                    return;
                }
                unit => units.push(unit as u16),
            }
        }
    }

    fn letter(&self, letter: char) -> i32 {
        let (page, place) = (letter as usize / PAGE, letter as usize % PAGE);
        self.pages[page].get_or_init(|| self.page(page))[place]
    }

    fn page(&self, page: usize) -> [i32; PAGE] {
        let letter = |place| char::from_u32((page * PAGE + place) as u32);
        std::array::from_fn(|place| letter(place).map_or(WHOLE_WORD, |letter| self.alone(letter)))
    }

    fn alone(&self, letter: char) -> i32 {
        let folded = self.folded(once(letter));
        let mut letters = folded.chars();
        match (letters.next(), letters.next()) {
            (Some(one), None) if one <= '\u{FFFF}' && !(self.composes && may_compose(one)) => {
                one as i32
            }
            _ => WHOLE_WORD,
        }
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

/// Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties.
fn is_ignorable(letter: char) -> bool {
    matches!(letter,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180E}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// The words of one or more texts in one buffer of UTF-16 units, a space after each word.
#[derive(Default)]
pub struct Words {
    pub units: Vec<u16>,
    pub starts: Vec<i64>,
    pub ends: Vec<i64>,
    /// Where the words stand in their text, in code points.
    pub first_points: Vec<i64>,
    pub last_points: Vec<i64>,
}

impl Words {
    /// Appends the words of a text. Call `pad` once after the last one.
    pub fn add(&mut self, text: &str, grammar: &Grammar, normaliser: &Normaliser) {
        grammar.each_word(text, |span| {
            self.starts.push(self.units.len() as i64);
            let word = &text[span.bytes.0..span.bytes.1];
            if word.is_ascii() {
                self.units
                    .extend(word.bytes().map(|byte| byte.to_ascii_lowercase() as u16));
            } else {
                normaliser.push(word, &mut self.units);
            }
            self.ends.push(self.units.len() as i64);
            self.units.push(SPACE);
            self.first_points.push(span.points.0 as i64);
            self.last_points.push(span.points.1 as i64);
        });
    }

    /// Lets hashes read a whole block at the end.
    pub fn pad(&mut self) {
        self.units.extend([SPACE; PADDING]);
    }

    /// The words, joined by one space.
    pub fn joined(&self) -> String {
        let units = &self.units[..self.ends.last().map_or(0, |&end| end as usize)];
        if units.iter().fold(0, |all, &unit| all | unit) < 128 {
            let ascii = units.iter().map(|&unit| unit as u8).collect();
            return String::from_utf8(ascii).unwrap_or_default();
        }
        String::from_utf16_lossy(units)
    }

    pub fn clear(&mut self) {
        self.units.clear();
        self.starts.clear();
        self.ends.clear();
        self.first_points.clear();
        self.last_points.clear();
    }
}
