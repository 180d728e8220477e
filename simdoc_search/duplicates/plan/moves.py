"""Moves, deletes and links files so that neither a kill nor another process loses content.

**Other processes.** Two runs may each want to remove the file that the other one keeps. So a file is removed in this
order, which needs no lock:

1. The kept file is open, and its content was read through that handle (`PinnedFile`).
2. The other file is renamed to a hidden name in its folder. From now on, nobody finds it.
3. The kept file is checked again: its path must still name the open file. If not, the other file gets its name back.
4. Only now is the other file removed.

If several runs do this at once, the last one to reach step 3 sees what all others did in step 2. So not all of them
reach step 4, and one copy remains. Step 2 also protects a file that a program has just replaced: the renamed file is
checked before it is removed.

**Kills.** The undo file names each change before it begins, with the `token` of its run. Hidden names are made of the
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

from simdoc_search.duplicates.plan.files import FileIdentity, has_state, open_file, read_hash
from simdoc_search.duplicates.plan.journal import Change
from simdoc_search.duplicates.plan.rows import FileState, LeftAloneError
from simdoc_search.durable import sync_folder

_PERMISSIONS = 0o777
"""Permissions that a copy can get: no set-uid or set-gid bit, because another user may own the copy."""

CheckKept = Callable[[], object]
"""Raises LeftAloneError unless the kept file is unchanged."""


def move(path: str, to: str, state: FileState, identity: FileIdentity, *, check_kept: CheckKept, token: str) -> None:
    """Move a file with a known content and identity to a free path, in a folder that exists; also onto another disk.

    Raises:
        LeftAloneError: something is at the new path, or one of the files has changed.
        OSError: the system refuses.
    """
    try:
        os.link(path, to)  # unlike a rename, it overwrites nothing
    except FileExistsError:
        raise _occupied(to) from None
    except OSError:  # another disk, or one without hard links
        copy_new(path, to, state, token)
    sync_folder(Path(to).parent)
    try:
        delete(path, identity, check_kept=check_kept, token=token)
    except (OSError, LeftAloneError):
        if _has_inode(path, identity) or _has_inode(_hidden(path, token, "away"), identity):
            _discard(to)
        raise


def delete(path: str, identity: FileIdentity, *, check_kept: CheckKept, token: str) -> None:
    """Remove a file; errors as of `move`."""
    _take_away(path, identity, check_kept, token, os.unlink)


def replace_by_link(path: str, kept: str, identity: FileIdentity, *, check_kept: CheckKept, token: str) -> None:
    """Replace a file by a hard link to the kept file, which has equal bytes; errors as of `move`."""
    scratch = _hidden(path, token, "tmp")
    os.link(kept, scratch)  # whatever happens to the kept file from now on, its content remains

    def check_link() -> None:
        check_kept()
        if not _is_one_file(kept, scratch):
            raise LeftAloneError("the kept file has changed just now")

    _replace(path, scratch, identity, check_link, token)


def replace_by_copy(path: str, state: FileState, identity: FileIdentity, token: str, mode: int) -> None:
    """Replace a hard link by a file of its own; errors as of `move`."""
    _replace(path, _copy(path, path, state, token, mode), identity, lambda: None, token)


def copy_new(source: str, to: str, state: FileState, token: str, mode: int | None = None) -> None:
    """Copy a file to a free path. Without a mode, the copy gets all attributes of the source; errors as of `move`."""
    scratch = _copy(source, to, state, token, mode)
    try:
        _place(scratch, to)
    finally:
        _discard(scratch)
    sync_folder(Path(to).parent)


def recover(change: Change) -> None:
    """Clean up after a killed run: remove its unfinished copies, and give a hidden file its name back.

    Raises:
        LeftAloneError: another file has the name by now; the message says where the hidden file is.
        OSError: the system refuses.
    """
    for path in (change.path, change.other):
        _discard(_hidden(path, change.token, "tmp"))
        away = _hidden(path, change.token, "away")
        if os.path.lexists(away):
            if os.path.lexists(path) and _exists_elsewhere(away, change):
                os.unlink(away)  # noqa: PTH108 - as text
            else:
                _put_back(away, path)


def make_folders(folder: Path) -> None:
    """Make a folder and its parents durably."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.is_dir()]
    folder.mkdir(parents=True, exist_ok=True)
    for made in missing:
        sync_folder(made.parent)


def _replace(path: str, scratch: str, identity: FileIdentity, check_kept: CheckKept, token: str) -> None:
    """Replace a file by another one in its folder."""

    def finish(away: str) -> None:
        _place(scratch, path)
        os.unlink(away)  # noqa: PTH108 - as text

    try:
        _take_away(path, identity, check_kept, token, finish)
    finally:
        _discard(scratch)


def _take_away(
    path: str, identity: FileIdentity, check_kept: CheckKept, token: str, finish: Callable[[str], None]
) -> None:
    """Do steps 2 to 4: hide a file, check the kept one, and finish; or give the file its name back."""
    _check(path, identity)
    away = _hidden(path, token, "away")
    os.rename(path, away)  # noqa: PTH104 - as text
    try:
        _check(away, identity)
        check_kept()
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
    """Rename a file in its folder without overwriting anything."""
    try:
        os.link(source, to)
    except FileExistsError:
        raise _occupied(to) from None
    except OSError:  # a disk without hard links
        if os.path.lexists(to):
            raise _occupied(to) from None
        os.rename(source, to)  # noqa: PTH104 - as text
    else:
        os.unlink(source)  # noqa: PTH108 - as text


def _occupied(path: str) -> LeftAloneError:
    return LeftAloneError(f"{path} exists already")


def _hidden(path: str, token: str, suffix: str) -> str:
    """Return the hidden name that a run uses in the folder of a path."""
    folder, name = os.path.split(path)
    digest = hashlib.blake2b(os.fsencode(name), digest_size=8).hexdigest()
    return os.path.join(folder, f".simdoc-{digest}-{token}.{suffix}")  # noqa: PTH118 - as text


def _discard(path: str) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(path)  # noqa: PTH108 - as text


def _exists_elsewhere(away: str, change: Change) -> bool:
    """Say whether the content of a hidden file exists under another name, too."""
    if _is_one_file(away, change.path) or _is_one_file(away, change.other):
        return True
    return change.state is not None and has_state(away, change.state) and has_state(change.path, change.state)


def _is_one_file(path: str, other: str) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.lstat(other))
    except (FileNotFoundError, NotADirectoryError):
        return False


def _has_inode(path: str, identity: FileIdentity) -> bool:
    try:
        return FileIdentity.of(os.lstat(path)).inode == identity.inode
    except OSError:
        return False


def _check(path: str, identity: FileIdentity) -> None:
    info = os.lstat(path)
    if FileIdentity.of(info) != identity or not stat.S_ISREG(info.st_mode):
        raise LeftAloneError("it has changed just now")


def _copy(source: str, to: str, state: FileState, token: str, mode: int | None) -> str:
    """Make a complete and durable copy beside a path, and return its hidden name."""
    scratch = _hidden(to, token, "tmp")
    try:
        with open(scratch, "xb") as file, open_file(source) as handle:  # noqa: PTH123 - as text
            if read_hash(handle, file.write) != state.hash:
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
