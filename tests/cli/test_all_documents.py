"""`versions --all` and `related --all` with `--edges`, `related --explain`, and `show --concepts`."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.support.cli import answer, output, run, sentence, usage_error, write
from tests.versions.paper import DOCUMENTS

pytestmark = pytest.mark.usefixtures("folder")

NAMES = ["D1 v1", "D2 <v2>", "D3", "D4 & more", "D5"]


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus and three stores. No test changes them."""
    folder = tmp_path_factory.mktemp("all")
    write(folder, {f"corpus/{name}.txt": text for name, text in zip(NAMES, DOCUMENTS, strict=True)})
    write(folder, {"syn.txt": "links, golf course\ntournament => championship\n"})
    output("index", folder / "corpus", "--store", folder / ".simdoc", "--with", "versions,related")
    options = "--with", "related", "--synonyms", folder / "syn.txt"
    output("index", folder / "corpus", "--store", folder / "syn", *options)
    output("index", folder / "corpus", "--store", folder / "plain")
    return folder


def test_question_marks_in_the_list_of_families_are_explained(tmp_path: Path) -> None:
    text = "The tenant pays the rent. The landlord repairs the roof. The lease ends after two years."
    write(tmp_path / "docs", {"a.txt": text, "b.txt": f"{text} And one more."})
    output("index", tmp_path / "docs", "--store", tmp_path / "store")
    lines = output("versions", "--all", "--store", tmp_path / "store").splitlines()

    assert lines[1].endswith("?  a.txt")
    note = "a date or version with ? does not show which document is newer. "
    assert f"{note}Documents with such dates are only sorted by them" in lines


def test_copies_are_counted_but_not_listed(tmp_path: Path) -> None:
    write(tmp_path / "docs", {"a.txt": "Milk and bread", "b.txt": "Milk and bread", "c.txt": "Milk or bread"})
    output("index", tmp_path / "docs", "--store", tmp_path / "store")
    *_, note = output("versions", "--all", "--store", tmp_path / "store").splitlines()

    assert note.startswith("not listed: 1 group of copies (2 documents) with the same words and punctuation. ")
    assert note.endswith(f"To see them, run: simdoc-search duplicates --store {tmp_path / 'store'}")


def test_invoices_are_a_family_unless_their_sentences_must_be_equal(tmp_path: Path) -> None:
    """Four of the five sentences of the contracts are equal, so these are versions in any case."""
    work = "For the work of {0} in the garden behind the house. The sum of {0} euros is due in 1{0} days."
    lease = "The tenant pays the rent of {0} euros. The landlord repairs the roof. The lease ends after two years."
    lease += " The deposit is the rent of two months. The keys were handed over in May."
    write(
        tmp_path / "docs",
        {f"{kind}{n}.txt": text.format(n) for kind, text in (("i", work), ("l", lease)) for n in (3, 4)},
    )
    output("index", tmp_path / "docs", "--store", tmp_path / "store")
    families = [
        {entry["id"] for family in answer("versions", "--all", "--store", tmp_path / "store", *options)["families"]
         for entry in (*family["timeline"], *family["unordered"])}
        for options in ([], ["--max-distance", "0", "--min-share", "70"])
    ]  # fmt: skip

    assert [{"i3.txt", "i4.txt", "l3.txt", "l4.txt"}, {"l3.txt", "l4.txt"}] == families


