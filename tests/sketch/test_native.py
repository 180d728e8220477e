"""The native kernel computes exactly what the Python code does."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.analysis.native import kernel
from simdoc_search.analysis.settings import Analysis, Profile
from simdoc_search.analysis.word_grammar import character_classes
from simdoc_search.analysis.words import locate_words, words_of_texts
from simdoc_search.passages.align import AlignmentSettings, align
from simdoc_search.passages.exact_overlap import Measures, measure_many, measures
from simdoc_search.passages.passage import Passage
from simdoc_search.passages.text_matcher import TextMatcher
from simdoc_search.sketch.fingerprint import Fingerprint, fingerprints, shingle_token_ids
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.winnow import PassageSettings
from simdoc_search.stores.record import Phrase, PhraseMatches
from tests.support.pipeline import TRICKY, any_points, mixtures
from tests.support.slow_cases import slow_after
from tests.support.vectors import load, reference_texts

ANALYSES = [Analysis(), Analysis("lowercase", 2, short_texts=False), Analysis(shingle_size=1)]
SKETCHES = [MinHash(), MinHash(bucket_count=1), MinHash(bucket_count=4096, with_rotation=True)]
COMBINATIONS = dict.fromkeys([*zip(ANALYSES, SKETCHES, strict=True), *product(ANALYSES, SKETCHES)])
"""All combinations. The first three have each analysis and each sketch once."""
EVERY = pytest.mark.parametrize("every", slow_after(1, [15, 1]))
"""The default run compares every fifteenth hard text."""


@pytest.fixture(autouse=True)
def _native_kernel(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("SIMDOC_NATIVE", raising=False)
    kernel.cache_clear()
    if kernel() is None:
        pytest.skip("the package simdoc-search-native is not installed; scripts/native builds it")
    yield
    kernel.cache_clear()


@pytest.fixture
def in_python(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], Any]:
    """Call a function without the kernel."""

    def call(function: Callable[[], Any]) -> Any:
        with monkeypatch.context() as context:
            context.setenv("SIMDOC_NATIVE", "0")
            kernel.cache_clear()
            result = function()
        kernel.cache_clear()
        return result

    return call


@cache
def hard_texts() -> list[str]:
    """Texts in all scripts, with the words of Lucene's tests, surrogates, long words and long runs of joiners."""
    references = [*reference_texts().values(), *(entry["text"] for entry in load("words_random")["texts"])]
    runs = ["", "_" * 3000 + "a", "_" * 254 + "a", "_" * 255 + "a", "a" * 1000, "\u200d" * 600 + "a", "𠀋" * 300]
    return [*references, *TRICKY.values(), *runs, *mixtures("native", 300), *any_points("native", 100)]


def parts_of(fingerprint: Fingerprint) -> tuple[object, ...]:
    """Everything in a fingerprint, as comparable values."""
    arrays = (*(getattr(fingerprint.minima, name) for name in ("slots", "val1", "val2")), fingerprint.passages)
    values = [(array.dtype, array.tobytes()) for array in arrays]
    return (
        values,
        fingerprint.shingle_count,
        fingerprint.words_hash,
        None if fingerprint.word_pairs is None else fingerprint.word_pairs.tolist(),
    )


def all_parts(texts: Sequence[str], analysis: Analysis, minhash: MinHash) -> list[tuple[object, ...]]:
    """The fingerprints of texts, with everything that can be requested."""
    made = fingerprints(
        texts, analysis, minhash, with_words_hash=True, with_word_pairs=True, passages=PassageSettings(7)
    )
    return list(map(parts_of, made))


@EVERY
@pytest.mark.parametrize("combination", slow_after(3, COMBINATIONS), ids=str)
def test_fingerprints_are_equal(
    in_python: Callable[..., Any], combination: tuple[Analysis, MinHash], every: int
) -> None:
    """This compares minima, numbers of shingles, hashes, words and passage tokens."""
    texts, (analysis, minhash) = hard_texts()[::every], combination

    assert in_python(lambda: all_parts(texts, analysis, minhash)) == all_parts(texts, analysis, minhash)


def test_a_character_anywhere_among_plain_words_gives_equal_fingerprints(in_python: Callable[..., Any]) -> None:
    """The kernel reads plain words in blocks of 64 bytes, and other words letter by letter."""
    plain = "Plain words of Letters, as usual. " * 6
    texts = [plain[:at] + character + plain[at:] for character in "a '1_.é漢\u0308" for at in range(150)]

    assert in_python(lambda: all_parts(texts, Analysis(), MinHash())) == all_parts(texts, Analysis(), MinHash())


