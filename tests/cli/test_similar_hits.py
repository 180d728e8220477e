"""`simdoc-search similar`: which hits are shown, by filters, page by page, and with exact overlaps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import answer, output, run, sentence, usage_error, words
from tests.support.similar import COPY, HALF, OLD, ids, similar


@pytest.fixture(autouse=True)
def folder(similar_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run."""
    monkeypatch.chdir(similar_corpus)
    return similar_corpus


# --- which hits are shown ---


def test_size_limits_the_hits_and_not_the_count() -> None:
    """The best ones are shown; how many documents were compared stays visible."""
    result = similar("doc123", "--size", "2")

    assert ([COPY, HALF], 3) == ([hit["id"] for hit in result["hits"]], result["candidates"])


def test_the_document_itself_is_shown_only_if_asked_for() -> None:
    """With --include-self it is among the first."""
    assert ["doc123.txt", COPY] == ids("doc123", "--include-self", "--size", "2")
    assert "doc123.txt" not in ids("doc123")


def test_filters_look_at_metadata_and_path() -> None:
    """Numbers are compared as they are written; several filters must all hold."""
    assert ["english", "german"] == ids("elsewhere", "--filter", "year=2020")
    assert ["german"] == ids("elsewhere", "--filter", "language=de", "--filter", "path=reports/")
    assert [COPY, HALF] == ids("doc123", "--filter", "path=reports/")
    assert [] == ids("doc123", "--filter", "language=de")


def test_a_value_may_hold_the_equals_sign() -> None:
    """The first `=` ends the name of the field."""
    assert [] == ids("doc123", "--filter", "language=a=b")


def test_a_field_that_no_document_has_is_an_error() -> None:
    """A mistyped one is not an answer without hits; those there are, are named."""
    said = "no document has the field 'langage'; there are: language, path, year"

    assert said == sentence(run("similar", "elsewhere", "--filter", "langage=de"))
    assert "there are: reports/, notes/" in sentence(run("similar", "doc123", "--filter", "path=reprots/"))


def test_a_filter_given_twice_is_not_dropped() -> None:
    """Nothing is in two folders at once: either nothing is found, or the command says that it cannot be."""
    result = run("similar", "doc123", "--json", "--filter", "path=reports/", "--filter", "path=notes/")

    assert OLD not in result.stdout
    assert COPY not in result.stdout


# --- exact overlaps, and shares ---


def test_overlaps_are_exact() -> None:
    """From the stored texts: 136 of the 256 shingles of both, and so on; estimates have a tilde, these have not."""
    exact = {hit["id"]: (hit["kind"], hit["overlap"]) for hit in similar("doc123_20")["hits"]}
    shown = output("similar", "doc123_20")

    assert {COPY: ("exact", 1.0), HALF: ("exact", round(136 / 256, 6)), OLD: ("exact", round(76 / 316, 6))} == exact
    assert "~" not in shown
    assert [" 53.1 %", HALF] == [shown.splitlines()[2][:7], shown.splitlines()[2].split()[-1]]


def test_an_exact_hit_says_all_that_is_exact() -> None:
    """Estimates say less; `measure` is what was asked."""
    verified = similar("doc123")
    half = verified["hits"][1]

    assert {"id", "overlap", "matched", "kind"} == similar("doc123", "--estimate")["hits"][1].keys()
    assert (136 / 256, 136 / 196, 136 / 196, False) == tuple(
        half[name] for name in ("jaccard", "containment", "contained", "changed")
    )
    assert "jaccard" == verified["query"]["measure"]


def test_containment_finds_a_short_text_in_a_long_one() -> None:
    """Of which it is a small part; `contained` is the other way round, and both are exact."""
    asked = ("--text", words(20, 60))
    found = similar(*asked, "--measure", "containment", "--overlap", "90")
    contained = similar(*asked, "--measure", "contained")

    assert "containment" == found["query"]["measure"]
    assert {COPY, HALF, OLD, "doc123.txt"} == {hit["id"] for hit in found["hits"]}
    assert {("exact", 1.0)} == {(hit["kind"], hit["overlap"]) for hit in found["hits"]}
    assert {round(36 / 196, 6)} == {hit["overlap"] for hit in contained["hits"] if hit["id"] in {COPY, "doc123.txt"}}
    assert [] == ids(*asked, "--overlap", "90")


def test_a_measure_is_the_heading() -> None:
    """For a person; nothing is said of short texts, which are found this way."""
    result = run("similar", "--text", words(20, 60), "--measure", "containment", "--overlap", "50")

    assert [
        "containment  document",
        "    100.0 %  doc123.txt",
    ] == result.stdout.splitlines()[:2]
    assert result.stdout.endswith(" hits, 4 documents compared\n")
    assert "" == result.stderr


def test_a_measure_takes_no_probability() -> None:
    """Which is one of bands."""
    said = usage_error(run("similar", "doc123", "--measure", "contained", "--probability", "80"))

    assert "contained takes no probability; leave the probability out" == said
    assert 'contained takes no probability; leave that of "doc123.txt"_20_80 out' == usage_error(
        run("similar", "doc123_20_80", "--measure", "contained")
    )


def test_a_short_text_is_told_of_passages() -> None:
    """Where a least overlap hides the long documents that contain it."""
    assert "Find it with: simdoc-search passages" in run("similar", "--text", words(20, 60), "--overlap", "50").stderr


def test_what_cannot_be_verified_is_estimated_and_said(tmp_path: Path) -> None:
    """In a store without texts."""
    output("index", "corpus", "--no-texts", "--store", tmp_path / "s")
    result = run("similar", "--text", words(0, 200), "--store", tmp_path / "s")

    assert "~100 %" in result.stdout
    assert "note: 4 overlaps estimated, because the store does not have the text" in result.stderr


def test_documents_can_be_excluded() -> None:
    """By metadata or path; if repeated, all of them."""
    assert [HALF, OLD] == ids("doc123", "--exclude", "path=reports/copy")
    assert [OLD] == ids("doc123", "--exclude", "path=reports/")
    assert [] == ids("doc123", "--exclude", "path=reports/", "--exclude", "path=notes/")
    assert ["english"] == ids("german", "--exclude", "language=de")


# --- pages, and one of several values ---


def test_the_next_page_follows_the_first() -> None:
    """Together they are what one page of both sizes shows."""
    whole, first, second = (
        [hit["id"] for hit in answer("similar", "doc123", *page)["hits"]]
        for page in (("--size", 3), ("--size", 2), ("--size", 2, "--offset", 2))
    )

    assert 3 == len(whole)
    assert whole == [*first, *second]
    assert [] == answer("similar", "doc123", "--offset", 100)["hits"]


def test_one_of_several_values_is_enough() -> None:
    """Repeated for a field, beside filters that must all hold."""
    either = ("--filter-any", "language=de", "--filter-any", "language=en")
    for arguments, expected in (
        (either, ["elsewhere", "english"]),
        ((*either, "--filter", "year=2020"), ["english"]),
        (("--filter", "language=de", "--filter", "language=en"), []),
        ((*either, "--filter-any", "path=notes/", "--filter-any", "path=nowhere/"), ["elsewhere"]),
        ((*either, "--exclude", "language=en"), ["elsewhere"]),
    ):
        assert expected == sorted(hit["id"] for hit in answer("similar", "german", *arguments)["hits"])


def test_wrong_pages_and_filters_are_usage_errors() -> None:
    """With what is wrong."""
    for arguments in (("--offset", "-1"), ("--filter-any", "language")):
        assert arguments[0] in usage_error(run("similar", "doc123", *arguments))
