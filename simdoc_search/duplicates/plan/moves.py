"""Move, delete, link: nothing is lost to a kill at any moment, nor to other processes at work on the same files.

**Other processes.** Two runs may each want to remove the file that the other one keeps. So a file is removed in this
order, which needs no lock:

1. The kept file is open, and its content was read through that handle (`Pinned`).
2. The other file gets a hidden name beside its own. From now on, nobody finds it.
3. The kept file is looked at again: its path must still name the open file. If not, the other one gets its name back.
4. Only now is the other file removed.

Of several runs that do this at once, the last one to reach step 3 sees what all others did in step 2. So not all of
them can go on to step 4, and one copy remains. Step 2 also protects a file that a program has just replaced: what was
renamed is looked at before it is removed.

**Kills.** The undo file names each act before it begins, with the `token` of its run. Hidden names are made of the
token, so a later run finds them (`recover`) and no two runs use the same one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from simdoc_search.duplicates.plan.files import Seen, hash_of, is_as_it_was, opened, seen
from simdoc_search.duplicates.plan.journal import Act
from simdoc_search.duplicates.plan.rows import FileState, LeftAloneError
from simdoc_search.durable import sync_folder

_PERMISSIONS = 0o777
"""What a copy may get of a file's permissions: no set-uid or set-gid bit, as another user may own the copy."""

Check = Callable[[], object]
"""Raises LeftAloneError unless the kept file is still there."""


def move(path: str, to: str, state: FileState, known: Seen, *, check: Check, token: str) -> None:
    """Move a file to a free path, also onto another disk.

    Args:
        path: the file.
        to: its new path, in a folder that exists.
        state: the content of the file.
        known: identity of the file.
        check: whether the kept file is still there.
        token: of this run.

    Raises:
        LeftAloneError: something is at the new path, or one of the files has changed.
        OSError: it is not possible.
    """
    try:
        os.link(path, to)  # unlike a renaming, it overwrites nothing
    except FileExistsError:
        raise LeftAloneError(f"{to} is there already") from None
    except OSError:  # another disk, or one that knows no links
        copy_new(path, to, state, token)
    sync_folder(Path(to).parent)
    try:
        delete(path, known, check=check, token=token)
    except (OSError, LeftAloneError):
        if _is_file(path, known) or _is_file(_hidden(path, token, "away"), known):
            _discard(to)
        raise


def finish_move(path: str, to: str, known: Seen, *, check: Check, token: str) -> None:
    """Finish a move that was cut short while the file was in both places; arguments as of `move`."""
    sync_folder(Path(to).parent)
    delete(path, known, check=check, token=token)


def delete(path: str, known: Seen, *, check: Check, token: str) -> None:
    """Remove a file; arguments as of `move`.

    Raises:
        LeftAloneError: it, or the kept file, has changed.
        OSError: it is not possible.
    """
    _take_away(path, known, check, token, os.unlink)


def replace_by_link(path: str, kept: str, known: Seen, *, check: Check, token: str) -> None:
    """Make a file another name of the kept one, which has equal bytes; arguments as of `move`.

    Raises:
        LeftAloneError: one of them has changed.
        OSError: it is not possible.
    """
    scratch = _hidden(path, token, "tmp")
    os.link(kept, scratch)  # whatever happens to the kept file now, its content stays

    def check_link() -> None:
        check()
        if not _is_one(kept, scratch):
            raise LeftAloneError("the kept file has changed just now")

    _replace(path, scratch, known, check_link, token)


def replace_by_copy(path: str, state: FileState, known: Seen, token: str, mode: int) -> None:
    """Give a file that shares its content with another name a copy of its own.

    Raises:
        LeftAloneError: it has changed.
        OSError: it is not possible.
    """
    _replace(path, _copied(path, path, state, token, mode), known, lambda: None, token)


def copy_new(source: str, to: str, state: FileState, token: str, mode: int | None = None) -> None:
    """Copy a file to a free path.

    Args:
        source: the file.
        to: the path.
        state: what the copy is to be.
        token: of this run.
        mode: its permissions; None: those of the source, with all else that is known of it.

    Raises:
        LeftAloneError: something is there, or the source has another content.
        OSError: it is not possible.
    """
    scratch = _copied(source, to, state, token, mode)
    try:
        _place(scratch, to)
    finally:
        _discard(scratch)
    sync_folder(Path(to).parent)


