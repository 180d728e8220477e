"""Pairs of texts with passages of known places: what scripts/plant_passages.py wrote, or a corpus of the PAN form."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tests.support.passages.plagdet import Reuse

__all__ = ["Case", "read_pan", "read_planted"]

_CLEAN = "clean"


@dataclass(frozen=True, slots=True)
class Case:
    """Two texts to compare, and what one has from the other.

    Attributes:
        kind: how its passages were changed, in the words of the corpus.
        names: of the suspicious text and of the source.
        texts: both, character for character.
        planted: where the passages lie; none: the pair is clean.
    """

    kind: str
    names: tuple[str, str]
    texts: tuple[str, str]
    planted: tuple[Reuse, ...]


def read_planted(folder: Path) -> Iterator[Case]:
    """The pairs of a folder with suspicious/, sources/ and truth.jsonl, in the order of the truth."""
    kinds: dict[tuple[str, str], str] = {}
    planted: dict[tuple[str, str], list[Reuse]] = defaultdict(list)
    with (folder / "truth.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            names = row["suspicious"], row["source"]
            kinds[names] = row["kind"]
            if row["a"]:
                planted[names].append(Reuse(names, tuple(row["a"]), tuple(row["b"])))
    for names, kind in kinds.items():
        texts = _text(folder / "suspicious" / names[0]), _text(folder / "sources" / names[1])
        yield Case(kind, names, texts, tuple(planted[names]))


def read_pan(folder: Path) -> Iterator[Case]:
    """The pairs of a corpus of the form of the PAN competitions of 2012 to 2014, wherever in the folder its files lie.

    Texts are `*.txt`; files named `pairs` have lines `suspicious-documentN.txt source-documentN.txt`; passages are
    elements `<feature name="plagiarism" this_offset= this_length= source_reference= source_offset= source_length=/>` in
    XML files whose root names the suspicious text (`reference=`). Pairs files in folders of their own name the kind by
    their folder; a pairs file above them, which has all pairs again, is not read then. Otherwise the kind is the
    feature's `obfuscation`.

    Raises:
        FileNotFoundError: there is no pairs file, or a text that one names is not there.
    """
    texts = {path.name: path for path in sorted(folder.rglob("*.txt"))}
    lists = [path for path in sorted(folder.rglob("pairs*")) if path.is_file()]
    if not lists:
        raise FileNotFoundError(f"{folder} has no file of pairs")
    listed = [path for path in lists if path.parent != folder] or lists
    truth = _features(folder)
    for path in listed:
        for line in _text(path).splitlines():
            names = _pair(line)
            if not names:
                continue
            if missing := [name for name in names if name not in texts]:
                raise FileNotFoundError(f"{path} names {missing[0]}, which is not there")
            kinds, planted = truth.get(names, ([_CLEAN], []))
            kind = kinds[0] if path.parent == folder else path.parent.name
            yield Case(kind, names, (_text(texts[names[0]]), _text(texts[names[1]])), tuple(planted))


def _pair(line: str) -> tuple[str, str] | None:
    """The names in a line of a pairs file; None: the line is empty."""
    words = line.split()
    return (_name(words[0]), _name(words[1])) if len(words) >= 2 else None


def _name(reference: str) -> str:
    name = reference.rpartition("/")[2]
    return name if name.endswith(".txt") else name + ".txt"


def _text(path: Path) -> str:
    """A text as its truth counts it: a byte order mark and line breaks are characters."""
    return path.read_bytes().decode("utf-8", "replace")


def _features(folder: Path) -> dict[tuple[str, str], tuple[list[str], list[Reuse]]]:
    """Kinds and passages of each pair that has some."""
    found: dict[tuple[str, str], tuple[list[str], list[Reuse]]] = defaultdict(lambda: ([], []))
    for path in sorted(folder.rglob("*.xml")):
        root = ElementTree.parse(path).getroot()
        reference = root.get("reference", "")
        for feature in root.iterfind(".//{*}feature"):
            name, source = feature.get("name", ""), feature.get("source_reference")
            if source is None or not name.endswith("plagiarism") or name.startswith("detected"):
                continue
            names = _name(reference), _name(source)
            kinds, planted = found[names]
            kinds.append(feature.get("obfuscation") or feature.get("type") or "planted")
            planted.append(Reuse(names, _span(feature, "this"), _span(feature, "source")))
    return found


def _span(feature: ElementTree.Element, of: str) -> tuple[int, int]:
    start = int(feature.attrib[f"{of}_offset"])
    return start, start + int(feature.attrib[f"{of}_length"])