def test_families_of_the_whole_collection_have_their_newest_version() -> None:
    """The keys of the JSON are stable."""
    lines = output("versions", "--all").splitlines()

    assert lines[0].startswith("family 1: 2 versions; newest: ")
    assert ["D1 v1.txt", "D2 <v2>.txt"] == [line[16:].removesuffix("  (newest)") for line in lines[1:3]]
    assert "1 family with 2 of 5 documents" == lines[-1]
    hint = "to see what changed in family 1, run: simdoc-search versions 'D2 <v2>.txt'"
    assert hint in run("versions", "--all").stderr.splitlines()
    result = answer("versions", "--all")
    (family,) = result["families"]
    assert {
        *(
            "document_count",
            "family_count",
            "member_count",
            "copy_group_count",
            "copy_count",
            "pair_count",
            "compared_count",
            "min_share",
            "min_smaller_share",
            "families",
            "found_all_similar_sentences",
            "frequent_sentences",
        ),
        "left_out",
    } == result.keys()
    assert {
        "newest",
        "newest_without_file_times",
        "verdict",
        "undecided",
        "order",
        "timeline",
        "unordered",
        "pair_count",
        "lowest_score",
    } == family.keys()
    assert (5, 1, 2, 1, True, None) == tuple(
        result[key]
        for key in (
            "document_count",
            "family_count",
            "member_count",
            "pair_count",
            "found_all_similar_sentences",
            "frequent_sentences",
        )
    )
    assert ["D1 v1.txt", "D2 <v2>.txt"] == [entry["id"] for entry in family["timeline"]]
    (hit,) = answer("versions", "D1 v1")["hits"]
    assert hit["score"] == pytest.approx(family["lowest_score"])
    assert "no versions among 5 documents" == output("versions", "--all", "--max-distance", 0).splitlines()[-1]
    assert 0 == answer("versions", "--all", "--exclude", "path=D1")["family_count"]
    assert [] == answer("versions", "--all", "--offset", 1)["families"]


