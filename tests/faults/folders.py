"""Hostile folders that are indexed, and clean-ups that are killed."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

from tests.faults.attack import Attack, Place, command, fresh_command, killed
from tests.support.cli import words, write
from tests.support.formats import MAKERS
from tests.support.random_trees import contents_of, disk_bytes, random_tree

__all__ = ["ATTACKS"]

GOOD: dict[str, str | bytes] = {"good/one.txt": words(0, 90), "good/two.txt": words(10, 100)}
"""Files that must be indexed, whatever else is in the folder."""

MODULES = (
    "struct",
    "signal",
    "types",
    "numpy",
    "click",
    "json",
    "multiprocessing",
    "sitecustomize",
    "simdoc_search",
    "tantivy",
)
NAMES = (
    "\x1b[2J\x1b]0;owned\x07",
    "\u202etxt.exe",
    "a\nb",
    "é\u200b",
    "-rf",
    "--json",
    "CON",
    "x" * 200,
    "%s%n",
    "\x9b31m",
)


def _module(rng: random.Random, corpus: Path) -> None:
    """A module that Python could import from the folder. It then creates a file."""
    mark = f"import os; open({str(corpus.parent / 'mark')!r}, 'w').close()\n"
    write(corpus, {f"{rng.choice(MODULES)}{rng.choice(['.py', '/__init__.py'])}": mark})


def _name(rng: random.Random, corpus: Path) -> None:
    write(corpus, {rng.choice(NAMES) + ".txt": words(5, 60)})


def _link(rng: random.Random, corpus: Path) -> None:
    outside = write(corpus.parent / "outside", {"secret.txt": words(0, 90) + " topsecret"})
    target = rng.choice(
        [outside, outside / "secret.txt", Path("/dev/zero"), Path("/proc/self/mem"), corpus, Path("gone")]
    )
    (corpus / f"link{rng.randrange(10**6)}.txt").symlink_to(target)


def _special(rng: random.Random, corpus: Path) -> None:
    os.mkfifo(corpus / f"pipe{rng.randrange(10**6)}.txt")


def _broken_document(rng: random.Random, corpus: Path) -> None:
    """A real file of a random format with changed bytes, perhaps truncated."""
    ending, make = rng.choice(sorted(MAKERS.items()))
    data = bytearray(make())
    for _ in range(rng.randint(1, 20)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    if rng.random() < 0.3:
        del data[rng.randrange(len(data)) :]
    (corpus / f"broken{rng.randrange(10**6)}{ending}").write_bytes(data)


def _binary(rng: random.Random, corpus: Path) -> None:
    (corpus / f"noise{rng.randrange(10**6)}.{rng.choice(['txt', 'html', 'pdf', 'md'])}").write_bytes(
        rng.randbytes(rng.randint(0, 3000))
    )


def _deep(rng: random.Random, corpus: Path) -> None:
    page = "<div>" * rng.randint(100, 20_000) + words(0, 50)
    write(corpus, {f"{'d/' * rng.randint(1, 60)}deep.html": page})


TRAPS: tuple[Callable[[random.Random, Path], None], ...] = (
    _module,
    _name,
    _link,
    _special,
    _broken_document,
    _binary,
    _deep,
)


def hostile_folder(rng: random.Random, place: Place) -> None:
    """Good files are indexed. No code of the folder runs, no file outside is read, no control code is printed."""
    corpus = write(place.folder / "corpus", GOOD)
    for _ in range(rng.randint(3, 12)):
        rng.choice(TRAPS)(rng, corpus)
    store = place.folder / "store"
    workers = rng.choice([1, 2])
    done = fresh_command("index", ".", "--store", store, "--workers", workers, "--file-timeout", 20, cwd=corpus)
    found = fresh_command("similar", "good/one.txt", "--size", 100, "--store", store, "--json", cwd=corpus)
    output = done.out + done.err + found.out + found.err

    assert not (place.folder / "mark").exists(), "code of the folder ran"
    assert "good/two.txt" in {hit["id"] for hit in json.loads(found.out)["hits"]}
    assert "secret" not in found.out, "a file outside of the folder was read"
    assert not set(output) & set("\x1b\x07\x9b\u202e\u200b"), "control codes were printed"


def killed_clean_up(rng: random.Random, place: Place) -> None:
    """Kill `apply` at any moment. The next run frees exactly the announced number of bytes, and no content is lost."""
    docs = place.folder / "docs"
    random_tree(rng, docs, 120)
    contents, before = contents_of(docs), disk_bytes(docs)
    found = command("duplicates", "docs", "--overlap", 60, "--plan", "plan.tsv", "--json", cwd=place.folder)
    apply = "apply", "plan.tsv", *rng.choice([("--delete", "--yes"), ("--hardlink",), ("--move-to", "gone")])
    for _ in range(4):
        killed(rng.uniform(0.01, 0.2), *apply, cwd=place.folder)
        assert contents == contents_of(docs), "a content was lost"

    assert 0 == command(*apply, cwd=place.folder).code
    assert contents == contents_of(docs), "a content was lost"
    assert before - json.loads(found.out)["bytes_freed"] == disk_bytes(docs), (
        "the number of freed bytes is not the announced one"
    )


ATTACKS = [Attack("hostile folders", hostile_folder), Attack("killed clean-ups", killed_clean_up)]
