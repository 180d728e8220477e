"""Reads pairs of texts with known passages: the output of scripts/plant_passages.py, or a corpus in the PAN format."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tests.support.passages.plagdet import Reuse

__all__ = ["Case", "read_pan", "read_planted"]


@dataclass(frozen=True, slots=True)
class Case:
    """Two texts with planted passages.

    Attributes:
        kind: How the passages were changed.
        names: The file names of the suspicious text and of the source.
        texts: The two texts.
        planted: The planted passages. A clean pair has none.
    """

    kind: str
    names: tuple[str, str]
    texts: tuple[str, str]
    planted: tuple[Reuse, ...]


def read_planted(folder: Path) -> Iterator[Case]:
    """Yield the pairs in a folder with suspicious/, sources/ and truth.jsonl, in the order of truth.jsonl."""
    kinds: dict[tuple[str, str], str] = {}
    planted: dict[tuple[str, str], list[Reuse]] = defaultdict(list)
    for line in (folder / "truth.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        names = row["suspicious"], row["source"]
        kinds[names] = row["kind"]
        if row["a"]:
            planted[names].append(Reuse(names, tuple(row["a"]), tuple(row["b"])))
    for names, kind in kinds.items():
        texts = _text(folder / "suspicious" / names[0]), _text(folder / "sources" / names[1])
        yield Case(kind, names, texts, tuple(planted[names]))


def read_pan(folder: Path) -> Iterator[Case]:
    """Yield the pairs of a corpus in the format of the PAN competitions of 2012 to 2014.

    The texts are files `*.txt`. A file of pairs, whose name begins with `pairs`, has the names of two texts on each
    line. The passages are elements `<feature name="plagiarism" .../>` in XML files. If there are files of pairs in
    subfolders, only these are read, and the kind is the name of the subfolder. Otherwise the kind is the obfuscation of
    the first passage.

    Raises:
        FileNotFoundError: There is no file of pairs, or a text is missing.
    """
    texts = {path.name: path for path in sorted(folder.rglob("*.txt"))}
    pair_files = [path for path in sorted(folder.rglob("pairs*")) if path.is_file()]
    if not pair_files:
        raise FileNotFoundError(f"{folder} has no file of pairs")
    truth = _features(folder)
    for path in [path for path in pair_files if path.parent != folder] or pair_files:
        for line in filter(str.strip, _text(path).splitlines()):
            first, second = line.split()[:2]
            names = _name(first), _name(second)
            if missing := [name for name in names if name not in texts]:
                raise FileNotFoundError(f"{path} names {missing[0]}, but there is no such text")
            kinds, planted = truth.get(names, (["clean"], []))
            kind = kinds[0] if path.parent == folder else path.parent.name
            yield Case(kind, names, (_text(texts[names[0]]), _text(texts[names[1]])), tuple(planted))


def _name(reference: str) -> str:
    name = reference.rpartition("/")[2]
    return name if name.endswith(".txt") else name + ".txt"


def _text(path: Path) -> str:
    """Return a text with its byte order mark and line breaks unchanged, so that offsets are right."""
    return path.read_bytes().decode("utf-8", "replace")


def _features(folder: Path) -> dict[tuple[str, str], tuple[list[str], list[Reuse]]]:
    """Return the kinds and the passages of each pair, by the names of its texts."""
    found: dict[tuple[str, str], tuple[list[str], list[Reuse]]] = defaultdict(lambda: ([], []))
    for path in sorted(folder.rglob("*.xml")):
        root = ElementTree.parse(path).getroot()  # noqa: S314 - a corpus is trusted
        for feature in root.iterfind(".//{*}feature"):
            name, source = feature.get("name", ""), feature.get("source_reference")
            if source is None or not name.endswith("plagiarism") or name.startswith("detected"):
                continue
            names = _name(root.get("reference", "")), _name(source)
            kinds, planted = found[names]
            kinds.append(feature.get("obfuscation") or feature.get("type") or "planted")
            planted.append(Reuse(names, _span(feature, "this"), _span(feature, "source")))
    return found


def _span(feature: ElementTree.Element, text: str) -> tuple[int, int]:
    start = int(feature.attrib[f"{text}_offset"])
    return start, start + int(feature.attrib[f"{text}_length"])