def test_long_families_and_topics_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest members are shown. The JSON has all members."""
    monkeypatch.setattr("simdoc_search.cli.groups_output._MAX_MEMBERS", 1)
    monkeypatch.setattr("simdoc_search.cli.groups_output._MAX_NAMES", 1)
    family = output("versions", "--all").splitlines()
    topics = output("related", "--all", "--min-score", 0).splitlines()

    assert ["family 1: 2 versions;", "and 1 more"] == [family[0][:21], family[2].strip()]
    assert family[1].endswith("D2 <v2>.txt")
    assert 2 == len(answer("versions", "--all")["families"][0]["timeline"])
    assert any(line.strip().startswith("and ") and line.endswith(" more") for line in topics)


def test_families_of_a_store_without_sentences_are_found_by_its_texts(folder: Path) -> None:
    assert 1 == answer("versions", "--all", "--store", folder / "plain")["family_count"]


def test_topics_of_the_whole_collection_have_their_concepts(folder: Path) -> None:
    """The keys of the JSON are stable."""
    lines = output("related", "--all").splitlines()

    assert "2 topics with 4 of 5 documents" == lines[-1]
    assert any(line.startswith("topic 2: 2 documents: Jason Dufner, ") for line in lines)
    result = answer("related", "--all")
    assert {
        *(
            "document_count",
            "topic_count",
            "member_count",
            "pair_count",
            "compared_count",
            "topics",
            "frequent_concepts",
            "too_many_candidates",
            "isolated_document_count",
            "left_out",
        ),
    } == result.keys()
    assert [("D1 v1.txt", "version"), ("D3.txt", "related")] == [
        (group["centre"]["id"], group["related"][0]["kind"]) for group in result["topics"]
    ]
    assert (4, None, None) == tuple(result[key] for key in ("member_count", "frequent_concepts", "too_many_candidates"))
    assert result["isolated_document_count"] <= 1
    with_synonyms = ["--store", folder / "syn"]
    assert "PGA Championship" in str(
        answer("related", "--all", *with_synonyms, "--synonyms", folder / "syn.txt")["topics"]
    )
    assert "without concepts; " in sentence(run("related", "--all", "--store", folder / "plain"))


def test_edges_are_written_as_csv(tmp_path: Path) -> None:
    text = output("related", "--all", "--edges", tmp_path / "pairs.csv")
    rows = list(csv.DictReader((tmp_path / "pairs.csv").read_text("utf-8").splitlines()))

    assert f"edges: 2 pairs written to {tmp_path / 'pairs.csv'}" in text.splitlines()
    assert [
        ("D1 v1.txt", "D2 <v2>.txt", "version", "1"),
        ("D3.txt", "D4 & more.txt", "related", "2"),
    ] == [(row["a"], row["b"], row["kind"], row["group"]) for row in rows]
    output("versions", "--all", "--edges", tmp_path / "versions.csv", "--json")
    (row,) = csv.DictReader((tmp_path / "versions.csv").read_text("utf-8").splitlines())
    assert 0.75 <= float(row["score"]) <= 1
    message = sentence(run("related", "--all", "--edges", tmp_path / "none" / "pairs.csv"))
    assert message.endswith("pairs.csv, because its folder does not exist; create the folder")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["versions", "--all", "D3"], "--all compares all documents; omit ID"),
        (["versions", "--all", "--html", "x.html"], "--all compares all documents; omit --html"),
        (["related", "--all", "--text", "x"], "--all compares all documents; omit --text"),
        (["related", "--all", "--explain"], "--all compares all documents; omit --explain"),
        (["versions", "D3", "--edges", "x.csv"], "--edges writes the pairs that --all finds; add --all"),
        (["show", "D3", "--text-only", "--concepts"], "give --text-only or --concepts, not both"),
        (["show", "D3", "--synonyms", "x"], "--synonyms needs --concepts; add --concepts"),
    ],
)
def test_contradicting_options_are_refused(command: list[str], message: str) -> None:
    assert message == usage_error(run(*command))


def test_a_score_is_explained(folder: Path) -> None:
    """The terminal and the JSON show the same parts. Synonyms are shown as each document writes them."""
    options = ["--store", folder / "syn", "--synonyms", folder / "syn.txt", "--explain"]
    lines = output("related", "D3", *options).splitlines()
    (hit,) = answer("related", "D3", *options)["hits"]
    explanation = hit["explanation"]

    assert lines[2].strip().startswith(f"concept similarity {explanation['similarity']:.3f}: the mean of ")
    assert explanation["similarity"] == pytest.approx(sum(concept["contribution"] for concept in explanation["words"]))
    assert {"word", "weight", "contribution", "query_concepts", "hit_concepts"} == explanation["words"][0].keys()
    championship = next(concept for concept in explanation["words"] if concept["word"] == "championship")
    assert "PGA Championship" in championship["query_concepts"]
    assert any(line.split("  ")[-1].startswith("championship: PGA Championship") for line in lines)
    version = output("related", "D1 v1", "--explain")
    assert "so the score is computed from sentences, not from concepts" in version


def test_the_concepts_of_a_document_have_weights_and_sources(folder: Path) -> None:
    lines = output("show", "D3", "--concepts").splitlines()
    result = answer("show", "D3", "--concepts")

    assert ["weight", "documents", "occurrences", "word", "from"] == lines[2].split()
    assert [f"{concept['weight']:.2f}" for concept in result["words"]] == [line.split()[0] for line in lines[3:]]
    dufner = next(concept for concept in result["words"] if concept["word"] == "dufner")
    assert (2, ["Jason Dufner"], []) == (dufner["document_count"], dufner["concepts"], dufner["synonyms"])
    assert "Jason Dufner" in next(line for line in lines if " dufner " in line)
    with_synonyms = ["show", "D4 & more", "--concepts", "--store", folder / "syn"]
    assert "synonyms only as hashes" in answer(*with_synonyms)["naming_problem"]
    result = answer(*with_synonyms, "--synonyms", folder / "syn.txt")
    championship = next(concept for concept in result["words"] if concept["word"] == "championship")
    assert (["tournament"], None) == (championship["synonyms"], result["naming_problem"])
    assert "without concepts; " in sentence(run("show", "D3", "--concepts", "--store", folder / "plain"))
