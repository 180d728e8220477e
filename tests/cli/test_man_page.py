"""The man page and the completions that packagers make: every command and option is in them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from simdoc_search.cli.group import cli

SCRIPT = Path(__file__).parents[2] / "scripts" / "man_page.py"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder below which all of them are."""
    folder = tmp_path_factory.mktemp("man") / "new"
    subprocess.run([sys.executable, SCRIPT, folder], check=True, capture_output=True)
    return folder


def test_every_command_and_option_is_on_the_page(made: Path) -> None:
    """With its help; no line is one for roff that was not meant so."""
    page = (made / "share/man/man1/simdoc-search.1").read_text("utf-8")
    known = {"TH", "SH", "B", "TP", "PP", "nf", "fi"}

    for name, command in cli.commands.items():
        assert f'.SH "{name.upper()}"' in page
        for each in command.params:
            for option in each.opts if each.param_type_name == "option" else ():
                assert option.replace("-", "\\-") in page, f"{name} {option}"
    assert set() == {line[1:].split()[0] for line in page.splitlines() if re.match("[.']", line)} - known
    assert "\b" not in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_page_can_be_set(made: Path) -> None:
    """Without a warning."""
    command = ["groff", "-man", "-Tutf8", "-ww", "-K", "utf8", str(made / "share/man/man1/simdoc-search.1")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")

    assert "" == done.stderr
    assert "simdoc-search index ./corpus" in done.stdout


def test_each_shell_has_its_completion(made: Path) -> None:
    """As click makes it, where the shell looks for it."""
    places = {
        "bash": "bash-completion/completions/simdoc-search",
        "zsh": "zsh/site-functions/_simdoc-search",
        "fish": "fish/vendor_completions.d/simdoc-search.fish",
    }
    for shell, place in places.items():
        assert f"_SIMDOC_SEARCH_COMPLETE={shell}_complete" in (made / "share" / place).read_text("utf-8")


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
def test_man_finds_the_page(made: Path) -> None:
    """By its name, below the prefix."""
    command = ["man", "-M", str(made / "share" / "man"), "-w", "simdoc-search"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert str(made / "share/man/man1/simdoc-search.1") == done.stdout.strip()