def altered_pairs(numbers: Iterable[int]) -> list[tuple[str, str]]:
    """Pairs of texts that share stretches of words: moved, repeated, changed, or of very few words."""
    pairs = []
    for number in numbers:
        rng = random.Random(f"runs {number}")
        vocabulary = [f"w{word}" for word in range(rng.choice([1, 2, 3, 8, 50, 500]))]
        words = rng.choices(vocabulary, k=rng.choice([0, 1, 5, 20, 150, 800]))
        other = rng.choices(vocabulary, k=rng.choice([0, 3, 40]))
        for _ in range(rng.randrange(6)):
            start, place = rng.randrange(len(words) + 1), rng.randrange(len(other) + 1)
            other[place:place] = words[start : start + rng.choice([1, 2, 6, 13, 60, 400])]
        if number % 2 and other:
            for _ in range(len(other) // 9):
                other[rng.randrange(len(other))] = rng.choice(vocabulary)
        pairs.append((" ".join(words), " ".join(other)))
    return pairs


@pytest.mark.parametrize(
    "alignment",
    [
        AlignmentSettings(),
        AlignmentSettings(min_run=1),
        AlignmentSettings(min_run=3, max_gap=0),
        AlignmentSettings(min_run=40),
        AlignmentSettings(min_run=4, edited=False),
    ],
    ids=str,
)
@pytest.mark.parametrize("numbers", slow_after(1, [range(20), range(20, 400)]))
def test_passages_are_equal(in_python: Callable[..., Any], alignment: AlignmentSettings, numbers: range) -> None:
    """Sums and logarithms are equal to the last bit."""
    pairs = altered_pairs(numbers)

    def aligned() -> list[list[Passage]]:
        return [align(a, b, alignment) for a, b in pairs]

    passages = aligned()

    assert in_python(aligned) == passages
    assert sum(map(bool, passages)) > len(pairs) // 4


@EVERY
def test_matched_words_are_equal(in_python: Callable[..., Any], every: int) -> None:
    """One text is compared with many."""
    first, *others = [text for pair in altered_pairs(range(20)) for text in pair]
    others += hard_texts()[::every]

    def matched() -> list[tuple[list[bool], int]]:
        matcher = TextMatcher(first, len(first.split()), Analysis(), AlignmentSettings(min_run=2))
        found = matcher.match([first, *others])
        return [(mask.tolist(), count) for mask, count in found]

    assert in_python(matched) == matched()
    assert sum(any(mask) for mask, _ in matched()) > 3


@EVERY
def test_phrases_are_equal(in_python: Callable[..., Any], every: int) -> None:
    """A word can contain a space after its normalisation. It then counts as two words."""
    texts = [*hard_texts()[::every], *itertools.chain.from_iterable(altered_pairs(range(10)))]
    words = [word for text in words_of_texts(texts) for word in text]
    rng = random.Random("phrases")
    starts = rng.sample(range(len(words) - 9), 500)
    phrases = [Phrase(tuple(words[start : start + rng.randint(1, 9)]), "") for start in starts]
    with open_store(":memory:", create=True) as store:
        SimilaritySearch(store).index(Document(str(number), text) for number, text in enumerate(texts))

        def found() -> PhraseMatches:
            return store.documents_with_phrases(phrases)

        matches = found()
        assert in_python(found) == matches
    assert len({index for indices in matches.documents.values() for index in indices}) > 400


@EVERY
@pytest.mark.parametrize("analysis", ANALYSES, ids=str)
def test_measures_are_equal(in_python: Callable[..., Any], analysis: Analysis, every: int) -> None:
    """Also for texts with few words, and with words that contain spaces."""
    first, *others = [*hard_texts()[::every], *itertools.chain.from_iterable(altered_pairs(range(10)))]

    def measured() -> list[Measures]:
        return measure_many(first, others, analysis) + measure_many(others[-1], others, analysis)

    assert (
        in_python(measured)
        == measured()
        == [measures(text, b, analysis) for text in (first, others[-1]) for b in others]
    )


def test_words_are_at_equal_places(in_python: Callable[..., Any]) -> None:
    """The places are positions in the original text. A surrogate pair counts as two characters."""

    def places() -> list[tuple[object, ...]]:
        placed = [locate_words(text) for text in hard_texts()]
        return [(words.words, words.starts.tolist(), words.ends.tolist()) for words in placed]

    assert in_python(places) == places()


@EVERY
def test_hashes_of_shingles_are_equal(in_python: Callable[..., Any], every: int) -> None:
    """This is checked with settings that the kernel supports only for hashes."""
    analysis = Analysis(unit="character", shingle_size=9)

    def token_ids() -> list[list[int]]:
        return [shingle_token_ids(text, analysis).tolist() for text in hard_texts()[::every]]

    assert in_python(token_ids) == token_ids()


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["nfkc_cf", "lowercase"])
def test_every_letter_is_normalised_equally(in_python: Callable[..., Any], profile: Profile) -> None:
    """Each letter is checked alone, inside a word and before an accent."""
    letters = [chr(point) for point in np.flatnonzero(character_classes().class_ids).tolist()]
    texts = [f"a{letter}b {letter} {letter}\u0301" for letter in letters]

    def words() -> list[list[str]]:
        return words_of_texts(texts, Analysis(profile))

    assert in_python(words) == words()
