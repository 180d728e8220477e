"""Texts to groups: three kinds that are never mixed, each member verified against the one that stays."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from simdoc_search import Document, Settings
from simdoc_search.documents import Place
from simdoc_search.duplicates import Duplicates, duplicates_among
from simdoc_search.duplicates import pairs as pairs_module
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.exact import containment, jaccard, shingle_set
from tests.support.texts import documents, overlapping, text


def among(texts: Iterable[str], **options: Any) -> Duplicates:
    """Duplicates among texts, whose ids are a, b, c, … in their order."""
    return duplicates_among(
        (Document(chr(ord("a") + number), each) for number, each in enumerate(texts)), **{"keep": "first", **options}
    )


def groups(found: Duplicates) -> list[tuple[str, list[tuple[str, str, float]]]]:
    """Kept, and id, kind and rounded overlap of each duplicate."""
    return [
        (each.kept.id, [(other.id, other.kind, round(other.overlap, 3)) for other in each.duplicates])
        for each in found.groups()
    ]


def words(*numbers: int) -> str:
    return " ".join(f"word{number}" for number in numbers)


# --- kinds ---


def test_identical_same_words_and_near_are_three_things() -> None:
    """In this order in a group; the overlap of near ones is that of the sets of shingles."""
    base = words(*range(100))
    near = words(*range(98), 500, 501)
    found = among([base, near, base, base.upper() + "!", "something else altogether, of other words"])
    exact = round(jaccard(shingle_set(base), shingle_set(near)), 3)

    assert [("a", [("c", "identical", 1.0), ("d", "same words", 1.0), ("b", "near", exact)])] == groups(found)
    assert (5, 1, 3, True, 0) == (
        found.documents, found.group_count, found.duplicate_count, found.verified, found.unverified
    )  # fmt: skip


def test_the_same_shingles_in_other_words_are_near() -> None:
    """A text of repeated words and a longer one: all is shared, and yet they are not the same."""
    found = among(["so it goes on and on " * 5, "so it goes on and on " * 6])

    assert [("a", [("b", "near", 1.0)])] == groups(found)


def test_what_is_near_to_one_set_of_the_same_words_belongs_to_it_with_all_its_copies() -> None:
    """Copies of the near one are near; copies of the kept one are identical to it."""
    base, near = words(*range(100)), words(*range(99))
    found = among([base, base, near, near.title()])

    assert [("a", ["identical", "near", "near"])] == [(id, [each[1] for each in some]) for id, some in groups(found)]


def test_texts_without_words_are_no_copies() -> None:
    """Nor if they are of the same signs; they are named."""
    found = among(["...", "!!!", "...", "a word", "a word"])

    assert [("d", [("e", "identical", 1.0)])] == groups(found)
    assert dict.fromkeys(map(Place, "abc"), "has no words") == found.left_out


def test_one_different_word_in_a_long_text_is_not_identical() -> None:
    """Though the fingerprints may be equal: the exact overlap says so, below 100 %."""
    rng = random.Random(3)
    contract = text(rng, 4000)
    found = among([contract, contract.replace(" ", " not ", 1)])
    ((_, [(_, kind, _)]),) = groups(found)
    ((group,),) = [list(found.groups())]

    assert "near" == kind
    assert 0.99 < group.duplicates[0].overlap < 1


# --- stars ---


def test_a_chain_is_no_group() -> None:
    """A shares with B, B with C, and so on: each member overlaps the kept one itself, and somebody always stays."""
    chain = [words(*range(start, start + 100)) for start in range(0, 260, 10)]
    found = among(chain, overlap=0.7)
    sets = {chr(ord("a") + number): shingle_set(each) for number, each in enumerate(chain)}
    kept = {group.kept.id for group in found.groups()}
    gone = [other.id for group in found.groups() for other in group.duplicates]

    assert 10 < len(gone)
    assert len(set(gone)) == len(gone) == found.duplicate_count
    assert not kept & set(gone)
    assert all(
        jaccard(sets[group.kept.id], sets[other.id]) == other.overlap >= 0.7
        for group in found.groups()
        for other in group.duplicates
    )


def test_boilerplate_makes_no_duplicates() -> None:
    """60 letters of which half is the same: none is a duplicate of another, though each shares with all."""
    rng = random.Random(4)
    foot = text(rng, 60)
    letters = [Document(str(number), f"{text(rng, 60)} {foot}") for number in range(60)]

    assert 0 == duplicates_among(letters).group_count


def test_duplicates_are_found_in_a_flood_of_boilerplate(monkeypatch: pytest.MonkeyPatch) -> None:
    """In runs that are too long by far, what two documents have beside the boilerplate brings them together."""
    monkeypatch.setattr(pairs_module, "RUN_LIMITS", (8, 8))
    monkeypatch.setattr(pairs_module, "ANCHORS", 2)
    rng = random.Random(10)
    foot = text(rng, 300)
    bodies = [text(rng, 120) for _ in range(150)]
    letters = [f"{body} {foot}" for body in bodies] + [f"{body} changed {foot}" for body in bodies[:30]]
    found = duplicates_among([Document(f"{n:03}", each) for n, each in enumerate(letters)], overlap=0.9, keep="first")

    assert found.floods is not None
    assert 0 < found.floods.left_over
    assert {(f"{n:03}", f"{150 + n:03}") for n in range(30)} == {
        (group.kept.id, other.id) for group in found.groups() for other in group.duplicates
    }


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_a_flood_of_one_template_loses_nobody(keep: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """120 letters that differ in a number, and 40 of another template, in runs too long for all pairs: two groups."""
    monkeypatch.setattr(pairs_module, "RUN_LIMITS", (4, 4))
    rng = random.Random(5)
    templates = [text(rng, 150), text(rng, 150)]
    letters = [Document(f"{n:03}", f"{templates[n % 4 == 0]} number {n}") for n in range(160)]
    found = duplicates_among(letters, keep=keep)

    assert [39, 119] == sorted(len(group.duplicates) for group in found.groups())
    assert found.floods is not None
    assert (160, 4, 0) == (found.floods.documents, found.floods.limit, found.floods.left_over)


def test_who_is_near_to_one_that_goes_is_compared_with_the_rest_of_the_flood(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few a flood is compared with, each that stays is no duplicate of another one that stays."""
    monkeypatch.setattr(pairs_module, "RUN_LIMITS", (2, 2))
    monkeypatch.setattr(pairs_module, "ANCHORS", 40)
    chain = [words(*range(start, start + 100)) for start in range(0, 80, 2)]
    found = duplicates_among([Document(f"{n:02}", each) for n, each in enumerate(chain)], overlap=0.8, keep="first")
    gone = {other.id for group in found.groups() for other in group.duplicates}
    stay = [shingle_set(each) for n, each in enumerate(chain) if f"{n:02}" not in gone]

    assert 3 < len(stay)
    assert all(jaccard(a, b) < 0.8 for at, a in enumerate(stay) for b in stay[:at])


