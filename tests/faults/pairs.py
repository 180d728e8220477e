"""Two commands at once on a folder and its store. Each may be killed or paused.

In the end, every file has its content, or `apply --undo` names it. The store has each file once.
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
from tests.support.forked_commands import Running

__all__ = ["ATTACKS", "PAIRS", "disturb", "run_pair", "run_to_end"]

COPIES = 12
"""Number of texts with a copy in each of two folders."""

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
"""The commands that run in the folder. `save` is a program that saves some files with another content."""

PAIRS = list(itertools.combinations_with_replacement(COMMANDS, 2))
UNDO_FILES = ("zero.tsv.undo", "one.tsv.undo", "two.tsv.undo")


@functools.cache
def _material() -> Path:
    """A folder with documents, their store, an applied plan, and two plans that keep opposite files."""
    folder = Path(tempfile.mkdtemp(prefix="simdoc-pairs-"))
    files = {
        f"docs/{side}/{number}.txt": words(50 * number, 50 * number + 40) for number in range(COPIES) for side in "ab"
    }
    files |= {f"docs/c/{number}.txt": words(9000 + 50 * number, 9040 + 50 * number) for number in range(3)}
    write(folder / "work", {**files, "docs/only.txt": words(5000, 5050)})
    for name in ("docs/d/0.txt", "docs/d/1.txt"):
        write(folder / "work", {name: (folder / "work" / name.replace("/d/", "/c/")).read_text()})
    run_to_end(folder / "work", "index", "docs", "--workers", "1")
    for plan, kept in (("zero", "c"), ("one", "a"), ("two", "b")):
        run_to_end(folder / "work", "duplicates", "--plan", f"{plan}.tsv", "--keep-in", kept)
    _keep_only(folder / "work/zero.tsv", "docs/c/", "docs/d/")
    run_to_end(folder / "work", "apply", "zero.tsv", *MOVES)
    shutil.copytree(folder / "work", folder / "first")
    return folder


def _keep_only(plan: Path, *parts: str) -> None:
    """Remove all files from a plan whose paths contain none of these parts."""
    lines = plan.read_text("utf-8").splitlines(keepends=True)
    plan.write_text(
        "".join(line for line in lines if "file:" not in line or any(part in line for part in parts)), "utf-8"
    )


def run_to_end(folder: Path, *arguments: str, status: frozenset[int] = frozenset({0})) -> str:
    """Run a command to its end, and return its output."""
    running = Running(list(arguments), folder, folder.parent / "log")
    assert running.wait() in status, running.output
    return running.output


def _contents(folder: Path) -> set[str]:
    return {file.read_text() for name in ("docs", "gone") for file in (folder / name).rglob("*") if file.is_file()}


def _save(rng: random.Random, folder: Path) -> tuple[set[str], set[str]]:
    """Save files as an editor does: write a new file and rename it. Return the new and the replaced contents."""
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


def run_pair(rng: random.Random, place: Place, names: tuple[str, str] | None = None) -> None:
    """Run two commands at once."""
    folder = _material() / "work"
    shutil.rmtree(folder)
    shutil.copytree(_material() / "first", folder)
    before, one, two = _contents(folder), *(names or rng.choice(PAIRS))
    locks = rng.random() < 0.5  # half of the pairs run without locks on folders, as on NFS
    running = [
        Running(list(COMMANDS[name]), folder, place.folder / f"log{number}", locks=locks)
        for number, name in enumerate((one, two))
        if COMMANDS[name]
    ]
    saved, replaced = _save(rng, folder) if "save" in {one, two} else (set(), set())
    disturb(rng, running)
    _check_files(folder, (before - replaced) | saved)
    _check_store(folder)


def disturb(rng: random.Random, running: list[Running], within: float = 0.12) -> None:
    """Kill, pause or leave each command, and wait. A command that was not killed must exit cleanly."""
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
    """Check that no content is lost. After `--undo`, each file must exist or be named, and none may stay hidden."""
    assert contents == _contents(folder) & contents, "a content was lost"
    named: list[str] = []
    for name in UNDO_FILES:
        if (folder / name).exists():
            result = json.loads(run_to_end(folder, "apply", "--undo", name, "--json", status=frozenset({0, 1})))
            named += [f"{file['name']} {file['reason']}" for file in result["not_restored"]]
    assert contents == _contents(folder) & contents, "a content was lost by undo"
    first = _material() / "first/docs"
    missing = [
        file.relative_to(first)
        for file in first.rglob("*.txt")
        if not (folder / "docs" / file.relative_to(first)).exists()
    ]
    assert [] == [file for file in missing if not any(str(file) in line for line in named)], (missing, named)
    hidden = list(folder.rglob("*.away"))
    assert [] == [file for file in hidden if not any(str(file) in line for line in named)], (hidden, named)


def _check_store(folder: Path) -> None:
    """Check that the updated store has each file once, and that each finished copy is undamaged."""
    run_to_end(folder, "index", "docs", "--prune", "--workers", "1")
    listed = [json.loads(line)["id"] for line in run_to_end(folder, "list", "--json").splitlines()]
    files = [file.relative_to(folder / "docs").as_posix() for file in (folder / "docs").rglob("*.txt")]
    assert sorted(files) == sorted(listed)
    for name in (".simdoc", "repaired", "copied"):
        if (folder / name).exists():
            run_to_end(folder, "check", name)


ATTACKS = [Attack("pairs of commands", run_pair)]
