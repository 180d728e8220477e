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

# The entries `icu_nfkc_cf` are left out: the ICU tokenizer's words are others (Thai and Chinese by dictionary).
CONFIGS: dict[str, list[dict[str, Any]]] = {each["id"]: each["standard_lowercase"] for each in load("minhash")["texts"]}
LUCENE = Analysis(profile="lowercase", short_texts=False)
Value = tuple[int, int, int]  # slot, val1, val2


@functools.cache
def lucene_fingerprint(text_id: str, cfg: str) -> Fingerprint:
    hash_count, bucket_count, hash_set_size, rotation = cfg.split(",")
    minhash = MinHash(int(hash_count), int(bucket_count), int(hash_set_size), rotation == "true")
    return fingerprint(reference_texts()[text_id], LUCENE, minhash)


def rows(found: Fingerprint) -> list[Value]:
    values = found.minima
    return list(zip(values.slots.tolist(), values.val1.tolist(), values.val2.tolist(), strict=True))


def plain_minima(found: list[str], settings: MinHash) -> list[Value]:
    """MinHashFilter as its definition reads, on dicts and tuples."""
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
                kept.pop()  # before it is known whether the set holds the new one already
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


def minhashes() -> st.SearchStrategy[MinHash]:
    """Small settings of all kinds."""
    return st.builds(
        MinHash,
        st.integers(1, 3),
        st.sampled_from([1, 2, 3, 4, 7, 16, 100]),
        st.integers(1, 3),
        st.booleans(),
    )


def repetitive_texts() -> st.SearchStrategy[str]:
    """Texts of few words, whose shingles come again and again."""
    return st.lists(st.sampled_from(["a", "b", "é"]), max_size=30).map(" ".join)


@pytest.mark.parametrize("text_id", CONFIGS)
def test_minima_of_reference_texts_are_lucenes(text_id: str) -> None:
    """Every value that Lucene's filter emits is there, as often and in the same order."""
    for config in CONFIGS[text_id]:
        emitted = [config["distinct"][which] for which, times in config["rle"] for _ in range(times)]
        found = rows(lucene_fingerprint(text_id, config["cfg"]))

        assert config["n"] == len(emitted), config["cfg"]
        assert None is first_difference(
            [(int(each["v1"]), int(each["v2"])) for each in emitted], [(val1, val2) for _, val1, val2 in found]
        ), config["cfg"]


@pytest.mark.parametrize("text_id", CONFIGS)
def test_buckets_of_reference_texts_are_lucenes(text_id: str) -> None:
    """Without rotation each value stands in the bucket, and with the hash function, that Lucene says."""
    configs = [each for each in CONFIGS[text_id] if "false" in each["cfg"]]

    assert [] != configs
    for config in configs:
        emitted = [config["distinct"][which] for which, times in config["rle"] for _ in range(times)]
        found = lucene_fingerprint(text_id, config["cfg"])
        places = [divmod(slot, found.minhash.positions) for slot, _, _ in rows(found)]

        assert None is first_difference([(each.get("h", 0), each["b"]) for each in emitted], places), config["cfg"]


@pytest.mark.parametrize("text_id", CONFIGS)
def test_terms_of_reference_texts_are_lucenes(text_id: str) -> None:
    """The terms are, byte by byte, those in a Lucene index: once each, or as often as they are emitted."""
    for config in CONFIGS[text_id]:
        distinct = [each["u8"] for each in config["distinct"]]
        emitted = [distinct[which] for which, times in config["rle"] for _ in range(times)]
        found = lucene_fingerprint(text_id, config["cfg"])

        once = [term.encode().hex() for term in found.tokens("lucene")]
        repeated = [term.encode().hex() for term in found.tokens("lucene", repeats=True)]

        assert None is first_difference(distinct, once), config["cfg"]
        assert None is first_difference(emitted, repeated), config["cfg"]


def test_a_repeated_shingle_costs_a_value_of_a_full_set() -> None:
    """Lucene's sets shrink when a full one meets a value again that it holds: 9 values here, not 10."""
    assert 9 == len(lucene_fingerprint("repeat_mixed", "2,1,5,true").minima.slots)


