"""The public names exist, are documented, load no optional package, and work without the optional packages."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

import click
import pytest

import simdoc_search
from simdoc_search import Document, SimdocError, SimilaritySearch, duplicates, errors, open_store, query
from tests.support.stores import NewStore

NAMES = simdoc_search.__all__
API = (Path(__file__).parents[1] / "docs/api.md").read_text("utf-8")
EXTRAS = {"tantivy", "click", "rich", "selectolax", "chardet"}
CLIENTS = {"opensearchpy", "elasticsearch"}

WITHOUT_EXTRAS = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refuse())
"""
"""Hides the packages of the extras, which `pip install simdoc-search` does not install."""

NUMPY_ALONE = f"EXTRAS = {EXTRAS!r}\n{WITHOUT_EXTRAS}"
NO_STORE = f"EXTRAS = {{'tantivy'}}\n{WITHOUT_EXTRAS}"

POSIX_MODULES = ["curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"]
POSIX_CALLS = ["fork", "getuid", "geteuid", "getpgid", "killpg", "mkfifo", "setsid", "statvfs", "sysconf", "uname"]
POSIX_CALLS += ["wait4"]
POSIX_SIGNALS = ["SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGUSR1", "alarm", "pthread_sigmask"]
"""Names that Python has on Linux and macOS, but not on Windows."""


