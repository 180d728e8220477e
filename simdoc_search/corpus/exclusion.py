"""Which files of a folder are left out, by their names?"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable

EXCLUDED = "excluded"


class Excluding:
    """Patterns of names, as a shell has them.

    `*.log` is a name in any folder, `drafts/` a folder with all below it, `2021/*.txt` a path below the indexed folder;
    `*` is any characters, also `/`.

    Args:
        patterns: what is left out.
    """

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        given = [each.removeprefix("./") for each in patterns if each.strip("./")]
        self._files = _either(each for each in given if not each.endswith("/"))
        self._folders = _either(each.rstrip("/") for each in given)

    def leaves_out(self, path: str, *, is_folder: bool) -> bool:
        """Whether a file or folder is left out, by its path below the indexed folder."""
        pattern = self._folders if is_folder else self._files
        return pattern is not None and bool(pattern.match(path) or pattern.match(path.rpartition("/")[2]))


def _either(patterns: Iterable[str]) -> re.Pattern[str] | None:
    some = [fnmatch.translate(each) for each in patterns]
    return re.compile("|".join(some)) if some else None