@given(st.one_of(texts(), repetitive_texts()), analyses(), minhashes())
def test_minima_follow_the_definition(text: str, analysis: Analysis, minhash: MinHash) -> None:
    """Any text and settings give what the definition of the filter gives, its shrinking sets and rotation too."""
    expected = plain_minima(shingles(text, analysis), minhash)

    assert None is first_difference(expected, rows(fingerprint(text, analysis, minhash)))


@given(repetitive_texts(), minhashes())
def test_minima_of_repetitive_texts_follow_the_definition(text: str, minhash: MinHash) -> None:
    """Short shingles of few words meet full sets all the time."""
    analysis = Analysis(shingle_size=2)
    expected = plain_minima(shingles(text, analysis), minhash)

    assert None is first_difference(expected, rows(fingerprint(text, analysis, minhash)))


@pytest.mark.parametrize("rotation", [True, False])
@pytest.mark.parametrize("bucket_count", [1, 3, 512, 65537])
def test_every_number_of_buckets_follows_the_definition(bucket_count: int, rotation: bool) -> None:
    """One bucket, and numbers of buckets that do not divide 2**32, are cut as in Lucene."""
    text, minhash = reference_texts()["solr_doc2"], MinHash(bucket_count=bucket_count, with_rotation=rotation)
    expected = plain_minima(shingles(text), minhash)

    assert (bucket_count if rotation else 1) <= len(expected)
    assert None is first_difference(expected, rows(fingerprint(text, minhash=minhash)))


def test_rotation_fills_every_bucket_from_its_right() -> None:
    """An empty bucket takes the value of the next one to the right that is not empty, around the end."""
    text = "one two three four five six seven eight"
    own = {slot: value for slot, *value in rows(fingerprint(text, minhash=MinHash(bucket_count=16)))}
    expected = {}
    for slot in range(16):
        donor = slot
        while donor not in own:
            donor = (donor + 1) % 16
        expected[slot] = own[donor]

    assert len(own) < 16
    assert expected == {slot: value for slot, *value in rows(fingerprint(text, minhash=MinHash(1, 16, 1, True)))}


@pytest.mark.parametrize("minhash", [MinHash(), MinHash(2, 3, 4), MinHash(with_rotation=True)])
def test_a_text_without_words_has_no_minima(minhash: MinHash) -> None:
    """No shingle fills no bucket, and rotation has nothing to fill it with."""
    found = fingerprint("...", minhash=minhash)

    assert ([], 0) == (rows(found), found.shingles)


@given(corpora(), analyses(), minhashes())
def test_fingerprints_of_many_texts_are_those_of_each(batch: list[str], analysis: Analysis, minhash: MinHash) -> None:
    """Texts that are hashed together get the minima and shingle counts that each gets alone."""
    together = list(fingerprints(batch, analysis, minhash))
    alone = [fingerprint(text, analysis, minhash) for text in batch]

    assert None is first_difference([rows(each) for each in alone], [rows(each) for each in together])
    assert [len(set(shingles(text, analysis))) for text in batch] == [each.shingles for each in together]


def test_fingerprints_of_more_texts_than_a_batch_holds_are_in_order() -> None:
    """A long stream of texts is hashed in several batches, and comes back complete and in order."""
    batch = [*reference_texts().values()] * 4
    alone = [rows(fingerprint(text)) for text in batch[:50]] * 4

    assert None is first_difference(alone, [rows(each) for each in fingerprints(iter(batch))])


def test_fingerprints_are_made_as_they_are_asked_for() -> None:
    """A stream without end gives its first fingerprint at once."""

    def endless() -> Any:
        while True:
            yield "so many words in every one of these texts " * 100

    assert 9 == next(fingerprints(endless())).shingles


@pytest.mark.parametrize("value", [0, -1, True, 1.0, 2.5, "5", None, 2**32 + 1])
@pytest.mark.parametrize("name", ["hash_count", "bucket_count", "hash_set_size"])
def test_bad_minhash_settings_are_refused(name: str, value: Any) -> None:
    """A number of functions, buckets or values that is no whole number of at least 1 is an error that says so."""
    with pytest.raises(ValueError) as error:  # noqa: PT011 - compared below
        MinHash(**{name: value})

    assert f"{name} must be a whole number of at least 1, not {value!r}" == str(error.value)
