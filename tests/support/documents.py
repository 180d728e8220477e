"""Writes the folders that the tutorial about your own files uses."""

from __future__ import annotations

import os
from pathlib import Path

from tests.support.cli import write
from tests.support.formats import PARAGRAPHS

LEASE = (
    "The tenant rents the flat on the second floor, with the cellar and the garden behind the house.",
    "The rent is 850 euros a month. It is due on the first working day, in advance and without being asked for.",
    "The tenant may keep one dog or two cats, if no neighbour complains of them to the landlord within a month.",
    "The landlord repairs the heating, the roof and the windows at his own cost.",
    "Either side may end this lease in writing, three months before the end of any quarter.",
    "The keys are handed over on the first day, and handed back on the last one.",
)
ESSAY = "My grandfather never spoke of the year in which the pier was built. I found the story in an old report."
WRITTEN = 1_760_000_000
DAY = 86_400


def write_documents(home: Path) -> Path:
    """Write `Documents`, `Papers` and `essay.txt` into a folder, and return the folder."""
    lease = "\n\n".join(LEASE) + "\n"
    page = "<html><body>" + "".join(f"<p>{paragraph}</p>" for paragraph in LEASE) + "</body></html>"
    later = lease.replace("850", "890").replace("one dog or two cats", "one dog")
    files: dict[str, str | bytes] = {
        "Documents/lease.txt": lease,
        "Documents/lease (1).txt": lease,
        "Documents/web/lease.html": page,
        "Documents/lease v2.txt": later,
        "Documents/notes/harbour.txt": PARAGRAPHS[0] + ".\n",
        "Papers/pier.txt": f"{PARAGRAPHS[0]}.\n\n{PARAGRAPHS[1]}.\n",
        "Papers/mill.txt": f"The mill stood empty for years. {PARAGRAPHS[1]}.\n",
        "essay.txt": f"{ESSAY}\n\n{PARAGRAPHS[1]}.\n",
    }
    write(home, files)
    for day, name in enumerate(files):
        os.utime(home / name, (WRITTEN + day * DAY,) * 2)
    return home
