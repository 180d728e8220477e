"""Limits of versions and of related documents, learned from yes and no."""

from __future__ import annotations

import re
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simdoc_search import Document, Settings, SimilaritySearch, open_store
from simdoc_search.errors import CorpusError, FormatMismatchError
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.limits import MOST_BITS, Limits
from simdoc_search.sketch.sentences import Sentences
from simdoc_search.stores.base import Store
from simdoc_search.stores.limits import set_limits
from simdoc_search.stores.sketching import sentences_in
from simdoc_search.tuning import Calls, LabelledPair, limits_of_related, limits_of_versions
from simdoc_search.tuning.pairs import best_cut, rounded_cut
from simdoc_search.versions import Matched, matched
from tests.support.cli import answer, output, run, sentence, usage_error
from tests.support.families import prose
from tests.versions.paper import DOCUMENTS

BOTH = Settings(sentences=Sentences(), concepts=Concepts())
FIRST = prose(12, 1)
TEXTS = {
    **{f"paper{number}": text for number, text in enumerate(DOCUMENTS, 1)},
    "first": " ".join(FIRST),
    "third": " ".join(FIRST[:4] + prose(9, 2)),
    "fifth": " ".join(FIRST[:2] + prose(9, 3)),
    "edited": " ".join(each.replace(" ", " quite ", 2) for each in FIRST),
}
SENTENCES = {id: sentences_in(text, Settings().analysis) for id, text in TEXTS.items()}
YES = [("paper1", "paper2"), ("first", "edited"), ("first", "third")]
NO = [("first", "fifth"), ("paper3", "paper4"), ("paper1", "paper5"), ("paper1", "first")]


@cache
def _matched(a: str, b: str, bits: int) -> Matched:
    return matched(SENTENCES[a], SENTENCES[b], bits)


def judged(yes: list[tuple[str, str]], no: list[tuple[str, str]]) -> list[LabelledPair]:
    """The pairs, with lines as in a file."""
    both = [(*each, True) for each in yes] + [(*each, False) for each in no]
    return [LabelledPair(a, b, same, line) for line, (a, b, same) in enumerate(both, 1)]


def filled(store: Store) -> Store:
    """A store with the texts."""
    SimilaritySearch(store).index(Document(id, text) for id, text in TEXTS.items())
    return store


@pytest.fixture(scope="module")
def store() -> Store:
    """A store with the texts and their sentences."""
    return filled(open_store(":memory:", BOTH, create=True))


@pytest.fixture(scope="module", params=[BOTH, Settings()], ids=["sentences", "texts"])
def texts(request: pytest.FixtureRequest) -> Store:
    """With sentences, or with the texts that have them."""
    return filled(open_store(":memory:", request.param, create=True))


def test_limits_are_learned_and_hold(texts: Store) -> None:
    """A third of the sentences is enough for this person: `versions` with these limits says what she says."""
    pairs = judged(YES, NO)
    found = limits_of_versions(texts, pairs)
    search = SimilaritySearch(texts)
    asked: dict[str, Any] = {"enough": found.limits.enough, "bits": found.limits.bits}
    answers = {id: {hit.id for hit in search.versions(id, **asked).hits} for id in TEXTS}

    assert (Calls(2, 3, 0, 4), Calls(3, 3, 0, 4)) == (found.calls_before, found.calls)
    assert (True, (), 1.0, 1.0) == (found.changed, found.wrong, found.calls.precision, found.calls.recall)
    assert 1 / 5 < found.limits.enough <= 1 / 3
    assert (found.before.least, found.before.min_score) == (found.limits.least, found.limits.min_score)
    assert [each.same for each in pairs] == [each.b in answers[each.a] for each in pairs]
    assert len(pairs) == found.unseen.yes + found.unseen.no


