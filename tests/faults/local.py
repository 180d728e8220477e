"""Damage to a store on disk, and commands that are killed while they use it."""

from __future__ import annotations

import functools
import json
import random
import shutil
import tempfile
from pathlib import Path

from tests.faults.attack import Attack, Place, command, killed
from tests.support.cli import json_lines
from tests.support.texts import overlapping, text

__all__ = ["ATTACKS"]

NOT_COMPARED = {"bytes", "location", "store", "text_bytes"}
INDEX_FILES = {".idx", ".pos", ".term"}
UNUSED = {".managed.json", ".tantivy-meta.lock", ".tantivy-writer.lock"}
"""Files that no query reads. Only tantivy's writer uses them."""
COMMANDS = (("similar", "doc0", "--size", 50), ("similar", "doc2_20_80"), ("similar", "doc4_50"), ("info",))


@functools.cache
def _material() -> Path:
    """A folder with documents, many of which overlap, and a store of them."""
    folder = Path(tempfile.mkdtemp(prefix="simdoc-faults-"))
    rng = random.Random("faults")
    pairs = [overlapping(rng, 200, 0.5) for _ in range(20)]
    documents = [{"id": f"doc{n}", "text": text, "kind": n % 3} for n, text in enumerate(sum(pairs, ()))]
    documents += [{"id": f"other{n}", "text": text(rng, 150)} for n in range(100)]
    (folder / "documents.jsonl").write_text(json_lines(*documents), "utf-8")
    command("index", folder / "documents.jsonl", "--store", folder / "store", cwd=folder)
    return folder


def _answers(store: Path) -> list[tuple[int, str]]:
    """Exit status and output of each command. Paths and numbers of bytes are left out."""
    answers = []
    for arguments in COMMANDS:
        done = command(*arguments, "--store", store, "--json", cwd=store.parent)
        values = json.loads(done.out) if not done.code else {}
        answers.append(
            (done.code, json.dumps({key: values[key] for key in values.keys() - NOT_COMPARED}, sort_keys=True))
        )
    return answers


@functools.cache
def _right_answers() -> list[tuple[int, str]]:
    return _answers(_material() / "store")


def damaged_store(rng: random.Random, place: Place) -> None:
    """Flip a bit, truncate or empty a file. `check` finds the damage, and commands give right answers or errors.

    With damage to the inverted index, an answer may be wrong, because a query does not verify all terms.
    """
    store = place.folder / "store"
    shutil.copytree(_material() / "store", store)
    files = [file for file in sorted(store.rglob("*")) if file.is_file() and file.stat().st_size]
    damaged = rng.choices(files, weights=[max(50, file.stat().st_size) for file in files])[0]
    data = bytearray(damaged.read_bytes())
    match rng.choice(["flip", "flip", "flip", "cut", "zero", "remove"]):
        case "flip":
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        case "cut":
            del data[rng.randrange(len(data)) :]
        case "zero":
            start = rng.randrange(len(data))
            data[start : start + 64] = bytes(len(data[start : start + 64]))
        case _:
            data.clear()
    changed = bytes(data) != damaged.read_bytes()
    damaged.write_bytes(data)
    checked = command("check", store, cwd=place.folder)

    assert not changed or checked.code == 1 or damaged.name in UNUSED, (
        f"check did not find the damage to {damaged.name}"
    )
    if damaged.suffix in INDEX_FILES:
        return  # only `check` verifies their checksums
    for (code, output), right in zip(_answers(store), _right_answers(), strict=True):
        assert code or (code, output) == right, f"a wrong answer after damage to {damaged.name}"


def killed_commands(rng: random.Random, place: Place) -> None:
    """Kill commands at any moment. The next run completes them, and no document is lost or stored twice."""
    source, store = _material() / "documents.jsonl", place.folder / "store"
    shutil.copytree(_material() / "store", store)
    for _ in range(3):
        match rng.choice(["index", "index anew", "delete", "backup", "repair"]):
            case "index":
                killed(rng.uniform(0.02, 0.5), "index", source, "--store", store, cwd=place.folder)
            case "index anew":
                shutil.rmtree(store, ignore_errors=True)
                killed(rng.uniform(0.02, 0.5), "index", source, "--store", store, cwd=place.folder)
            case "delete":
                killed(rng.uniform(0.02, 0.3), "delete", "doc1", "other3", "--store", store, cwd=place.folder)
            case "backup":
                copy = place.folder / f"copy{rng.randrange(10**6)}"
                if not killed(rng.uniform(0.02, 0.3), "backup", store, copy, cwd=place.folder) and copy.exists():
                    assert 0 == command("check", copy, cwd=place.folder).code, "an incomplete backup has the final name"
            case _:
                killed(
                    rng.uniform(0.02, 0.3),
                    "repair",
                    store,
                    "--to",
                    place.folder / f"new{rng.random()}",
                    cwd=place.folder,
                )
    command("index", source, "--store", store, cwd=place.folder)

    assert 0 == command("check", store, cwd=place.folder).code
    assert _right_answers() == _answers(store)


ATTACKS = [Attack("damaged stores", damaged_store), Attack("killed commands", killed_commands)]
