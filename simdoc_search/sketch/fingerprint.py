"""Makes fingerprints of texts, and estimates the overlap of two texts from them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.hashes import WordsHash, hash_joined_words, join_words
from simdoc_search.analysis.native import Kernel, kernel
from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.shingles import shingles_of_texts
from simdoc_search.analysis.words import call_kernel_method
from simdoc_search.sketch.base import MAX_SLOTS, Minima, Sketch
from simdoc_search.sketch.estimate import TokenOverlap, compare_token_ids, overlap_interval
from simdoc_search.sketch.hashing import compute_minima, count_distinct_shingles, hash_shingles, top_bits
from simdoc_search.sketch.long_text import MIN_LONG_TEXT_LENGTH, can_cut_texts, long_text_minima
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.terms import compare_terms, encode_terms, select_reliable_minima
from simdoc_search.sketch.tokens import bucketed_token_ids, decode, empty_token_ids, encode
from simdoc_search.sketch.winnow import PassageSettings, Winnowing, winnow_texts
from simdoc_search.sketch.word_pairs import word_pair_token_ids

_BATCH_SIZE = 1 << 16
"""Size of a batch; see `split_into_batches`. A larger batch does not fit into the processor's cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprint:
    """The minima of a text, its number of shingles, and its passage tokens.

    Attributes:
        analysis: how the text was split into shingles.
        sketch: the sketch that computed the minima from the shingles.
        shingle_count: number of distinct shingles.
        minima: the smallest hashes of each slot (see `Minima`). If `sketch.with_rotation` is set, empty slots are
            filled.
        words_hash: `text_hash` of the normalised words, joined by one space. It is equal for texts with the same words.
            Empty unless requested.
        word_pairs: token ids of the pairs of adjacent words, ascending and distinct; uint32. None unless requested, and
            always None for very long texts.
        passages: passage token ids, which find shared passages (see `sketch.winnow`); uint32, ascending, without
            repeats. Empty unless requested.
    """

    analysis: Analysis
    sketch: Sketch
    shingle_count: int
    minima: Minima
    words_hash: str = ""
    word_pairs: NDArray[np.uint32] | None = None
    passages: NDArray[np.uint32] = field(default_factory=empty_token_ids)

    def __repr__(self) -> str:
        return f"Fingerprint({len(self.minima.slots):,} values of {self.shingle_count:,} shingles, {self.sketch})"

    def token_ids(self) -> NDArray[np.uint32]:
        """Return the tokens in the format `bucketed` as numbers; uint32, shape (tokens,), ascending.

        Raises:
            ValueError: the sketch does not support tokens in the format `bucketed`.
        """
        return bucketed_token_ids(self.minima, self.sketch)

    def tokens(self, format: str = "bucketed", *, keep_repeats: bool = False) -> list[str]:
        """Return the terms to index or to query.

        Args:
            format: `bucketed`, for fields of simdoc-search, or `lucene`, for fields that an engine's `min_hash` filter
                fills.
            keep_repeats: whether to return a `lucene` term as often as the filter emits it.

        Raises:
            ValueError: the format is unknown, or the settings have no tokens of this format. For example, a fingerprint
                with a hash key has no `lucene` terms.
        """
        if format == "bucketed":
            return encode(self.token_ids())
        if format == "lucene":
            return self.sketch.lucene_terms(self.minima, keep_repeats=keep_repeats)
        raise ValueError(f"format must be 'bucketed' or 'lucene', not {format!r}")

    def overlap(self, other: Fingerprint) -> float:
        """Estimate the Jaccard similarity of the shingles of two texts, 0..1.

        With 512 buckets, the standard error is at most sqrt(J (1 - J) / 512): 0.018 at J = 0.2 and 0.022 at J = 0.5. It
        is smaller for texts of up to a few thousand shingles. With several hash functions, it is larger for short
        texts.

        Raises:
            ValueError: the fingerprints were made with different settings.
        """
        return self._compare(other).overlap

    def interval(self, other: Fingerprint) -> tuple[float, float]:
        """Return the 95 % confidence interval of `overlap`, as fractions.

        Raises:
            ValueError: the fingerprints were made with different settings, or with several hash functions. Several
                functions sample the same shingles, so the number of buckets does not determine the error.
        """
        if isinstance(self.sketch, MinHash) and self.sketch.hash_count > 1:
            raise ValueError(
                f"a confidence interval requires hash_count 1, not {self.sketch.hash_count}; use the method "
                "`overlap` instead"
            )
        compared = self._compare(other)
        return overlap_interval(compared.shared_count, compared.union_count)

    def _compare(self, other: Fingerprint) -> TokenOverlap:
        if (self.analysis, self.sketch) != (other.analysis, other.sketch):
            raise ValueError(
                "fingerprints made with different settings cannot be compared: "
                f"{self.analysis}, {self.sketch} and {other.analysis}, {other.sketch}"
            )
        sketch = self.sketch
        try:
            sketch.require_bucketed_tokens()
        except ValueError:  # these MinHash settings yield Lucene terms instead of tokens
            assert isinstance(sketch, MinHash)  # noqa: S101
            ours, theirs = (encode_terms(select_reliable_minima(fp.minima, sketch), sketch) for fp in (self, other))
            return compare_terms(ours, theirs, sketch)
        return compare_token_ids(self.token_ids(), other.token_ids())