@settings(max_examples=10, deadline=None)
@given(st.permutations(sorted(combinations(sorted(TEXTS), 2))), st.integers(2, 9), st.data())
def test_no_limits_of_a_grid_are_better(
    store: Store, pairs: list[tuple[str, str]], count: int, data: st.DataObject
) -> None:
    """Whatever is judged; and the limits of the index stay if none are better."""
    cut = data.draw(st.integers(1, count - 1))
    some = judged(pairs[:cut], pairs[cut:count])
    found = limits_of_versions(store, some)

    def cost(limits: Limits) -> int:
        said = [limits.score_of(_matched(each.a, each.b, limits.bits)) is not None for each in some]
        missed = sum(each.same and not yes for each, yes in zip(some, said, strict=True))
        taken = sum(yes and not each.same for each, yes in zip(some, said, strict=True))
        return missed * (count - cut) + taken * cut

    grid = [Limits(enough / 20, 0.1, bits) for bits in (0, 7, 12, MOST_BITS) for enough in range(2, 21, 3)]
    assert found.calls.cost == cost(found.limits) <= min(map(cost, grid))
    assert found.calls_before.cost == cost(Limits())
    assert found.changed == (found.calls.cost < found.calls_before.cost)
    assert len(found.wrong) == cut - found.calls.found + found.calls.taken


def test_a_score_is_learned(tmp_path: Path) -> None:
    """That which `related` shows; limits that the index stores make the versions."""
    with filled(open_store(tmp_path / "s", BOTH, create=True)) as store:
        found = limits_of_related(store, judged([("paper1", "paper2")], [("paper3", "paper4")]))
        shown = SimilaritySearch(store).related("paper3").hits
        set_limits(store, Limits(enough=1.0, bits=0))
    with open_store(tmp_path / "s") as store:
        other = limits_of_related(store, judged([("paper3", "paper4")], [("paper1", "paper5")]))

    assert (Calls(1, 1, 1, 1), Calls(1, 1, 0, 1)) == (found.calls_before, found.calls)
    assert shown[0].score < found.limits.min_score <= 1.0
    assert (False, Limits(1.0, 0.1, 0, 0.5)) == (other.changed, other.limits)


def test_what_cannot_be_learned_is_said(store: Store) -> None:
    """A document that is not there, with its line; an index without concepts."""
    with pytest.raises(CorpusError, match="line 2 of the pairs names 'nobody', which is not in the index"):
        limits_of_versions(store, judged([("first", "third")], [("first", "nobody")]))
    with open_store(":memory:", create=True) as plain, pytest.raises(FormatMismatchError, match="--with relations"):
        limits_of_related(plain, judged([("first", "third")], [("first", "fifth")]))


@given(st.lists(st.tuples(st.integers(0, 40).map(lambda number: number / 40), st.booleans()), min_size=1))
def test_a_rounded_cut_separates_the_same_values(values: list[tuple[float, bool]]) -> None:
    """With few digits, for people."""
    cut = best_cut(values)
    rounded = rounded_cut(values, cut)
    assert [value >= cut for value, _ in values] == [value >= rounded for value, _ in values]
    assert len(f"{rounded:g}") <= 5


def test_the_command_says_which_limits_and_stores_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With precision and recall, before, after and on pairs that it has not seen; the printed command works."""
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    for id, text in TEXTS.items():
        Path(f"docs/{id}.txt").write_text(text)
    Path("pairs.tsv").write_text(
        "".join(f"{each.a}.txt\t{each.b}.txt\t{'yes' if each.same else 'no'}\n" for each in judged(YES, NO))
    )
    output("index", "docs", "--store", "s")
    asked = "tune", "s", "--pairs", "pairs.tsv", "--for", "versions"
    found, shown = answer(*asked), output(*asked)
    of_folder = answer("tune", "docs", *asked[2:])
    command = shown.strip().splitlines()[-1].removeprefix("Store them: simdoc-search ").split()
    output(*command)
    after = output(*asked)

    assert (2 / 3, 1.0) == (found["before"]["recall"], found["best"]["recall"])
    assert found["command"] == f"simdoc-search {' '.join(command)}"
    assert "7 pairs: 3 yes, 4 no; each pair is compared directly" in shown
    assert re.search(r"^now: 12 bits, 50 % of sentences +100.0 % +66.7 %$", shown, re.MULTILINE)
    assert of_folder["best"]["limits"] == found["best"]["limits"] == answer("defaults", "--store", "s")
    assert "The limits that hold now are as good as any; nothing to store." in after
    assert "name their file with --pairs" in usage_error(run("tune", "s", "--for", "related"))
    assert "--sketch measures sketches" in usage_error(run(*asked, "--sketch", "xor:64"))
    assert "make the index --with relations" in sentence(run(*asked[:-1], "related"))
