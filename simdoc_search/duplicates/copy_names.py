"""Recognises the names of copies, and of folders for backups, downloads and old files."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from unicodedata import normalize

from simdoc_search.corpus.member_names import find_archive
from simdoc_search.versions.names import is_named_old, remove_copy_marks

_EXTENSIONS = re.compile(r"(?:\.\w{1,8}){1,2}$")
_BACKUP_EXTENSION = re.compile(r"(?:~|\.bak)$", re.IGNORECASE)

_DOWNLOADS = """\
    downloads téléchargements descargas scaricati transferências pobrane hämtningar nedlastinger hentet lataukset
    stažené stiahnuté letöltések descărcări baixades preuzimanja prejemi İndirilenler λήψεις загрузки завантаження
    下载 下載 ダウンロード 다운로드"""
"""The names of the folder for downloads in many languages, as xdg-user-dirs creates it."""

_FOLDER_OF_COPIES = re.compile(
    rf"[\W\d_]*(?:{'|'.join(_DOWNLOADS.split())}|desktop|schreibtisch)|"
    r"(?:.*[\W\d_])?(?:back-?ups?|sicherung(?:en)?|sauvegardes?)(?:[\W_].*)?",
    re.IGNORECASE,
)
"""Matches the names of the folders in which browsers and people save files for a while, and of folders with backups.
Numbers before a name, as in `08 Downloads`, do not matter. A file in another folder was probably filed by a person."""
_ONE_WORD = re.compile(r"[\W\d_]*[^\W\d_]+[\W\d_]*")

ARCHIVE_MEMBER_PENALTY = 1 << 16
"""The result of `count_copy_names` for a member of an archive, greater than any number of names in a path."""


def count_copy_names(path: str) -> int:
    """Count the parts of a path that are names of copies, or of folders for backups, downloads or old files.

    For a member of an archive, return a greater number.
    """
    folder, _, name = path.replace(os.sep, "/").rpartition("/")
    return ARCHIVE_MEMBER_PENALTY if find_archive(path) else _is_copy_name(name) + _count_copy_folders(folder)


def is_in_copy_folder(path: str) -> bool:
    """Return whether a folder in a path has the name of a copy, or of a folder for backups, downloads or old files."""
    return _count_copy_folders(path.replace(os.sep, "/").rpartition("/")[0]) > 0


@lru_cache(maxsize=1 << 12)
def _count_copy_folders(path: str) -> int:
    names = normalize("NFC", path).split("/")
    return sum(
        bool(_FOLDER_OF_COPIES.fullmatch(name)) or _is_copy_name(name) or _is_folder_of_old_files(name)
        for name in names
    )


def _is_folder_of_old_files(name: str) -> bool:
    """Return whether a folder has a name such as `Old`, `_alt` or `Archive 2019`, but not `Old laptop`."""
    return bool(_ONE_WORD.fullmatch(name)) and is_named_old(name)


def _is_copy_name(name: str) -> bool:
    """Return whether a file manager, browser or editor gives such a name to a copy of a file or folder.

    Words that people add to a name, such as final, new and old, do not count, because they are less reliable.
    """
    stem = normalize("NFC", _EXTENSIONS.sub("", name))
    return bool(_BACKUP_EXTENSION.search(name)) or remove_copy_marks(stem) != stem
