"""The names that others build on: which there are, what they load, and what they need."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

import pytest

import simdoc_search
from simdoc_search import errors, query

NAMES = simdoc_search.__all__
API = (Path(__file__).parents[1] / "docs/api.md").read_text("utf-8")
EXTRAS = {"tantivy", "click", "rich", "selectolax", "chardet"}

NUMPY_ALONE = f"""
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refuse())
"""
"""Makes the extras as missing as they are after `pip install simdoc-search`."""

POSIX_MODULES = ("curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty")
POSIX_CALLS = (
    "fork",
    "getuid",
    "geteuid",
    "getpgid",
    "killpg",
    "mkfifo",
    "setsid",
    "statvfs",
    "sysconf",
    "uname",
    "wait4",
)
POSIX_SIGNALS = ("SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGUSR1", "alarm", "pthread_sigmask")
"""What Python has on Linux and macOS, and not on Windows."""


def python(code: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter whose warnings are errors."""
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, check=False, cwd=cwd, capture_output=True, text=True, timeout=60)


def printed(code: str, cwd: Path) -> list[str]:
    """The lines that the code prints; it must succeed."""
    done = python(code, cwd)
    assert (0, "") == (done.returncode, done.stderr)
    return done.stdout.splitlines()


def test_the_public_names_are_sorted_and_complete() -> None:
    """Each exists, `dir` shows it, and every error of `errors` is among them."""
    assert NAMES == sorted(set(NAMES))
    assert [] == [name for name in NAMES if not hasattr(simdoc_search, name)]
    assert set(NAMES) <= set(dir(simdoc_search))
    assert set(errors.__all__) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_public_names_are_documented(name: str) -> None:
    """Each has a docstring, and stands in docs/api.md, or in the module of errors that is shown there."""
    assert getattr(simdoc_search, name).__doc__.strip()
    assert re.search(rf":: (simdoc_search\.)?(\w+\.)*{name}$", API, re.MULTILINE)


def test_no_name_hides_a_module() -> None:
    """`import simdoc_search.passages.compare as m` gives a module."""
    names = [each.name for each in pkgutil.walk_packages(simdoc_search.__path__, "simdoc_search.")]
    modules = [importlib.import_module(name) for name in names if not name.endswith("__main__")]
    parents = [(sys.modules[each.__name__.rpartition(".")[0]], each) for each in modules]

    assert len(parents) > 300
    assert [] == [
        each.__name__ for parent, each in parents if getattr(parent, each.__name__.rpartition(".")[2]) != each
    ]


def test_all_of_them_come_with_a_star() -> None:
    """`from simdoc_search import *` gives these and no others."""
    namespace: dict[str, object] = {}
    exec("from simdoc_search import *", namespace)

    assert NAMES == sorted(set(namespace) - {"__builtins__"})


def test_the_query_builder_offers_its_four_steps() -> None:
    """Parse, plan, compile, and all in one."""
    read = query.parse("doc123_20_80").readings[-1]
    tokens = simdoc_search.fingerprint("one two three four five six seven eight nine ten").tokens()
    compiled = query.to_dsl(query.plan(tokens, read.overlap, read.probability), "simdoc.tokens")

    assert {"parse", "plan", "similar_query", "to_dsl"} <= set(query.__all__)
    assert ("doc123", Fraction(1, 5), Fraction(4, 5)) == (read.id, read.overlap, read.probability)
    assert compiled == query.similar_query(tokens, overlap=0.2, probability=0.8, field="simdoc.tokens")


