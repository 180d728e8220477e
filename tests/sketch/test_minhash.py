"""The bucket minima of a text are those of Lucene's MinHashFilter, in the order in which it emits them."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search import Analysis, Fingerprint, MinHash, fingerprint, fingerprints
from simdoc_search.analysis.shingles import shingles
from tests.support.strategies import analyses, corpora, texts
from tests.support.vectors import first_difference, load, plain_value, reference_texts

# The entries `icu_nfkc_cf` are left out: the ICU tokenizer finds other words (Thai and Chinese by dictionary).
CONFIGS: dict[str, list[dict[str, Any]]] = {text["id"]: text["standard_lowercase"] for text in load("minhash")["texts"]}
LUCENE = Analysis(profile="lowercase", short_texts=False)
Value = tuple[int, int, int]  # slot, val1, val2


def lucene_fingerprint(text_id: str, cfg: str) -> Fingerprint:
    hash_count, bucket_count, hash_set_size, rotation = cfg.split(",")
    minhash = MinHash(int(hash_count), int(bucket_count), int(hash_set_size), rotation == "true")
    return fingerprint(reference_texts()[text_id], LUCENE, minhash)


def rows(found: Fingerprint) -> list[Value]:
    values = found.minima
    return list(zip(values.slots.tolist(), values.val1.tolist(), values.val2.tolist(), strict=True))


plain_value = functools.cache(plain_value)


def plain_minima(found: list[str], settings: MinHash) -> list[Value]:
    """MinHashFilter by its definition, with dicts and tuples."""
    count = settings.bucket_count
    result: list[Value] = []
    for index in range(settings.hash_count):
        sets: dict[int, list[tuple[int, int]]] = {}
        for shingle in found:
            pair = plain_value(shingle, index)
            kept = sets.setdefault((pair[0] >> 32) // -(-(2**32) // count), [])
            if len(kept) == settings.hash_set_size:
                if pair >= kept[-1]:
                    continue
                kept.pop()  # the filter does this before it checks whether the set already has the new value
            if pair not in kept:
                kept.append(pair)
                kept.sort()
        slots = sorted(sets)
        if settings.with_rotation and settings.hash_set_size == 1 and sets:
            slots = list(range(count))
        for slot in slots:
            donor = min((bucket for bucket in sets if bucket >= slot), default=min(sets))
            result += [(index * count + slot, val1, val2) for val2, val1 in sets[donor]]
    return result


minhashes = st.builds(
    MinHash, st.integers(1, 3), st.sampled_from([1, 2, 3, 4, 7, 16, 100]), st.integers(1, 3), st.booleans()
)
repetitive_texts = st.lists(st.sampled_from(["a", "b", "é"]), max_size=30).map(" ".join)


def test_reference_texts_have_lucenes_minima_and_terms() -> None:
    """This compares the values in order, the buckets, and the bytes of the terms, with and without repeats."""
    for text_id, config in ((text_id, config) for text_id, configs in CONFIGS.items() for config in configs):
        distinct, cfg, case = config["distinct"], config["cfg"], (text_id, config["cfg"])
        emitted = [number for number, times in config["rle"] for _ in range(times)]
        found = lucene_fingerprint(text_id, cfg)
        expected = [(int(distinct[n]["v1"]), int(distinct[n]["v2"])) for n in emitted]
        once = [term.encode().hex() for term in found.tokens("lucene")]
        repeated = [term.encode().hex() for term in found.tokens("lucene", keep_repeats=True)]

        assert config["n"] == len(emitted), case
        assert None is first_difference(expected, [(val1, val2) for _, val1, val2 in rows(found)]), case
        assert None is first_difference([value["u8"] for value in distinct], once), case
        assert None is first_difference([distinct[n]["u8"] for n in emitted], repeated), case
        if "false" in cfg:
            places = [divmod(slot, found.sketch.slot_count) for slot, _, _ in rows(found)]
            buckets = [(distinct[n].get("h", 0), distinct[n]["b"]) for n in emitted]
            assert None is first_difference(buckets, places), case


@given(texts() | repetitive_texts, analyses(), minhashes)
def test_minima_follow_the_definition(text: str, analysis: Analysis, minhash: MinHash) -> None:
    """This is checked for any text and settings, with the filter's shrinking sets and with rotation."""
    expected = plain_minima(shingles(text, analysis), minhash)

    assert None is first_difference(expected, rows(fingerprint(text, analysis, minhash)))


@given(corpora(), analyses(), minhashes)
def test_fingerprints_of_many_texts_are_those_of_each(batch: list[str], analysis: Analysis, minhash: MinHash) -> None:
    together = list(fingerprints(batch, analysis, minhash))
    alone = [fingerprint(text, analysis, minhash) for text in batch]

    assert None is first_difference([rows(found) for found in alone], [rows(found) for found in together])
    assert [len(set(shingles(text, analysis))) for text in batch] == [found.shingle_count for found in together]


def test_a_stream_of_texts_is_hashed_lazily_and_in_order() -> None:
    """The texts form several batches. An endless stream yields its first fingerprint at once."""
    batch = [*reference_texts().values()] * 4
    alone = [rows(fingerprint(text)) for text in batch[:50]] * 4

    def endless() -> Any:
        while True:
            yield "so many words in every one of these texts " * 100

    assert None is first_difference(alone, [rows(found) for found in fingerprints(iter(batch))])
    assert 9 == next(fingerprints(endless())).shingle_count


@pytest.mark.parametrize("value", [0, True, 2.5, None, 2**32 + 1])
@pytest.mark.parametrize("name", ["hash_count", "bucket_count", "hash_set_size"])
def test_bad_settings_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be a whole number from 1 to 4,294,967,296, not {value!r}$"):
        MinHash(**{name: value})