def test_copies_cost_one() -> None:
    """1,500 equal texts are one group; as pairs, each with the one that stays, which is said."""
    found = duplicates_among(Document(f"{n:04}", "the very same five words") for n in range(1500))

    assert [1499] == [len(group.duplicates) for group in found.groups()]
    assert {"0000"} == {each.a.id for each in found.pairs()}
    assert 1499 == len(list(found.pairs()))
    assert found.floods is not None
    assert 1500 == found.floods.documents


# --- what is asked for ---


@pytest.mark.parametrize("overlap", [0.3, 0.5, 0.8])
def test_pairs_are_those_of_brute_force(overlap: float) -> None:
    """Over texts of 6 to 500 words that share any part, copies among them."""
    rng = random.Random(6)
    texts = [each for size in (6, 9, 14, 30, 60, 120, 500) for goal in (0.25, 0.45, 0.6, 0.75, 0.9)
             for each in overlapping(rng, size, goal)]  # fmt: skip
    texts += texts[:5]
    found = duplicates_among((Document(f"{n:02}", each) for n, each in enumerate(texts)), overlap=overlap, keep="first")
    sets = [shingle_set(each) for each in texts]
    truth = {(a, b): jaccard(sets[a], sets[b]) for b in range(len(texts)) for a in range(b)}

    assert {pair: value for pair, value in truth.items() if value >= overlap} == {
        (int(each.a.id), int(each.b.id)): each.overlap for each in found.pairs()
    }
    assert all(each.exact for each in found.pairs())