def fingerprint(
    text: str,
    analysis: Analysis | None = None,
    sketch: Sketch | None = None,
    *,
    passages: PassageSettings | None = None,
) -> Fingerprint:
    """Return the fingerprint of one text. A text without words has no minima and no tokens."""
    return next(fingerprints([text], analysis, sketch, passages=passages))


def fingerprints(
    texts: Iterable[str],
    analysis: Analysis | None = None,
    sketch: Sketch | None = None,
    *,
    with_words_hash: bool = False,
    with_word_pairs: bool = False,
    passages: PassageSettings | None = None,
) -> Iterator[Fingerprint]:
    """Yield the fingerprints of many texts in order, lazily.

    This is several times faster than one call of `fingerprint` per text. `with_words_hash`, `with_word_pairs` and
    `passages` fill the attributes `words_hash`, `word_pairs` and `passages`. Each of these options adds a few percent
    to the time.
    """
    analysis, sketch = analysis or Analysis(), sketch or MinHash()
    for batch in split_into_batches(texts, sketch.slot_count):
        if len(batch) == 1 and len(batch[0]) >= MIN_LONG_TEXT_LENGTH and can_cut_texts(analysis, sketch):
            yield _fingerprint_long_text(batch[0], analysis, sketch, passages, with_words_hash=with_words_hash)
            continue
        native = kernel()
        if native is not None and is_supported_by_kernel(sketch, analysis):
            window = passages.window if passages else 0
            yield from _fingerprint_natively(
                native, batch, analysis, sketch, (window, with_words_hash, with_word_pairs)
            )
            continue
        words_of_batch, shingles = shingles_of_texts(batch, analysis)
        h1, h2 = hash_shingles(shingles, sketch.key)
        joined = join_words(words_of_batch) if with_words_hash or with_word_pairs else []
        none = [empty_token_ids()] * len(batch)
        for minima_of_text, count, hash_of_text, pairs_of_text, passages_of_text in zip(
            compute_minima(shingles, sketch, h1, h2),
            count_distinct_shingles(shingles, h1),
            hash_joined_words(joined) if with_words_hash else [""] * len(batch),
            word_pair_token_ids(list(map(bytes.decode, joined))) if with_word_pairs else [None] * len(batch),
            winnow_texts(top_bits(h1), shingles.counts, passages.window) if passages else none,
            strict=True,
        ):
            completed = sketch.complete(minima_of_text)
            yield Fingerprint(analysis, sketch, count, completed, hash_of_text, pairs_of_text, passages_of_text)


def shingle_token_ids(text: str, analysis: Analysis | None = None, sketch: Sketch | None = None) -> NDArray[np.uint32]:
    """Return a passage token id for every shingle of a text. A query with these ids also finds short shared runs.

    A stored document has passage token ids for only about 2 in 33 of its shingles, so the query can miss a run that is
    shorter than `PassageSettings.guaranteed_run_length`. `PassageSettings.probability_of_finding` returns the
    probability of finding it. Use this function for texts of up to 1,000 shingles. Longer texts need too many terms.

    Returns:
        Token ids; uint32, ascending, without repeats. They include all of `Fingerprint.passages`.
    """
    shingles = shingles_of_texts([text], analysis or Analysis())[1]
    return distinct(top_bits(hash_shingles(shingles, sketch.key if sketch else None)[0]))