def python(code: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a new interpreter with warnings as errors."""
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, check=False, cwd=cwd, capture_output=True, text=True, timeout=60)


def printed(code: str, cwd: Path) -> list[str]:
    """Run code that must succeed, and return the lines that it prints."""
    done = python(code, cwd)
    assert (0, "") == (done.returncode, done.stderr)
    return done.stdout.splitlines()


def modules() -> list[str]:
    names = [module.name for module in pkgutil.walk_packages(simdoc_search.__path__, "simdoc_search.")]
    return [name for name in names if not name.endswith("__main__")]


def test_the_public_names_are_sorted_and_complete() -> None:
    namespace: dict[str, object] = {}
    exec("from simdoc_search import *", namespace)

    assert NAMES == sorted(set(namespace) - {"__builtins__"})
    assert set(NAMES) <= set(dir(simdoc_search))
    assert set(errors.__all__) <= set(NAMES)
    with pytest.raises(AttributeError, match="'simdoc_search' has no attribute 'nothing'"):
        _ = simdoc_search.nothing


def test_public_names_are_documented() -> None:
    """They are in docs/api.md or in the module of errors that it includes."""
    for name in NAMES:
        assert getattr(simdoc_search, name).__doc__.strip(), name
        assert re.search(rf":: (simdoc_search\.)?(\w+\.)*{name}$", API, re.MULTILINE), name


def test_no_name_hides_a_module() -> None:
    """`import simdoc_search.passages.compare as m` gives a module."""
    imported = [importlib.import_module(name) for name in modules()]
    hidden = []
    for module in imported:
        parent, _, name = module.__name__.rpartition(".")
        if getattr(sys.modules[parent], name) != module:
            hidden.append(module.__name__)

    assert len(imported) > 250
    assert [] == hidden


def test_every_error_is_in_the_tree_of_errors_or_private() -> None:
    """The docstring of `errors` shows the tree. All errors in it are SimdocErrors."""
    for name in modules():
        importlib.import_module(name)
    every = [Exception]
    for error in every:
        every += [subclass for subclass in error.__subclasses__() if subclass not in every]
    ours = [e for e in every if e.__module__.startswith("simdoc_search.") and not issubclass(e, click.ClickException)]

    assert len(ours) > 15
    assert [] == [e.__qualname__ for e in ours if e.__name__ not in (errors.__doc__ or "") and e.__name__[0] != "_"]
    for name in errors.__all__:
        assert name in (errors.__doc__ or "")
        assert issubclass(getattr(errors, name), SimdocError)


def test_the_query_builder_offers_its_four_steps() -> None:
    reading = query.parse("doc123_20_80").readings[-1]
    tokens = simdoc_search.fingerprint("one two three four five six seven eight nine ten").tokens()
    compiled = query.to_dsl(query.plan(tokens, reading.overlap, reading.probability), "simdoc.tokens")

    assert {"parse", "plan", "similar_query", "to_dsl"} <= set(query.__all__)
    assert ("doc123", Fraction(1, 5), Fraction(4, 5)) == (reading.id, reading.overlap, reading.probability)
    assert compiled == query.similar_query(tokens, overlap=0.2, probability=0.8, field="simdoc.tokens")


def test_duplicates_need_no_store() -> None:
    texts = ["one two three four five six seven", "one two three four five six seven!", "nothing of these words"]
    documents = [Document(str(number), text) for number, text in enumerate(texts)]
    result = duplicates.duplicates_among(documents, overlap=0.8, keep="first")
    (group,), (pair,) = result.groups(), result.pairs()

    assert {"Duplicates", "Group", "Pair", "duplicates_among"} <= set(duplicates.__all__)
    assert ("0", "1", "same words") == (group.kept.id, group.duplicates[0].id, pair.kind)


def test_the_version_is_that_of_the_distribution() -> None:
    assert version("simdoc-search") == simdoc_search.__version__


def test_results_are_sized_and_iterable_and_a_search_closes_its_store() -> None:
    with SimilaritySearch(open_store(":memory:")) as search:
        text = "one two three four five six seven"
        search.index([Document("a", text), Document("b", text)])
        similar, passages, duplicates = search.similar("a"), search.passages("a"), search.duplicates()

        assert [1, 1, 1] == [len(similar), len(passages), len(duplicates)]
        assert ["b", "b"] == [hit.id for hit in similar] + [hit.id for hit in passages]
        assert [["b"]] == [[duplicate.id for duplicate in group.duplicates] for group in duplicates]
    with pytest.raises(SimdocError, match="is closed; open it again"):
        search.info()


@pytest.mark.parametrize("kind", ["memory", "folder"])
def test_a_store_is_closed_at_the_end_of_its_block(kind: str, request: pytest.FixtureRequest) -> None:
    new_store: NewStore = request.getfixturevalue(f"new_{kind}_store")
    with new_store() as store:
        assert 0 == store.info().document_count
    with pytest.raises(ZeroDivisionError), new_store() as other:
        _ = 1 // 0
    for closed in (store, other):
        with pytest.raises(SimdocError, match="is closed; open it again"):
            closed.info()


# --- in a new interpreter ---


def test_importing_loads_no_extra_and_nothing_is_logged(tmp_path: Path) -> None:
    """An application that embeds the query builder needs only numpy."""
    code = """
import sys
import simdoc_search.query, simdoc_search.sketch, simdoc_search.stores, simdoc_search.search.similarity_search
print(*sorted({name.partition(".")[0] for name in sys.modules}))
with simdoc_search.open_store("store", create=True) as store:
    simdoc_search.SimilaritySearch(store).index([simdoc_search.Document("a", "some words")])
"""
    (loaded,) = printed(code, tmp_path)

    assert "simdoc_search" in loaded.split()
    assert set() == (EXTRAS | CLIENTS) & set(loaded.split())


@pytest.mark.slow
def test_every_module_can_be_imported_on_windows(tmp_path: Path) -> None:
    """The modules are imported again without the names that Windows lacks. Other packages stay imported."""
    pytest.importorskip("starlette")
    code = f"""
import importlib, os, signal, sys
names = {modules()!r}
for name in names:
    importlib.import_module(name)
for name in [name for name in sys.modules if name.partition(".")[0] == "simdoc_search"]:
    del sys.modules[name]
sys.modules |= dict.fromkeys({POSIX_MODULES!r})
for module, missing in ((os, {POSIX_CALLS!r}), (signal, {POSIX_SIGNALS!r})):
    for name in missing:
        delattr(module, name)
sys.platform = "win32"
for name in names:
    importlib.import_module(name)
"""
    assert [] == printed(code, tmp_path)


def test_without_extras_fingerprints_work_and_a_store_says_what_to_install(tmp_path: Path) -> None:
    """The error is also an ImportError, and nothing is left on disk. Every public name can be imported."""
    code = """
from simdoc_search import *
from simdoc_search.query import similar_query
a, b = fingerprints(["one two three four five six seven eight", "one two three four five six seven nine"])
clause = similar_query(a.tokens(), overlap=0.5, field="simdoc.tokens")
print(a.overlap(b), clause["match"]["simdoc.tokens"]["minimum_should_match"])
for location in ("store", ":memory:"):
    try:
        open_store(location, create=True)
    except SimdocError as error:
        print(isinstance(error, ImportError), error)
"""
    message = "True the local index needs optional packages; install them with: pip install 'simdoc-search[local]'"

    assert ["0.6 2", message, message] == printed(NUMPY_ALONE + code, tmp_path)
    assert [] == list(tmp_path.iterdir())


def test_the_program_without_its_extra_says_what_to_install(tmp_path: Path) -> None:
    done = python(NUMPY_ALONE + "from simdoc_search.cli import main; main()", tmp_path)
    message = "Error: the command line needs optional packages; install them with: pip install 'simdoc-search[cli]'\n"

    assert (1, "", message) == (done.returncode, done.stdout, done.stderr)


@pytest.mark.slow
def test_commands_without_the_local_store_say_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two three")
    code = """
from simdoc_search.cli.group import cli
for command in (["index", "a.txt"], ["similar", "a.txt"], ["info"], ["delete", "a.txt"]):
    try:
        cli(command, prog_name="simdoc-search")
    except SystemExit as end:
        print(end.code)
"""
    done = python(NO_STORE + code, tmp_path)
    message = "Error: the local index needs optional packages; install them with: pip install 'simdoc-search[local]'\n"

    assert (0, 4 * "1\n", 4 * message) == (done.returncode, done.stdout, done.stderr)
