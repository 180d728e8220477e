"""Corpora with truth about shared passages: what is read is what is there, character for character."""

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
    """The files, as they are."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    return folder


def feature(name: str, **attributes: object) -> str:
    """An element of the truth."""
    return f'<feature name="{name}" ' + " ".join(f'{key}="{value}"' for key, value in attributes.items()) + "/>"


PLACE = {"this_offset": 14, "this_length": 21, "source_reference": OLD, "source_offset": 9, "source_length": 21}
TRUTH = f'<?xml version="1.0"?><document reference="{ONE}">{{}}</document>'
PAN = {
    f"susp/{ONE}": SUSPICIOUS,
    f"susp/{TWO}": "Own words.",
    f"src/{OLD}": SOURCE,
    f"x/{ONE[:-4]}-{OLD[:-4]}.xml": TRUTH.format(feature("plagiarism", obfuscation="none", **PLACE)),
}
PLANTED = Reuse((ONE, OLD), (14, 35), (9, 30))


def test_pan_truth_counts_characters_of_the_files(tmp_path: Path) -> None:
    """Spans are start and end; the byte order mark and both signs of a line break are characters."""
    folder = write(tmp_path, PAN | {"x/pairs": f"{ONE} {OLD}\n"})
    (case,) = read_pan(folder)

    assert Case("x", (ONE, OLD), (SUSPICIOUS, SOURCE), (PLANTED,)) == case
    assert "A passage of Älteres." == case.texts[0][slice(*PLANTED.a)] == case.texts[1][slice(*PLANTED.b)]


def test_pan_kinds_are_folders(tmp_path: Path) -> None:
    """Pairs files in folders name the kinds, and the one above them with all pairs is not read again."""
    pairs = {"pairs": f"{ONE} {OLD}\n{TWO} {OLD}\n", "x/pairs": f"{ONE} {OLD}\n", "01-no/pairs": f"{TWO} {OLD}\n\n"}
    cases = list(read_pan(write(tmp_path, PAN | pairs)))

    assert [("01-no", TWO, 0), ("x", ONE, 1)] == [(case.kind, case.names[0], len(case.planted)) for case in cases]


def test_pan_kinds_without_folders_are_of_the_truth(tmp_path: Path) -> None:
    """With one pairs file the obfuscation is the kind, and a pair without truth is clean."""
    cases = list(read_pan(write(tmp_path, PAN | {"pairs": f"{ONE} {OLD}\n{TWO} {OLD}\n"})))

    assert ["none", "clean"] == [case.kind for case in cases]


def test_pan_features_of_other_things_are_no_truth(tmp_path: Path) -> None:
    """Detections, features without a source and other features are left out; kinds of plagiarism are all read."""
    features = [
        feature("detected-plagiarism", **PLACE),
        feature("plagiarism", this_offset=1, this_length=2),
        feature("about", authors="A", lang="en"),
        feature("artificial-plagiarism", **PLACE),
    ]
    files = PAN | {f"x/{ONE[:-4]}-{OLD[:-4]}.xml": TRUTH.format("".join(features)), "pairs": f"{ONE} {OLD}"}

    assert [(PLANTED,)] == [case.planted for case in read_pan(write(tmp_path, files))]


def test_pan_truth_may_have_a_namespace(tmp_path: Path) -> None:
    """Elements count by their name, as some corpora declare a namespace and others do not."""
    root = TRUTH.replace("<document", '<document xmlns="http://example.org/corpus"')
    files = PAN | {f"x/{ONE[:-4]}-{OLD[:-4]}.xml": root.format(feature("plagiarism", **PLACE)), "pairs": f"{ONE} {OLD}"}

    assert [(PLANTED,)] == [case.planted for case in read_pan(write(tmp_path, files))]


def test_pan_folders_without_what_they_need_are_errors(tmp_path: Path) -> None:
    """A corpus without pairs, and one that names a text that it lacks, are not measured as if all were well."""
    with pytest.raises(FileNotFoundError, match="no file of pairs"):
        list(read_pan(write(tmp_path, PAN)))
    with pytest.raises(FileNotFoundError, match=r"lost\.txt, which is not there"):
        list(read_pan(write(tmp_path, {"pairs": f"{ONE} lost.txt"})))


def test_planted_pairs_are_read_as_they_were_written(tmp_path: Path) -> None:
    """Each pair once with all its passages, in the order of the truth; null spans are a clean pair."""
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
