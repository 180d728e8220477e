"""Pairs of commands that write at the same time, on a folder and its store; one or both may be killed or paused.

Each file has its content, or is named by the command that should have brought it back; the store has each file once.
"""

from __future__ import annotations

import functools
import itertools
import json
import random
import shutil
import tempfile
import time
from pathlib import Path

from tests.faults.attack import Attack, Place
from tests.support.cli import words, write
from tests.support.forked import Running

__all__ = ["ATTACKS", "PAIRS", "disturbed", "done", "pair"]

COPIES = 12
"""So many texts have a copy in each of two folders."""

MOVES = ("--move-to", "gone")
COMMANDS: dict[str, tuple[str, ...]] = {
    "index": ("index", "docs", "--workers", "1"),
    "prune": ("index", "docs", "--prune", "--workers", "1"),
    "delete": ("delete", "a/0.txt", "b/1.txt", "only.txt"),
    "apply --delete": ("apply", "one.tsv", "--delete", "--yes"),
    "apply --delete, the other plan": ("apply", "two.tsv", "--delete", "--yes"),
    "apply --move-to": ("apply", "one.tsv", *MOVES),
    "apply --move-to, the other plan": ("apply", "two.tsv", *MOVES),
    "apply --hardlink": ("apply", "one.tsv", "--hardlink"),
    "apply --hardlink, the other plan": ("apply", "two.tsv", "--hardlink"),
    "undo": ("apply", "--undo", "zero.tsv.undo"),
    "save": (),
    "repair": ("repair", ".simdoc", "--to", "repaired"),
    "backup": ("backup", ".simdoc", "copied"),
}
"""What runs in the folder; `save` is a program that saves some of the files again with another content."""

PAIRS = list(itertools.combinations_with_replacement(COMMANDS, 2))
UNDO_FILES = ("zero.tsv.undo", "one.tsv.undo", "two.tsv.undo")


@functools.cache
def _material() -> Path:
    """A folder to copy: documents, their store, two plans of which each keeps what the other drops, one applied."""
    folder = Path(tempfile.mkdtemp(prefix="simdoc-pairs-"))
    files = {
        f"docs/{side}/{number}.txt": words(50 * number, 50 * number + 40) for number in range(COPIES) for side in "ab"
    }
    files |= {f"docs/c/{number}.txt": words(9000 + 50 * number, 9040 + 50 * number) for number in range(3)}
    write(folder / "work", {**files, "docs/only.txt": words(5000, 5050)})
    for name in ("docs/d/0.txt", "docs/d/1.txt"):
        write(folder / "work", {name: (folder / "work" / name.replace("/d/", "/c/")).read_text()})
    done(folder / "work", "index", "docs", "--workers", "1")
    for plan, kept in (("zero", "c"), ("one", "a"), ("two", "b")):
        done(folder / "work", "duplicates", "--plan", f"{plan}.tsv", "--keep-in", kept)
    _keep_only(folder / "work/zero.tsv", "docs/c/", "docs/d/")
    done(folder / "work", "apply", "zero.tsv", *MOVES)
    shutil.copytree(folder / "work", folder / "first")
    return folder


def _keep_only(plan: Path, *parts: str) -> None:
    """Let a plan be about files with these parts in their paths."""
    lines = plan.read_text("utf-8").splitlines(keepends=True)
    plan.write_text(
        "".join(line for line in lines if "file:" not in line or any(part in line for part in parts)), "utf-8"
    )


def done(folder: Path, *arguments: str, status: frozenset[int] = frozenset({0})) -> str:
    """What a command says that runs to its end."""
    running = Running(list(arguments), folder, folder.parent / "log")
    assert running.wait() in status, running.output
    return running.output


def _contents(folder: Path) -> set[str]:
    return {file.read_text() for name in ("docs", "gone") for file in (folder / name).rglob("*") if file.is_file()}


def _save(rng: random.Random, folder: Path) -> tuple[set[str], set[str]]:
    """What an editor does that writes beside a file and renames; the new contents, and those that they replace."""
    saved, replaced = set(), set()
    for number in rng.sample(range(COPIES), 6):
        path = folder / "docs" / rng.choice("ab") / f"{number}.txt"
        new = path.with_suffix(".swp")
        new.write_text(words(rng.randrange(10**6), 10**6 + 30)[-400:])
        saved.add(new.read_text())
        replaced.add((_material() / "first" / path.relative_to(folder)).read_text())
        new.replace(path)
        time.sleep(rng.uniform(0, 0.02))
    return saved, replaced


def pair(rng: random.Random, place: Place, names: tuple[str, str] | None = None) -> None:
    """Two commands at once."""
    folder = _material() / "work"
    shutil.rmtree(folder)
    shutil.copytree(_material() / "first", folder)
    before, one, two = _contents(folder), *(names or rng.choice(PAIRS))
    locks = rng.random() < 0.5  # in half of them folders cannot be locked, as on NFS
    running = [
        Running(list(COMMANDS[name]), folder, place.folder / f"log{number}", locks=locks)
        for number, name in enumerate((one, two))
        if COMMANDS[name]
    ]
    saved, replaced = _save(rng, folder) if "save" in {one, two} else (set(), set())
    disturbed(rng, running)
    _check_files(folder, (before - replaced) | saved)
    _check_store(folder)


def disturbed(rng: random.Random, running: list[Running], within: float = 0.12) -> None:
    """Kill, pause or leave each, and wait; whoever was not killed has manners."""
    killed = []
    for process in rng.sample(running, len(running)):
        time.sleep(rng.uniform(0, within))
        match rng.choice(["leave", "pause", "kill"]):
            case "kill":
                process.kill()
                killed.append(process)
            case "pause":
                process.pause(rng.uniform(0, 0.1))
    for process in running:
        code = process.wait()
        assert code in {0, 1} or process in killed, (code, process.arguments, process.output)
        assert "Traceback" not in process.output, process.output


def _check_files(folder: Path, contents: set[str]) -> None:
    """All contents are there; once all is undone, all files are, or are named, and nothing is hidden."""
    assert contents == _contents(folder) & contents, "a content was lost"
    left: list[str] = []
    for name in UNDO_FILES:
        if (folder / name).exists():
            told = json.loads(done(folder, "apply", "--undo", name, "--json", status=frozenset({0, 1})))
            left += [f"{file['name']} {file['reason']}" for file in told["left"]]
    assert contents == _contents(folder) & contents, "a content was lost by undo"
    first = _material() / "first/docs"
    missing = [
        file.relative_to(first)
        for file in first.rglob("*.txt")
        if not (folder / "docs" / file.relative_to(first)).exists()
    ]
    assert [] == [file for file in missing if not any(str(file) in line for line in left)], (missing, left)
    hidden = list(folder.rglob("*.away"))
    assert [] == [file for file in hidden if not any(str(file) in line for line in left)], (hidden, left)


def _check_store(folder: Path) -> None:
    """Brought up to date, it has each file once; so has each copy of it that was finished."""
    done(folder, "index", "docs", "--prune", "--workers", "1")
    listed = [json.loads(line)["id"] for line in done(folder, "list", "--json").splitlines()]
    files = [file.relative_to(folder / "docs").as_posix() for file in (folder / "docs").rglob("*.txt")]
    assert sorted(files) == sorted(listed)
    for name in (".simdoc", "repaired", "copied"):
        if (folder / name).exists():
            done(folder, "check", name)


ATTACKS = [Attack("pairs of commands", pair)]