def overlap_of_tokens(a: str | Sequence[str], b: str | Sequence[str]) -> float:
    """Estimate the overlap of two documents from their tokens, 0..1. It is 0 if one of them has no tokens.

    Args:
        a: tokens of one document, in any order, as a list or as the string in an index field.
        b: tokens of the other document, made with the same settings.

    Raises:
        ValueError: a token is malformed, or tokens have different lengths.
    """
    both = [tokens.split() if isinstance(tokens, str) else tokens for tokens in (a, b)]
    if not all(both):
        return 0.0
    token_ids = [np.unique(decode(tokens)) for tokens in both]
    return compare_token_ids(token_ids[0], token_ids[1]).overlap


def _fingerprint_long_text(
    text: str, analysis: Analysis, sketch: Sketch, passages: PassageSettings | None, *, with_words_hash: bool
) -> Fingerprint:
    hashing = WordsHash() if with_words_hash else None
    winnowing = Winnowing(passages.window) if passages else None
    values, count = long_text_minima(text, analysis, sketch, hashing, winnowing)
    passage_token_ids = winnowing.token_ids() if winnowing else empty_token_ids()
    hash_of_words = hashing.hexdigest() if hashing else ""
    return Fingerprint(analysis, sketch, count, sketch.complete(values), hash_of_words, passages=passage_token_ids)


def is_supported_by_kernel(sketch: Sketch, analysis: Analysis) -> TypeGuard[MinHash]:
    """Return whether the native kernel supports these settings. It supports the default settings and similar ones."""
    if not analysis.is_plain or analysis.unit != "word" or not isinstance(sketch, MinHash) or sketch.key:
        return False
    count = sketch.bucket_count
    return sketch.hash_count == sketch.hash_set_size == 1 and not count & (count - 1) and count <= MAX_SLOTS


def _fingerprint_natively(
    native: Kernel, texts: list[str], analysis: Analysis, minhash: MinHash, requested_outputs: tuple[int, bool, bool]
) -> Iterator[Fingerprint]:
    """Yield fingerprints made by the native kernel.

    The kernel must support the settings. `requested_outputs` is the window of passage tokens (0: no passage tokens),
    whether to return hashes of words, and whether to return token ids of pairs of words.
    """
    arrays, hashes = call_kernel(native, texts, analysis, minhash, requested_outputs)
    slots, val1, val2, counts, shingles, token_ids, passage_counts, pairs, pair_counts = arrays
    parts = (counts.cumsum().tolist(), passage_counts.cumsum().tolist(), pair_counts.cumsum().tolist())
    start = passage_start = pair_start = 0
    for index, (end, passage_end, pair_end) in enumerate(itertools.zip_longest(*parts)):
        minima = minhash.complete(Minima(slots[start:end], val1[start:end], val2[start:end]))
        hash_of_text = hashes[index] if hashes else ""
        pairs_of_text = None if pair_end is None else pairs[pair_start:pair_end]
        passage_token_ids = token_ids[passage_start:passage_end]
        yield Fingerprint(
            analysis, minhash, int(shingles[index]), minima, hash_of_text, pairs_of_text, passage_token_ids
        )
        start, passage_start, pair_start = end, passage_end, pair_end


def call_kernel(
    native: Kernel, texts: list[str], analysis: Analysis, minhash: MinHash, requested_outputs: tuple[int, bool, bool]
) -> tuple[list[NDArray[Any]], list[str]]:
    """Call `Kernel.fingerprints`. Return its arrays, and for each text the hash of its words if requested."""
    settings = (analysis.profile, analysis.shingle_size, analysis.short_texts, minhash.bucket_count, *requested_outputs)
    buffers, hashes = call_kernel_method(native.fingerprints, texts, *settings)
    types = (np.int64, np.uint64, np.uint64, np.int64, np.int64, np.uint32, np.int64, np.uint32, np.int64)
    return list(map(np.frombuffer, buffers, types)), hashes


def split_into_batches(texts: Iterable[str], slot_count: int) -> Iterator[list[str]]:
    """Yield texts in batches of limited size. A long text is its own batch.

    The size of a text is its number of characters plus `slot_count`.
    """
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and len(text) >= MIN_LONG_TEXT_LENGTH:
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text) + slot_count
        if size >= _BATCH_SIZE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
