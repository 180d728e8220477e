"""The man page and the shell completions for packagers."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from simdoc_search.cli.group import load_commands
from tests.support.scripts import run_script

SCRIPT = Path(__file__).parents[2] / "scripts" / "man_page.py"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the man page and the completions."""
    folder = tmp_path_factory.mktemp("man") / "new"
    run_script(SCRIPT, folder)
    return folder


def test_every_command_and_option_is_on_the_page(made: Path) -> None:
    """A line that begins with a dot must be a known macro."""
    page = (made / "share/man/man1/simdoc-search.1").read_text("utf-8")
    known = {"TH", "ad", "SH", "B", "TP", "PP", "nf", "fi"}

    for name, command in load_commands().items():
        assert f'.SH "{name.upper()}"' in page
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else ():
                assert option.replace("-", "\\-") in page, f"{name} {option}"
    assert set() == {line[1:].split()[0] for line in page.splitlines() if re.match("[.']", line)} - known
    assert "\b" not in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_formats_the_page_without_a_warning(made: Path) -> None:
    command = ["groff", "-man", "-Tutf8", "-ww", "-K", "utf8", str(made / "share/man/man1/simdoc-search.1")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")

    assert "" == done.stderr
    assert "simdoc-search index ./corpus" in done.stdout
