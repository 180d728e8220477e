"""Takes the picture of a page for the home of the website: two versions of a lease, compared.

python scripts/browser/home_picture.py docs/pictures
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from chromium import Browser

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.documents import write_documents

PROGRAM = Path(sys.executable).with_name("simdoc-search")


def main(folder: Path) -> None:
    """Write the picture into a folder."""
    with tempfile.TemporaryDirectory() as name, Browser() as browser:
        documents = write_documents(Path(name)) / "Documents"
        command = [str(PROGRAM), "compare", "lease.txt", "lease v2.txt", "--html", "lease.html"]
        subprocess.run(command, cwd=documents, check=True, capture_output=True)
        browser.resize(1200, 640)
        browser.tell("Emulation.setScrollbarsHidden", {"hidden": True})
        browser.open(documents / "lease.html")
        browser.picture(folder / "compare.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