def test_duplicates_need_no_store() -> None:
    """Documents in, groups and pairs out, as iterators; whatever is needed for it stands in one module."""
    from simdoc_search import duplicates

    texts = ["one two three four five six seven", "one two three four five six seven!", "nothing of these words"]
    documents = [simdoc_search.Document(str(number), text) for number, text in enumerate(texts)]
    found = duplicates.duplicates_among(documents, overlap=0.8, keep="first")
    (group,), (pair,) = found.groups(), found.pairs()

    assert {"Duplicates", "Group", "Pair", "duplicates_among", "duplicates_in"} <= set(duplicates.__all__)
    assert ("0", "1", "same words") == (group.kept.id, group.duplicates[0].id, pair.kind)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """As for any module; the message names both."""
    with pytest.raises(AttributeError, match="'simdoc_search' has no attribute 'nothing'"):
        _ = simdoc_search.nothing


def test_every_error_is_a_simdoc_error() -> None:
    """One name is enough to catch what the package raises on purpose."""
    assert [] == [name for name in errors.__all__ if not issubclass(getattr(errors, name), simdoc_search.SimdocError)]


def test_every_error_stands_in_the_tree() -> None:
    """The docstring draws all of them."""
    assert [] == [name for name in errors.__all__ if name not in (errors.__doc__ or "")]


def test_importing_loads_no_extra(tmp_path: Path) -> None:
    """What is optional is loaded when it is used."""
    modules = "simdoc_search, simdoc_search.query, simdoc_search.stores, simdoc_search.search.similarity_search"
    code = f"import sys, {modules}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    loaded = set(printed(code, tmp_path)[0].split())

    assert "simdoc_search" in loaded
    assert set() == EXTRAS & loaded


def test_no_module_needs_what_windows_lacks_to_be_imported(tmp_path: Path) -> None:
    """All of them again, without the modules and the names that there are elsewhere only; what others brought stays."""
    pytest.importorskip("starlette")
    code = f"""
import importlib, os, pkgutil, signal, sys
import simdoc_search
names = [each.name for each in pkgutil.walk_packages(simdoc_search.__path__, "simdoc_search.")]
names = [name for name in names if not name.endswith("__main__")]
for name in names:
    importlib.import_module(name)
for name in [name for name in sys.modules if name.partition(".")[0] == "simdoc_search"]:
    del sys.modules[name]
sys.modules |= dict.fromkeys({POSIX_MODULES!r})
for module, gone in ((os, {POSIX_CALLS!r}), (signal, {POSIX_SIGNALS!r})):
    for name in gone:
        delattr(module, name)
sys.platform = "win32"
for name in names:
    importlib.import_module(name)
print(len(names) > 300)
"""
    assert ["True"] == printed(code, tmp_path)


def test_the_core_works_with_numpy_alone(tmp_path: Path) -> None:
    """Fingerprints, their overlap, the query; and every public name can be imported."""
    code = """
from simdoc_search import *
from simdoc_search.query import similar_query
a, b = fingerprints(["one two three four five six seven eight", "one two three four five six seven nine"])
print(a.overlap(b))
clause = similar_query(a.tokens(), overlap=0.5, field="simdoc.tokens")
print(clause["match"]["simdoc.tokens"]["minimum_should_match"])
print(Document("id", "text").id, SimilaritySearch.__name__, Hit.__name__, open_store.__name__)
"""
    assert ["0.6", "2", "id SimilaritySearch Hit open_store"] == printed(NUMPY_ALONE + code, tmp_path)


def test_a_store_without_its_extra_says_what_to_install(tmp_path: Path) -> None:
    """The error is one of ours, and an ImportError too; nothing is left on disk."""
    code = """
from simdoc_search import SimdocError, open_store
for place in ("store", ":memory:"):
    try:
        open_store(place, create=True)
    except SimdocError as error:
        print(isinstance(error, ImportError), error)
"""
    said = "True the local store needs an optional part: pip install 'simdoc-search[local]'"

    assert [said, said] == printed(NUMPY_ALONE + code, tmp_path)
    assert [] == list(tmp_path.iterdir())


def test_the_program_without_its_extra_says_what_to_install(tmp_path: Path) -> None:
    """One sentence on stderr and exit code 1."""
    done = python(NUMPY_ALONE + "from simdoc_search.cli import main; main()", tmp_path)
    said = "Error: the command line needs an optional part: pip install 'simdoc-search[cli]'\n"

    assert (1, "", said) == (done.returncode, done.stdout, done.stderr)


