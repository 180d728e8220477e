"""Tests of the whole search for duplicates: kinds, groups and pairs."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from simdoc_search import Document
from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates import Duplicates, duplicates_among
from simdoc_search.duplicates import pairs as pairs_module
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.exact_overlap import MEASURES, MeasureName, containment, jaccard, shingle_set
from tests.support.slow_cases import slow_after
from tests.support.texts import overlapping, text
from tests.support.workers import worker_processes


def find_among(texts: Iterable[str], **options: Any) -> Duplicates:
    """Find duplicates among texts. The ids of the texts are a, b, c, … in order."""
    return duplicates_among(
        (Document(chr(ord("a") + number), each) for number, each in enumerate(texts)), **{"keep": "first", **options}
    )


def groups(found: Duplicates) -> list[tuple[str, list[tuple[str, str, float]]]]:
    """Return the kept document of each group, and the id, kind and rounded overlap of each duplicate."""
    return [
        (group.kept.id, [(duplicate.id, duplicate.kind, round(duplicate.overlap, 3)) for duplicate in group.duplicates])
        for group in found.groups()
    ]


def words(*numbers: int) -> str:
    return " ".join(f"word{number}" for number in numbers)


# --- kinds ---


def test_duplicates_are_ordered_by_kind() -> None:
    """The overlap of a near-duplicate is that of the sets of shingles."""
    base, near = words(*range(100)), words(*range(98), 500, 501)
    found = find_among([base, near, base, base.upper() + "!", "something else altogether, of other words"])
    exact = round(jaccard(shingle_set(base), shingle_set(near)), 3)

    assert [("a", [("c", "identical", 1.0), ("d", "same words", 1.0), ("b", "near", exact)])] == groups(found)
    assert (5, 1, 3, True, 0) == (
        found.document_count, found.group_count, found.duplicate_count, found.verified, found.unverified_count
    )  # fmt: skip


def test_texts_without_words_are_left_out() -> None:
    found = find_among(["...", "!!!", "...", "a word", "a word"])

    assert [("d", [("e", "identical", 1.0)])] == groups(found)
    assert dict.fromkeys(map(DocumentKey, "abc"), "has no words") == found.left_out


def test_a_long_text_with_one_different_word_overlaps_by_less_than_100_percent() -> None:
    """The fingerprints may be equal, but the exact overlap is less than 1."""
    contract = text(random.Random(3), 4000)
    (group,) = find_among([contract, contract.replace(" ", " not ", 1)]).groups()
    (duplicate,) = group.duplicates

    assert "near" == duplicate.kind
    assert 0.99 < duplicate.overlap < 1


# --- groups ---


def test_each_duplicate_of_a_chain_overlaps_its_kept_document() -> None:
    chain = [words(*range(start, start + 100)) for start in range(0, 260, 10)]
    found = find_among(chain, overlap=0.7)
    sets = {chr(ord("a") + number): shingle_set(each) for number, each in enumerate(chain)}
    pairs = [(group.kept.id, other.id, other.overlap) for group in found.groups() for other in group.duplicates]
    gone = [other for _, other, _ in pairs]

    assert 10 < len(gone) == len(set(gone)) == found.duplicate_count
    assert not {kept for kept, _, _ in pairs} & set(gone)
    assert all(jaccard(sets[kept], sets[other]) == overlap >= 0.7 for kept, other, overlap in pairs)


def test_duplicates_are_found_among_many_documents_with_the_same_boilerplate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two documents are paired by the text that they share besides the boilerplate."""
    monkeypatch.setattr(pairs_module, "RUN_LIMIT_RANGE", (8, 8))
    monkeypatch.setattr(pairs_module, "ANCHOR_COUNT", 2)
    rng = random.Random(10)
    foot = text(rng, 300)
    bodies = [text(rng, 120) for _ in range(150)]
    letters = [f"{body} {foot}" for body in bodies] + [f"{body} changed {foot}" for body in bodies[:30]]
    found = duplicates_among([Document(f"{n:03}", each) for n, each in enumerate(letters)], overlap=0.9, keep="first")

    assert found.large_sets is not None
    assert 0 < found.large_sets.skipped_comparison_count
    assert {(f"{n:03}", f"{150 + n:03}") for n in range(30)} == {
        (group.kept.id, duplicate.id) for group in found.groups() for duplicate in group.duplicates
    }


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_many_documents_of_one_template_are_one_group(keep: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are 120 letters with one template, and 40 letters with another template."""
    monkeypatch.setattr(pairs_module, "RUN_LIMIT_RANGE", (4, 4))
    rng = random.Random(5)
    templates = [text(rng, 150), text(rng, 150)]
    letters = [Document(f"{n:03}", f"{templates[n % 4 == 0]} number {n}") for n in range(160)]
    found = duplicates_among(letters, keep=keep)

    assert [39, 119] == sorted(len(group.duplicates) for group in found.groups())
    assert found.large_sets is not None
    assert (160, 4, 0) == (
        found.large_sets.document_count,
        found.large_sets.max_set_size,
        found.large_sets.skipped_comparison_count,
    )


def test_kept_documents_in_a_long_run_are_compared_with_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs_module, "RUN_LIMIT_RANGE", (2, 2))
    monkeypatch.setattr(pairs_module, "ANCHOR_COUNT", 40)
    chain = [words(*range(start, start + 100)) for start in range(0, 80, 2)]
    found = duplicates_among([Document(f"{n:02}", each) for n, each in enumerate(chain)], overlap=0.8, keep="first")
    gone = {duplicate.id for group in found.groups() for duplicate in group.duplicates}
    kept = [shingle_set(each) for n, each in enumerate(chain) if f"{n:02}" not in gone]

    assert 3 < len(kept)
    assert all(jaccard(a, b) < 0.8 for at, a in enumerate(kept) for b in kept[:at])


def test_equal_texts_are_one_group_with_one_pair_each() -> None:
    found = duplicates_among(Document(f"{n:04}", "the very same five words") for n in range(1500))

    assert [1499] == [len(group.duplicates) for group in found.groups()]
    assert ["0000"] * 1499 == [pair.a.id for pair in found.pairs()]
    assert found.large_sets is not None
    assert 1500 == found.large_sets.document_count


# --- options ---


@pytest.mark.parametrize("overlap", slow_after(1, [0.8, 0.3]))
def test_pairs_are_those_of_brute_force(overlap: float) -> None:
    """The texts have 6 to 500 words and different overlaps. Some are copies."""
    rng = random.Random(6)
    texts = [side for size in (6, 9, 14, 30, 60, 120, 500) for goal in (0.25, 0.45, 0.6, 0.75, 0.9)
             for side in overlapping(rng, size, goal)]  # fmt: skip
    texts += texts[:5]
    found = duplicates_among((Document(f"{n:02}", each) for n, each in enumerate(texts)), overlap=overlap, keep="first")
    sets = [shingle_set(each) for each in texts]
    truth = {(a, b): jaccard(sets[a], sets[b]) for b in range(len(texts)) for a in range(b)}

    assert {pair: value for pair, value in truth.items() if value >= overlap} == {
        (int(pair.a.id), int(pair.b.id)): pair.overlap for pair in found.pairs()
    }
    assert all(pair.exact for pair in found.pairs())


def test_containment_is_the_share_of_a_duplicate_in_the_kept_document() -> None:
    whole, excerpt = words(*range(200)), words(*range(100, 160), 900)
    share = round(containment(shingle_set(excerpt), shingle_set(whole)), 3)

    assert [("a", [("b", "near", share)])] == groups(find_among([whole, excerpt], measure="containment"))
    assert (
        []
        == groups(find_among([whole, excerpt], measure="reverse_containment"))
        == groups(find_among([whole, excerpt]))
    )


@pytest.mark.parametrize("measure", MEASURES)
def test_a_group_can_keep_another_document(measure: MeasureName) -> None:
    """Its overlap and reason are then those of the other direction."""
    base, longer = words(*range(100)), words(*range(98), *range(500, 520))
    options: dict[str, Any] = {"measure": measure, "overlap": 0.5}
    found, swapped = find_among([base, longer], **options), find_among([longer, base], **options)
    [group], [expected] = found.groups(), swapped.groups()
    [duplicate], [expected_duplicate] = found.keep_instead(group, 0).duplicates, expected.duplicates

    assert "word501" in duplicate.reason
    assert expected_duplicate.reason == duplicate.reason
    assert pytest.approx(expected_duplicate.overlap) == duplicate.overlap


def test_an_overlap_of_exactly_the_threshold_counts() -> None:
    """Both texts have 4 shingles and share 3 of them, so the overlap is 3/5."""
    texts = [words(*range(8)), words(*range(7), 99)]

    assert [1, 0] == [find_among(texts, overlap=overlap).group_count for overlap in (0.6, 0.600001)]


def test_estimated_overlaps_are_not_exact() -> None:
    """The overlap of copies is exact even without texts."""
    first, second = overlapping(random.Random(7), 400, 0.9)
    found = find_among([first, second, first], overlap=0.6, verify=False)
    (group,) = found.groups()

    assert not found.verified
    assert {("identical", True), ("near", False)} == {(other.kind, other.exact) for other in group.duplicates}
    assert {True, False} == {pair.exact for pair in found.pairs()}
    assert [] == list(found.compare_group(group))


def test_near_duplicates_are_compared_with_the_kept_document() -> None:
    texts = [words(*range(60)), words(*range(50), 99, *range(51, 60)), words(*range(60))]
    found = find_among(texts, overlap=0.7)
    (group,) = found.groups()
    ((duplicate, comparison, both),) = found.compare_group(group)

    assert (group.duplicates[1], (texts[0], texts[1])) == (duplicate, both)
    assert ["replaced"] == [difference.kind for difference in comparison.differences]


def test_large_groups_come_first_and_can_be_limited() -> None:
    found = find_among(["one text of words", "another text of words"] * 2 + ["one text of words"])

    assert ["a", "b"] == [group.kept.id for group in found]
    assert ["a"] == [group.kept.id for group in found.groups(1)]
    assert 2 == len(found)


@pytest.mark.parametrize("texts", [[], ["alone"], ["both", "both"]])
def test_a_collection_may_have_very_few_documents(texts: list[str]) -> None:
    found = find_among(texts)
    count = int(len(texts) > 1)

    assert (len(texts), count) == (found.document_count, found.group_count)
    assert [count, count] == [len(list(found.groups())), len(list(found.pairs()))]


@pytest.mark.slow
def test_the_result_does_not_depend_on_the_number_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(6)
    pairs = [overlapping(rng, rng.choice([20, 300, 900]), rng.choice([0.7, 0.8, 0.9])) for _ in range(60)]
    texts = [each for pair in pairs for each in pair] + ["", "...", "Füße \ud800", "漢字 漢字"]
    documents = [Document(f"{number:03}", each, {"n": number}) for number, each in enumerate(texts * 2)]
    in_one_process = list(duplicates_among(documents, overlap=0.75).pairs())
    monkeypatch.setattr("simdoc_search.workers.parallel_map.MAX_CHUNKS_WITHOUT_WORKERS", 1)
    monkeypatch.setattr("simdoc_search.duplicates.fingerprinting._MAX_CHUNK_DOCUMENTS", 7)
    monkeypatch.setattr("simdoc_search.duplicates.verification._CHARACTERS_AT_ONCE", 1000)
    processes: list[int] = []

    def count_processes(stage: str, share: float) -> None:
        if stage == "verifying":
            processes.append(len(worker_processes()))

    before = len(worker_processes())

    assert in_one_process == list(
        duplicates_among(documents, overlap=0.75, workers=2, progress=count_processes).pairs()
    )
    assert before + 2 == max(processes)
    assert before == len(worker_processes())


def documents_that_must_not_be_read() -> Iterator[Document]:
    """Raise an error if the documents are read."""
    yield from (1 / 0 for _ in range(1))  # type: ignore[misc]


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("overlap", 0, "an overlap of 0 would pair all documents with each other"),
        ("overlap", 80, "80 % is 0.8|from 0 to 1"),
        ("measure", "cosine", "measure must be one of jaccard, containment, reverse_containment"),
        ("keep", "best", "keep must be one of"),
        ("workers", 0, "workers must be an integer of at least 1, not 0"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_read(option: str, value: object, message: str) -> None:
    with pytest.raises(QuerySyntaxError, match=message):
        duplicates_among(documents_that_must_not_be_read(), **{option: value})  # type: ignore[arg-type]
