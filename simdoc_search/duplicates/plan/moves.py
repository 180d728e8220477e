"""Moves, deletes and links files. No content is lost if a process is killed, or if other processes use the same files.

**Other processes.** Each of two runs may try to remove the file that the other run keeps. So a file is removed in these
steps, which need no lock:

1. Open the kept file, keep it open, and read its content (`OpenKeptFile`).
2. Rename the other file, which is to be removed, to a hidden name in its folder. From now on, no other process finds
   it.
3. Check that the hidden file is the one that was to be removed. Check the kept file again: its path must still lead to
   the open file. If a check fails, restore the name of the hidden file.
4. Remove the hidden file.

If several runs do this at once, the last run to reach step 3 sees what all others did in step 2. So not all of them
reach step 4, and one copy remains. Step 3 also protects a file that a program has just replaced.

**Kills.** The undo file records each change before it begins, with the `run_id` of its run. Hidden names contain this
id. So a later run finds the hidden files (`recover`), and no two runs use the same hidden name.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from simdoc_search.duplicates.plan.files import FileIdentity, has_state, open_file, read_hash
from simdoc_search.duplicates.plan.journal import Change
from simdoc_search.duplicates.plan.rows import FileState, LeftAloneError
from simdoc_search.durable import sync_folder

_PERMISSIONS = 0o777
"""Permissions that a copy may have, without set-uid and set-gid bits, because another user may own the copy."""

CheckKept = Callable[[], object]
"""Raises LeftAloneError if the kept file has changed."""


def move(path: str, to: str, state: FileState, identity: FileIdentity, *, check_kept: CheckKept, run_id: str) -> None:
    """Move a file to a new path, which may be on another disk. The folder of the new path must exist.

    The file must have the content `state`, and the inode, size and modification time in `identity`. `check_kept` raises
    LeftAloneError if the kept file has changed.

    Raises:
        LeftAloneError: the new path already exists, or one of the files has changed.
        OSError: a file operation failed.
    """
    try:
        os.link(path, to)  # unlike a rename, this fails if the new path exists
    except FileExistsError:
        raise _exists_error(to) from None
    except OSError:  # the new path is on another disk, or the disk does not support hard links
        copy_to_new_path(path, to, state, run_id)
    sync_folder(Path(to).parent)
    try:
        delete(path, identity, check_kept=check_kept, run_id=run_id)
    except (OSError, LeftAloneError):
        if _has_inode(path, identity) or _has_inode(_hidden_path(path, run_id, "away"), identity):
            _discard(to)
        raise


def delete(path: str, identity: FileIdentity, *, check_kept: CheckKept, run_id: str) -> None:
    """Remove a file. Arguments and errors are those of `move`."""
    _remove_safely(path, identity, check_kept, run_id, os.unlink)


def replace_with_link(path: str, kept_path: str, identity: FileIdentity, *, check_kept: CheckKept, run_id: str) -> None:
    """Replace a file with a hard link to the kept file, which has equal bytes. Errors are those of `move`."""
    replacement = _hidden_path(path, run_id, "tmp")
    os.link(kept_path, replacement)  # from now on, the content remains even if the kept file is removed

    def check_link() -> None:
        check_kept()
        if not _is_same_file(kept_path, replacement):
            raise LeftAloneError("the kept file changed during this run", needs_new_plan=True)

    _replace(path, replacement, identity, check_link, run_id)


def replace_with_copy(path: str, state: FileState, identity: FileIdentity, run_id: str, mode: int) -> None:
    """Replace a hard link with an independent copy of the file. Errors are those of `move`."""
    _replace(path, _hidden_copy(path, path, state, run_id, mode), identity, lambda: None, run_id)


def copy_to_new_path(source: str, to: str, state: FileState, run_id: str, mode: int | None = None) -> None:
    """Copy a file to a new path. If `mode` is None, the copy gets all attributes of the source.

    Errors are those of `move`.
    """
    replacement = _hidden_copy(source, to, state, run_id, mode)
    try:
        _rename_without_overwriting(replacement, to)
    finally:
        _discard(replacement)
    sync_folder(Path(to).parent)


def recover(change: Change) -> None:
    """Clean up after a killed run: remove unfinished copies, and restore the name of a hidden file.

    Raises:
        LeftAloneError: another file now has the name. The message contains the path of the hidden file.
        OSError: a file operation failed.
    """
    for path in (change.path, change.target):
        _discard(_hidden_path(path, change.run_id, "tmp"))
        hidden = _hidden_path(path, change.run_id, "away")
        if os.path.lexists(hidden):
            if os.path.lexists(path) and _exists_elsewhere(hidden, change):
                os.unlink(hidden)  # noqa: PTH108 - paths are strings
            else:
                _restore_name(hidden, path)


def make_folders(folder: Path, record: Callable[[Sequence[Path]], object] = lambda _: None) -> None:
    """Make a folder and its parents, and wait until they are on disk.

    `record` is called with the missing folders before they are made. The outermost folder comes first.
    """
    missing = [parent for parent in (folder, *folder.parents) if not parent.is_dir()]
    if missing:
        record(missing[::-1])
    folder.mkdir(parents=True, exist_ok=True)
    for new_folder in missing:
        sync_folder(new_folder.parent)


def _replace(path: str, replacement: str, identity: FileIdentity, check_kept: CheckKept, run_id: str) -> None:
    """Replace a file with another file in the same folder."""

    def finish(hidden: str) -> None:
        _rename_without_overwriting(replacement, path)
        os.unlink(hidden)  # noqa: PTH108 - paths are strings

    try:
        _remove_safely(path, identity, check_kept, run_id, finish)
    finally:
        _discard(replacement)


def _remove_safely(
    path: str, identity: FileIdentity, check_kept: CheckKept, run_id: str, finish: Callable[[str], None]
) -> None:
    """Do steps 2 to 4: hide a file, check the kept file, and call `finish`. If a step fails, restore the name."""
    _require_same_file(path, identity)
    hidden = _hidden_path(path, run_id, "away")
    os.rename(path, hidden)  # noqa: PTH104 - paths are strings
    try:
        _require_same_file(hidden, identity)
        check_kept()
        finish(hidden)
    except BaseException:
        if os.path.lexists(hidden):
            _restore_name(hidden, path)
        raise
    sync_folder(Path(path).parent)


def _restore_name(hidden: str, path: str) -> None:
    try:
        _rename_without_overwriting(hidden, path)
    except LeftAloneError:
        raise LeftAloneError(f"another file is now at this path; the original file was renamed to {hidden}") from None
    sync_folder(Path(path).parent)


def _rename_without_overwriting(source: str, to: str) -> None:
    try:
        os.link(source, to)
    except FileExistsError:
        raise _exists_error(to) from None
    except OSError:  # the disk does not support hard links
        if os.path.lexists(to):
            raise _exists_error(to) from None
        os.rename(source, to)  # noqa: PTH104 - paths are strings
    else:
        os.unlink(source)  # noqa: PTH108 - paths are strings


def _exists_error(path: str) -> LeftAloneError:
    return LeftAloneError(f"{path} already exists")


def _hidden_path(path: str, run_id: str, suffix: str) -> str:
    """Return the path of a hidden file that a run uses in the folder of a path."""
    folder, name = os.path.split(path)
    digest = hashlib.blake2b(os.fsencode(name), digest_size=8).hexdigest()
    return os.path.join(folder, f".simdoc-{digest}-{run_id}.{suffix}")  # noqa: PTH118 - paths are strings


def _discard(path: str) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(path)  # noqa: PTH108 - paths are strings


def _exists_elsewhere(hidden: str, change: Change) -> bool:
    """Return whether the content of a hidden file also exists under another name."""
    if _is_same_file(hidden, change.path) or _is_same_file(hidden, change.target):
        return True
    return change.state is not None and has_state(hidden, change.state) and has_state(change.path, change.state)


def _is_same_file(path: str, other: str) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.lstat(other))
    except (FileNotFoundError, NotADirectoryError):
        return False


def _has_inode(path: str, identity: FileIdentity) -> bool:
    try:
        return FileIdentity.from_stat(os.lstat(path)).inode == identity.inode
    except OSError:
        return False


def _require_same_file(path: str, identity: FileIdentity) -> None:
    info = os.lstat(path)
    if FileIdentity.from_stat(info) != identity or not stat.S_ISREG(info.st_mode):
        raise LeftAloneError("the file changed during this run", needs_new_plan=True)


def _hidden_copy(source: str, to: str, state: FileState, run_id: str, mode: int | None) -> str:
    """Copy a file to a hidden path in the folder of `to`, and return the hidden path. The copy is synced to disk."""
    replacement = _hidden_path(to, run_id, "tmp")
    try:
        with open(replacement, "xb") as file, open_file(source) as descriptor:  # noqa: PTH123 - paths are strings
            if read_hash(descriptor, file.write) != state.hash:
                raise LeftAloneError("the file changed during this run", needs_new_plan=True)
            file.flush()
            if mode is None:
                shutil.copystat(source, replacement)
                mode = os.stat(replacement).st_mode  # noqa: PTH116 - paths are strings
            else:
                os.utime(replacement, ns=(state.mtime_ns, state.mtime_ns))
            os.chmod(replacement, mode & _PERMISSIONS)  # noqa: PTH101 - paths are strings
            os.fsync(file.fileno())
    except BaseException:
        _discard(replacement)
        raise
    return replacement
