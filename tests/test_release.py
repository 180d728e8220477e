"""A release names everything that is missing before its tag."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
READY = '[project.urls]\nRepository = "https://example.org/a/b"\n[project.optional-dependencies]\nfast = []\n'


@pytest.mark.parametrize(
    ("heading", "project", "page", "expected"),
    [
        ("[0.1.0] - 2027-01-31", READY, "pip install 'simdoc-search[full]'", []),
        ("[Unreleased]", READY, "", ["not '## [Unreleased]'"]),
        ("[0.1.0] - unreleased", READY, "", ["not '## [0.1.0] - unreleased'"]),
        ("[0.1.0] - 2027-31-01", READY, "", ["not '## [0.1.0] - 2027-31-01'"]),
        ("[0.2.0] - 2027-01-31", READY, "", ["must be '## [0.1.0] - YYYY-MM-DD'"]),
        ("[0.1.0] - 2027-01-31", READY.replace("https://example.org/a/b", ""), "", ["no Repository"]),
        ("[0.1.0] - 2027-01-31", "[project.optional-dependencies]\n", "", ["no Repository", "no extra fast"]),
        ("[0.1.0] - 2027-01-31", READY, "pip install '.[full]'", ["docs/install.md"]),
    ],
)
def test_what_a_release_needs(
    *, heading: str, project: str, page: str, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    from release_steps import find_unready

    (tmp_path / "docs").mkdir()
    files = {
        "CHANGELOG.md": f"# Changelog\n\n## {heading}\n\n## [0.0.1] - 2026-01-01\n",
        "pyproject.toml": f"[project]\n{project}",
        "README.md": "",
        "docs/install.md": page,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")

    found = [*find_unready(tmp_path, "0.1.0")]
    assert len(expected) == len(found), found
    assert all(part in sentence for part, sentence in zip(expected, found, strict=True))
