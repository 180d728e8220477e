"""Writes the tables in docs/ that are made from the code: file formats, and the options that simdoc.toml can set.

python scripts/reference.py [--check]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import get_args

from simdoc_search.cli.config import SETTABLE_OPTIONS
from simdoc_search.corpus.formats import EXTENSIONS, FormatKind

DOCS = Path(__file__).parents[1] / "docs"
FORMATS: dict[FormatKind, tuple[str, str]] = {
    "text": ("plain text", "any other extension, and none"),
    "markdown": ("Markdown", ""),
    "html": ("HTML", ""),
    "document": ("documents and e-mails", ""),
    "archive": ("archives and mailboxes, with [`--archives`](archives.md)", ""),
    "jsonl": ("JSONL", ""),
    "table": ("tables", ""),
    "unsupported": ("not read", ""),
}


def main(*, is_check: bool) -> int:
    """Write the tables, or only compare them with the pages; return the exit status."""
    stale = []
    for page in DOCS.glob("*.md"):
        text = page.read_text("utf-8")
        made = re.sub(r"(<!-- scripts/reference\.py: (\w+) -->\n).*?(<!-- end -->)", _filled, text, flags=re.DOTALL)
        if made != text:
            stale.append(page.name)
            if not is_check:
                page.write_text(made, "utf-8")
    print("changed:", *stale)
    return int(is_check and bool(stale))


def _filled(match: re.Match[str]) -> str:
    return f"{match[1]}\n{TABLES[match[2]]()}\n\n{match[3]}"


def options() -> str:
    """The options that simdoc.toml can set, by command."""
    rows = (
        f"| `[{command}]` | {', '.join(f'`{name}`' for name in sorted(names))} |"
        for command, names in SETTABLE_OPTIONS.items()
    )
    return "\n".join(["| Table | Options |", "|---|---|", *rows])


def formats() -> str:
    """The extensions of each format."""
    if unnamed := set(get_args(FormatKind)) - set(FORMATS):
        sys.exit(f"add a name for {', '.join(sorted(unnamed))} to FORMATS in scripts/reference.py")
    rows = []
    for kind, (name, note) in FORMATS.items():
        extensions = " ".join(f"`{extension}`" for extension in EXTENSIONS.get(kind, ()))
        rows.append(f"| {name} | {note or extensions} |")
    return "\n".join(["| Format | Files |", "|---|---|", *rows])


TABLES = {"options": options, "formats": formats}

if __name__ == "__main__":
    sys.exit(main(is_check="--check" in sys.argv[1:]))
