"""What was about to be done, on disk before it is: the undo file of a plan, a line of JSON for each act.

A line says what is about to be done, never that it is done: that is seen from the files. So a process that is killed
leaves nothing to mend, and who acts twice writes the same line twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from simdoc_search.duplicates.plan.rows import FileState, How, PlanError
from simdoc_search.stores.local.durable import MAKE_ROOM, is_full, sync_folder

__all__ = ["Act", "Journal"]

_HEAD = {"simdoc-search": "undo file of a plan", "version": 1}


@dataclass(frozen=True, slots=True)
class Act:
    """Something that is about to be done.

    Attributes:
        how: what is done to a file; `remove`: a document without a file leaves its store; `undone`: the one before of
            this path is.
        path: the file; of such a document its name.
        other: where it is moved to; or what stays for it, a path or the name of a document.
        state: what the file is before; None for a document.
        mode: the permissions of the file before.
    """

    how: How | Literal["remove", "undone"]
    path: str
    other: str
    state: FileState | None = None
    mode: int = 0o600


class Journal:
    """An undo file.

    Args:
        path: where it lies; it need not be there.

    Attributes:
        path: the same.
        acts: what it says, the last of each path.

    Raises:
        PlanError: it cannot be read, or is no undo file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.acts: dict[str, Act] = {}
        self._whole = 0  # bytes of lines that are whole; a process was killed while it wrote what follows
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise PlanError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
        self._whole = data.rfind(b"\n") + 1
        try:
            lines = [json.loads(each) for each in data[: self._whole].splitlines()]
            if lines and lines[0] != _HEAD:
                raise ValueError("another beginning")
            self._take(map(_act, lines[1:]))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise PlanError(f"{path} is no undo file of a plan, or was changed; name another one") from None
        if not lines and data and not json.dumps(_HEAD).encode().startswith(data):
            raise PlanError(f"{path} is no undo file of a plan; name another one")

    def note(self, *acts: Act) -> None:
        """Write down what is about to be done; it is on disk when this returns.

        Raises:
            PlanError: that is not possible, so nothing may be done.
        """
        try:
            self._write(acts)
        except OSError as error:
            advice = f"; {MAKE_ROOM}" if is_full(error) else ""
            raise PlanError(
                f"{self.path} cannot be written, so no more is done: {(error.strerror or str(error)).lower()}{advice}"
            ) from None
        self._take(acts)

    def _take(self, acts: Iterable[Act]) -> None:
        """The last act of a path counts, also in their order."""
        for each in acts:
            self.acts.pop(each.path, None)
            if each.how != "undone":
                self.acts[each.path] = each

    def note_undone(self, act: Act) -> None:
        """Write down that an act was undone; a second undoing leaves it out.

        Raises:
            PlanError: that is not possible.
        """
        self.note(replace(act, how="undone"))

    def _write(self, acts: tuple[Act, ...]) -> None:
        new = not self._whole
        lines = [_HEAD] * new + [_plain(each) for each in acts]
        data = "".join(json.dumps(each) + "\n" for each in lines).encode()  # ASCII, so any name can be written
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(handle, "r+b") as file:
            file.truncate(self._whole)
            file.seek(self._whole)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self._whole += len(data)
        if new:
            sync_folder(self.path.parent)


def _plain(act: Act) -> dict[str, Any]:
    state = act.state and [act.state.size, act.state.mtime_ns, act.state.hash]
    return {"act": act.how, "path": act.path, "other": act.other, "state": state, "mode": act.mode}


def _act(line: dict[str, Any]) -> Act:
    if line["act"] not in {"move", "delete", "hardlink", "remove", "undone"}:
        raise ValueError(line["act"])
    return Act(
        line["act"], str(line["path"]), str(line["other"]), FileState(*line["state"]) if line["state"] else None,
        int(line["mode"]),
    )  # fmt: skip
