"""Corpora with known shared passages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.passages.corpora import Case, read_pan, read_planted
from tests.support.passages.plagdet import Reuse

SUSPICIOUS = "\ufeffFirst line.\r\nA passage of Älteres.\r\n"
SOURCE = "Title\r\n\r\nA passage of Älteres."
ONE, TWO, OLD = "suspicious-document00001.txt", "suspicious-document00002.txt", "source-document00007.txt"


def write(folder: Path, files: dict[str, str]) -> Path:
    """Write the files, with their line breaks."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    return folder


def feature(name: str, **attributes: object) -> str:
    """An element of the truth."""
    return f'<feature name="{name}" ' + " ".join(f'{key}="{value}"' for key, value in attributes.items()) + "/>"


PLACE = {"this_offset": 14, "this_length": 21, "source_reference": OLD, "source_offset": 9, "source_length": 21}
TRUTH = f'<?xml version="1.0"?><document xmlns="http://example.org/corpus" reference="{ONE}">{{}}</document>'
PAN = {
    f"susp/{ONE}": SUSPICIOUS,
    f"susp/{TWO}": "Own words.",
    f"src/{OLD}": SOURCE,
    f"x/{ONE[:-4]}-{OLD[:-4]}.xml": TRUTH.format(feature("plagiarism", obfuscation="none", **PLACE)),
}
PLANTED = Reuse((ONE, OLD), (14, 35), (9, 30))


def test_positions_of_pan_count_all_characters_of_the_files(tmp_path: Path) -> None:
    """The byte order mark counts, and both characters of a line break."""
    (case,) = read_pan(write(tmp_path, PAN | {"x/pairs": f"{ONE} {OLD}\n"}))

    assert Case("x", (ONE, OLD), (SUSPICIOUS, SOURCE), (PLANTED,)) == case
    assert "A passage of Älteres." == case.texts[0][slice(*PLANTED.a)] == case.texts[1][slice(*PLANTED.b)]


def test_kinds_of_pan_are_folders_or_in_the_truth(tmp_path: Path) -> None:
    """A file of pairs above the folders is then not read again."""
    pairs = f"{ONE} {OLD}\n{TWO} {OLD}\n"
    truth = list(read_pan(write(tmp_path / "truth", PAN | {"pairs": pairs})))
    folders = {"pairs": pairs, "x/pairs": f"{ONE} {OLD}\n", "01-no/pairs": f"{TWO} {OLD}\n\n"}
    cases = list(read_pan(write(tmp_path / "folders", PAN | folders)))

    assert ["none", "clean"] == [case.kind for case in truth]
    assert [("01-no", TWO, 0), ("x", ONE, 1)] == [(case.kind, case.names[0], len(case.planted)) for case in cases]


def test_only_plagiarism_is_read_from_pan(tmp_path: Path) -> None:
    """Detections, features without a source and other features are left out."""
    features = [
        feature("detected-plagiarism", **PLACE),
        feature("plagiarism", this_offset=1, this_length=2),
        feature("about", authors="A", lang="en"),
        feature("artificial-plagiarism", **PLACE),
    ]
    files = PAN | {f"x/{ONE[:-4]}-{OLD[:-4]}.xml": TRUTH.format("".join(features)), "pairs": f"{ONE} {OLD}"}

    assert [(PLANTED,)] == [case.planted for case in read_pan(write(tmp_path, files))]


def test_an_incomplete_pan_corpus_is_refused(tmp_path: Path) -> None:
    """It has no pairs, or lacks a text."""
    with pytest.raises(FileNotFoundError, match="no file of pairs"):
        list(read_pan(write(tmp_path, PAN)))
    with pytest.raises(FileNotFoundError, match=r"lost\.txt, which is not there"):
        list(read_pan(write(tmp_path, {"pairs": f"{ONE} lost.txt"})))


def test_planted_pairs_are_read_in_the_order_of_the_truth(tmp_path: Path) -> None:
    """A pair without spans is clean."""
    names = {"suspicious": ONE, "source": OLD}
    rows = [
        {**names, "kind": "verbatim", "a": [14, 35], "b": [9, 30]},
        {"suspicious": TWO, "source": OLD, "kind": "clean", "a": None, "b": None},
        {**names, "kind": "verbatim", "a": [0, 3], "b": [4, 7]},
    ]
    files = {f"suspicious/{ONE}": SUSPICIOUS, f"suspicious/{TWO}": "Own words.", f"sources/{OLD}": SOURCE}
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    one, two = read_planted(write(tmp_path, files | {"truth.jsonl": lines}))

    assert Case("verbatim", (ONE, OLD), (SUSPICIOUS, SOURCE), (PLANTED, Reuse((ONE, OLD), (0, 3), (4, 7)))) == one
    assert Case("clean", (TWO, OLD), ("Own words.", SOURCE), ()) == two