def recover(act: Act) -> None:
    """Clean up after a run that was killed: remove its copies in progress, and give a hidden file its name back.

    Args:
        act: what that run was about to do, or another one to undo.

    Raises:
        LeftAloneError: another file has the name by now; the message says where the hidden one is.
        OSError: it is not possible.
    """
    for each in (act.path, act.other):
        _discard(_hidden(each, act.token, "tmp"))
        away = _hidden(each, act.token, "away")
        if os.path.lexists(away):
            if os.path.lexists(each) and _is_elsewhere(away, act):
                os.unlink(away)  # noqa: PTH108 - as text
            else:
                _put_back(away, each)


def make_folders(folder: Path) -> None:
    """Make a folder and those around it, durably. Raises OSError where that is not possible."""
    missing = [each for each in (folder, *folder.parents) if not each.is_dir()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing:
        sync_folder(each.parent)


def _replace(path: str, scratch: str, known: Seen, check: Check, token: str) -> None:
    """Give a file's name to another one, which is beside it."""

    def finish(away: str) -> None:
        _place(scratch, path)
        os.unlink(away)  # noqa: PTH108 - as text

    try:
        _take_away(path, known, check, token, finish)
    finally:
        _discard(scratch)


def _take_away(path: str, known: Seen, check: Check, token: str, finish: Callable[[str], None]) -> None:
    """Steps 2 to 4: hide a file, look at the kept one, and finish; or give the file its name back."""
    _check(path, known)
    away = _hidden(path, token, "away")
    os.rename(path, away)  # noqa: PTH104 - as text
    try:
        _check(away, known)
        check()
        finish(away)
    except BaseException:
        if os.path.lexists(away):
            _put_back(away, path)
        raise
    sync_folder(Path(path).parent)


def _put_back(away: str, path: str) -> None:
    try:
        _place(away, path)
    except LeftAloneError:
        raise LeftAloneError(f"another file has its name now; it is {away}") from None
    sync_folder(Path(path).parent)


def _place(source: str, to: str) -> None:
    """Give a file another name in its folder, where nothing is."""
    try:
        os.link(source, to)
    except FileExistsError:
        raise LeftAloneError(f"{to} is there already") from None
    except OSError:  # a disk that knows no links
        if os.path.lexists(to):
            raise LeftAloneError(f"{to} is there already") from None
        os.rename(source, to)  # noqa: PTH104 - as text
    else:
        os.unlink(source)  # noqa: PTH108 - as text


def _hidden(path: str, token: str, what: str) -> str:
    """The name for what a run hides or writes beside a path."""
    folder, name = os.path.split(path)
    digest = hashlib.blake2b(os.fsencode(name), digest_size=8).hexdigest()
    return os.path.join(folder, f".simdoc-{digest}-{token}.{what}")  # noqa: PTH118 - as text


def _discard(path: str) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(path)  # noqa: PTH108 - as text


def _is_elsewhere(away: str, act: Act) -> bool:
    """Whether what a file has under its hidden name, it has under another one, too."""
    if _is_one(away, act.path) or _is_one(away, act.other):
        return True
    return act.state is not None and is_as_it_was(away, act.state) and is_as_it_was(act.path, act.state)


def _is_one(path: str, other: str) -> bool:
    """Whether two paths are names of one file."""
    try:
        return os.path.samestat(os.lstat(path), os.lstat(other))
    except (FileNotFoundError, NotADirectoryError):
        return False


def _is_file(path: str, known: Seen) -> bool:
    """Whether a path names the file of this identity, whatever its content."""
    try:
        return seen(os.lstat(path))[:2] == known[:2]
    except OSError:
        return False


def _check(path: str, known: Seen) -> None:
    info = os.lstat(path)
    if seen(info) != known or not stat.S_ISREG(info.st_mode):
        raise LeftAloneError("it has changed just now")


def _copied(source: str, to: str, state: FileState, token: str, mode: int | None) -> str:
    """A copy beside where it is to be, whole and on disk."""
    scratch = _hidden(to, token, "tmp")
    try:
        with open(scratch, "xb") as file, opened(source) as handle:  # noqa: PTH123 - as text
            if hash_of(handle, file.write) != state.hash:
                raise LeftAloneError("its content has changed just now")
            file.flush()
            if mode is None:
                shutil.copystat(source, scratch)
                mode = os.stat(scratch).st_mode  # noqa: PTH116 - as text
            else:
                os.utime(scratch, ns=(state.mtime_ns, state.mtime_ns))
            os.chmod(scratch, mode & _PERMISSIONS)  # noqa: PTH101 - as text
            os.fsync(file.fileno())
    except BaseException:
        _discard(scratch)
        raise
    return scratch
