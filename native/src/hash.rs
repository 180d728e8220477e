//! MurmurHash3 x64 128 (Austin Appleby), seed 0, over UTF-16LE bytes, as in Lucene's MinHashFilter.

const C1: u64 = 0x87C3_7B91_1142_53D5;
const C2: u64 = 0x4CF5_AD43_2745_937F;

/// Number of units that a buffer must contain after its last string. Their values do not matter.
pub const PADDING: usize = 8;

const BLOCK: usize = 8; // UTF-16 units in a block of 16 bytes

/// Returns both halves of the hash of `units[start..end]`. To avoid branches, the units after the last whole block are
/// read as a whole block and masked.
#[inline]
pub fn murmur3(units: &[u16], start: usize, end: usize) -> (u64, u64) {
    let (mut h1, mut h2) = (0u64, 0u64);
    let units = &units[start..end + PADDING];
    let length = end - start;
    let blocks = units[..length].chunks_exact(BLOCK);
    let left = length % BLOCK;
    for block in blocks {
        h1 ^= scramble(quad(block, 0), C1, 31, C2);
        h1 = h1
            .rotate_left(27)
            .wrapping_add(h2)
            .wrapping_mul(5)
            .wrapping_add(0x52DC_E729);
        h2 ^= scramble(quad(block, 4), C2, 33, C1);
        h2 = h2
            .rotate_left(31)
            .wrapping_add(h1)
            .wrapping_mul(5)
            .wrapping_add(0x3849_5AB5);
    }
    let tail = &units[length - left..length - left + BLOCK];
    h1 ^= scramble(quad(tail, 0) & MASKS[left.min(4)], C1, 31, C2);
    h2 ^= scramble(quad(tail, 4) & MASKS[left.saturating_sub(4)], C2, 33, C1);
    h1 ^= 2 * length as u64;
    h2 ^= 2 * length as u64;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = mix(h1);
    h2 = mix(h2);
    h1 = h1.wrapping_add(h2);
    (h1, h2.wrapping_add(h1))
}

/// Masks for the first units of a block of 8 bytes. The index is the number of units to keep.
const MASKS: [u64; 5] = [0, 0xFFFF, 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF, u64::MAX];

/// Returns four units as one little-endian number.
#[inline(always)]
fn quad(units: &[u16], at: usize) -> u64 {
    let four: [u16; 4] = units[at..at + 4].try_into().unwrap();
    u64::from_le(bytemuck::cast(four.map(u16::to_le)))
}

#[inline(always)]
fn scramble(value: u64, first: u64, bits: u32, second: u64) -> u64 {
    value
        .wrapping_mul(first)
        .rotate_left(bits)
        .wrapping_mul(second)
}

fn mix(mut value: u64) -> u64 {
    value ^= value >> 33;
    value = value.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    value ^= value >> 33;
    value = value.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    value ^ value >> 33
}