def test_containment_is_the_share_of_who_goes_found_in_who_stays() -> None:
    """An excerpt has nothing of its own; by Jaccard similarity it is no duplicate."""
    whole = words(*range(200))
    excerpt = words(*range(100, 160), 900)
    share = round(containment(shingle_set(excerpt), shingle_set(whole)), 3)

    assert [("a", [("b", "near", share)])] == groups(among([whole, excerpt], measure="containment"))
    assert [] == groups(among([whole, excerpt], measure="contained"))
    assert [] == groups(among([whole, excerpt]))


def test_an_overlap_of_exactly_the_threshold_counts() -> None:
    """3 of 4 shingles shared: 3/5 of all."""
    assert 1 == among([words(*range(8)), words(*range(7), 99)], overlap=0.6).group_count
    assert 0 == among([words(*range(8)), words(*range(7), 99)], overlap=0.600001).group_count


def test_estimates_are_said_to_be_estimates() -> None:
    """Without the texts no near pair is exact; copies still are."""
    rng = random.Random(7)
    first, second = overlapping(rng, 400, 0.9)
    found = among([first, second, first], overlap=0.6, verify=False)
    duplicates = [other for group in found.groups() for other in group.duplicates]

    assert not found.verified
    assert {("identical", True), ("near", False)} == {(each.kind, each.exact) for each in duplicates}
    assert {True, False} == {each.exact for each in found.pairs()}


def test_what_differs_is_compared_with_the_one_that_stays() -> None:
    """Of near ones only, with both texts; of no text nothing."""
    texts = [words(*range(60)), words(*range(50), 99, *range(51, 60)), words(*range(60))]
    found, estimated = among(texts, overlap=0.7), among(texts, overlap=0.7, verify=False)
    (group,) = found.groups()
    ((duplicate, comparison, both),) = found.compared(group)

    assert group.duplicates[1] == duplicate
    assert (texts[0], texts[1]) == both
    assert ["replaced"] == [each.kind for each in comparison.differences]
    assert [] == list(estimated.compared(group))


def test_other_settings_are_used() -> None:
    """Shingles of two words: the same text reordered in blocks overlaps more."""
    settings = Settings(token_length=5)

    assert 1 == among([words(*range(50)), words(*range(49))], settings=settings).group_count


def test_groups_with_most_to_save_come_first_and_can_be_limited() -> None:
    """Without files, those of most documents."""
    found = among(["one text of words", "another text of words"] * 2 + ["one text of words"])

    assert ["a", "b"] == [each.kept.id for each in found.groups()]
    assert ["a"] == [each.kept.id for each in found.groups(1)]
    assert (None, None, None, 0) == (
        (group := next(found.groups())).kept.path, group.kept.size, group.kept.changed, group.frees
    )  # fmt: skip


@pytest.mark.parametrize("texts", [[], ["alone"], ["both", "both"]])
def test_few_documents_are_fine(texts: list[str]) -> None:
    """None, one, or two, which are identical."""
    found = among(texts)

    assert (len(texts), int(len(texts) > 1)) == (found.documents, found.group_count)
    assert int(len(texts) > 1) == len(list(found.groups())) == len(list(found.pairs()))


def unread() -> Iterator[Document]:
    """Documents that must not be read."""
    yield from (1 / 0 for _ in range(1))  # type: ignore[misc] # never comes so far


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("overlap", 0, "an overlap of 0 would pair all documents with all"),
        ("overlap", 80, "80 % is 0.8|from 0 to 1"),
        ("measure", "cosine", "measure must be one of jaccard, containment, contained"),
        ("keep", "best", "keep is one of"),
    ],
)
def test_what_cannot_be_asked_for_is_an_error(option: str, value: object, said: str) -> None:
    """Before anything is read."""
    with pytest.raises(QuerySyntaxError, match=said):
        duplicates_among(unread(), **{option: value})  # type: ignore[arg-type] # as meant


def test_progress_tells_the_stages() -> None:
    """Comparing, then verifying, each up to the whole."""
    told: list[tuple[str, float]] = []
    duplicates_among(
        [*documents("p", 20), *documents("p", 20)], progress=lambda stage, share: told.append((stage, share))
    )
    near = [words(*range(60)), words(*range(59))]
    among(near, progress=lambda stage, share: told.append((stage, share)))

    assert {("comparing", 1.0), ("verifying", 1.0)} <= set(told)
