"""Would the nodes' disks pass a watermark, at which an engine stops placing shards, or takes no more writes?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from simdoc_search.backfill.patient import PatientEngine

__all__ = ["UNTOLD", "NodeDisk", "disks_after"]

UNTOLD = (400, 401, 403, 404, 405, 410)
"""What engines answer that have no such request, or do not let us."""

_SETTING = "cluster.routing.allocation.disk"
_WATERMARKS = ("flood_stage", "high", "low")
_UNITS = {"b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "tb": 1 << 40, "pb": 1 << 50}


@dataclass(frozen=True, slots=True)
class NodeDisk:
    """The disk of a node.

    Attributes:
        node: its name.
        total: bytes that it has.
        used: bytes that are used now.
        used_after: bytes that would be used.
        watermark: the highest one that would be passed, `full` if it would not fit at all; None: none.
    """

    node: str
    total: int
    used: int
    used_after: int
    watermark: str | None


def disks_after(engine: PatientEngine, added: Mapping[str, int]) -> list[NodeDisk] | None:
    """The disks that hold some indices, with so many bytes more in each; None if the engine does not tell."""
    nodes = engine.ask("GET", ["_nodes", "stats", "fs"], allow=UNTOLD)
    settings = engine.ask("GET", ["_cluster", "settings"], allow=UNTOLD, include_defaults=True, flat_settings=True)
    more: dict[str, float] = defaultdict(float)
    for index, count in added.items():
        stats = engine.ask("GET", [index, "_stats", "store"], allow=UNTOLD, level="shards")
        if stats is None:
            return None
        for node, share in _spread(stats["indices"].get(index, {}).get("shards", {})):
            more[node] += share * count
    if nodes is None or settings is None:
        return None
    flat = {key: value for scope in ("defaults", "persistent", "transient") for key, value in _scope(settings, scope)}
    return [_disk(each, more[id], flat) for id, each in nodes["nodes"].items() if id in more]


def _spread(shards: Mapping[str, list[Any]]) -> list[tuple[str, float]]:
    """The nodes of an index by their ids, and which part of it each has."""
    placed = [
        (each["routing"]["node"], each["store"]["size_in_bytes"]) for copies in shards.values() for each in copies
    ]
    whole = sum(size for _, size in placed)
    return [(node, size / whole if whole else 1 / len(placed)) for node, size in placed]


def _scope(settings: Mapping[str, Any], scope: str) -> Iterable[tuple[str, Any]]:
    return ((key, value) for key, value in settings.get(scope, {}).items() if key.startswith(_SETTING))


def _disk(node: Mapping[str, Any], more: float, settings: Mapping[str, Any]) -> NodeDisk:
    disk = node["fs"]["total"]
    total, used = int(disk["total_in_bytes"]), int(disk["total_in_bytes"] - disk["available_in_bytes"])
    after = used + round(more)
    passed = "full" if after >= total else None
    if not passed and str(settings.get(f"{_SETTING}.threshold_enabled", "true")) == "true":
        passed = next((each for each in _WATERMARKS if total - after < _least_free(each, settings, total)), None)
    return NodeDisk(str(node["name"]), total, used, after, passed)


def _least_free(watermark: str, settings: Mapping[str, Any], total: int) -> float:
    """The bytes that must be free for a disk to be under a watermark."""
    value = str(settings.get(f"{_SETTING}.watermark.{watermark}", ""))
    room = _bytes(str(settings.get(f"{_SETTING}.watermark.{watermark}.max_headroom", "")))
    if not (share := re.fullmatch(r"([\d.]+)(%?)", value)):
        return _bytes(value) or 0.0
    free = (1 - float(share[1]) / (100 if share[2] else 1)) * total
    return min(free, room) if room else free


def _bytes(text: str) -> float | None:
    """A size as engines write it, such as 20gb; None if it is none."""
    found = re.fullmatch(r"([\d.]+)([kmgtp]?b)", text.lower())
    return float(found[1]) * _UNITS[found[2]] if found else None