def test_a_command_without_the_store_says_what_to_install(tmp_path: Path) -> None:
    """Where the command line is there and tantivy is not."""
    (tmp_path / "a.txt").write_text("one two three")
    commands = [["index", "a.txt"], ["similar", "a.txt"], ["info"], ["delete", "a.txt"]]
    code = (
        NUMPY_ALONE.replace(repr(EXTRAS), "{'tantivy'}")
        + f"""
from simdoc_search.cli.group import cli
for command in {commands!r}:
    try:
        cli(command, prog_name="simdoc-search")
    except SystemExit as end:
        print(end.code)
"""
    )
    done = python(code, tmp_path)
    said = "Error: the local store needs an optional part: pip install 'simdoc-search[local]'\n"

    assert (0, 4 * "1\n", 4 * said) == (done.returncode, done.stdout, done.stderr)


def test_the_version_is_that_of_the_distribution() -> None:
    """`__version__` is what `pip` says."""
    assert version("simdoc-search") == simdoc_search.__version__


def test_a_search_closes_its_store() -> None:
    """At the end of its block; its answers are counted and gone through."""
    with simdoc_search.SimilaritySearch(simdoc_search.open_store(":memory:", create=True)) as search:
        text = "one two three four five six seven"
        search.index([simdoc_search.Document("a", text), simdoc_search.Document("b", text)])
        found, passages, duplicates = search.similar("a"), search.passages("a"), search.duplicates()

        assert [1, 1, 1] == [len(found), len(passages), len(duplicates)]
        assert ["b", "b"] == [hit.id for hit in found] + [hit.id for hit in passages]
        assert [["b"]] == [[each.id for each in group.duplicates] for group in duplicates]
    with pytest.raises(simdoc_search.SimdocError, match="is closed; open it again"):
        search.info()


@pytest.mark.parametrize("place", [":memory:", "folder"])
def test_a_store_is_closed_at_the_end_of_its_block(place: str, tmp_path: Path) -> None:
    """After it, and after an error in it, the store says that it is closed."""
    location = place if place == ":memory:" else tmp_path / place
    with simdoc_search.open_store(location, create=True) as store:
        assert 0 == store.info().documents
    with pytest.raises(simdoc_search.SimdocError, match="is closed; open it again"):
        store.info()
    with pytest.raises(ZeroDivisionError), simdoc_search.open_store(location, create=True) as store:
        _ = 1 // 0
    with pytest.raises(simdoc_search.SimdocError, match="is closed; open it again"):
        store.info()


def test_the_library_logs_nothing_by_itself(tmp_path: Path) -> None:
    """Without a handler of the application nothing is written, though there is something to log."""
    code = """
import simdoc_search
with simdoc_search.open_store("store", create=True) as store:
    simdoc_search.SimilaritySearch(store).index([simdoc_search.Document("a", "some words")])
"""
    assert [] == printed(code, tmp_path)


def every_error() -> list[type[Exception]]:
    """All errors of the package that anybody could catch."""
    for _, name, _ in pkgutil.walk_packages(simdoc_search.__path__, "simdoc_search."):
        if not name.endswith("__main__"):
            importlib.import_module(name)
    found = [Exception]
    for each in found:
        found += [error for error in each.__subclasses__() if error not in found]
    return [each for each in found if each.__module__.startswith("simdoc_search.")]


def test_every_error_of_the_package_stands_in_the_tree_or_is_private() -> None:
    """Whoever catches errors finds them in one place; what never leaves a module begins with an underscore."""
    import click

    drawn = errors.__doc__ or ""
    others = [each for each in every_error() if not issubclass(each, click.ClickException)]

    assert len(others) > 15
    assert [] == [each.__qualname__ for each in others if each.__name__ not in drawn and each.__name__[0] != "_"]
