"""`simdoc-search check`: finds damage to a local store, or problems with an engine's index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from simdoc_search.cli.common import document_progress, json_option, print_json, say
from simdoc_search.cli.help_layout import Command
from simdoc_search.cli.index_location_options import engine_option, field_option
from simdoc_search.display import DEFAULT_STORE, format_count

if TYPE_CHECKING:
    from simdoc_search.stores.location import EngineKind


@click.command(cls=Command)
@click.argument("store", metavar="[PATH|URL]", default=DEFAULT_STORE, envvar="SIMDOC_STORE")
@field_option
@engine_option
@json_option
def check(store: str, field: str | None, engine: EngineKind | None, as_json: bool) -> None:
    """Check a local index for damage, or an engine's index for problems.

    For a local index, the command verifies the checksum of every file. Other programs can keep writing to the index.
    For an engine's index, it checks the mapping and prints how to fix it. If there is a problem, the exit status is 1.
    One stale fingerprint is a problem. In a cron job, use `status --max-stale`, which accepts a few.

    \b
      simdoc-search check                    check the index ./.simdoc
      simdoc-search check http://localhost:9200/articles
    """
    from simdoc_search.stores.location import parse_location

    location = parse_location(store)
    if isinstance(location, Path):
        has_problems = _check_store(location, as_json)
    else:
        has_problems = _check_index(location, field, engine, as_json)
    if has_problems:
        raise SystemExit(1)


def _check_store(folder: Path, as_json: bool) -> bool:
    from simdoc_search.stores.local.integrity import find_damage
    from simdoc_search.stores.local.segments import read_commit
    from simdoc_search.stores.local.settings_file import INDEX_FOLDER

    with document_progress(hidden=as_json, counts_bytes=True) as update:
        damages = list(find_damage(folder, lambda done, total: update(completed=done, total=total)))
    documents = 0 if damages else read_commit(folder / INDEX_FOLDER).live_document_count
    if as_json:
        findings = [{"file": damage.file, "problem": damage.problem} for damage in damages]
        print_json({"store": str(folder), "ok": not damages, "document_count": documents, "findings": findings})
        return bool(damages)
    for damage in damages:
        say(f"problem: {damage.file}: {damage.problem}")
    if not damages:
        say(f"{folder} is not damaged; it contains {format_count(documents, 'document')}")
    return bool(damages)


def _check_index(url: str, field: str | None, engine: EngineKind | None, as_json: bool) -> bool:
    from simdoc_search.attach.check import check_index
    from simdoc_search.stores.remote.connection import connect

    client, index = connect(url, engine=engine)
    findings = check_index(client, index, field)
    has_problems = any(finding.is_problem for finding in findings)
    if as_json:
        rows = [
            {"index": finding.index, "is_problem": finding.is_problem, "problem": finding.message}
            for finding in findings
        ]
        print_json({"url": f"{client.name}/{index}", "ok": not has_problems, "findings": rows})
        return has_problems
    indices: dict[tuple[bool, str], list[str]] = {}
    for finding in findings:
        indices.setdefault((finding.is_problem, finding.message), []).append(finding.index)
    for (is_problem, message), names in indices.items():
        say(f"{'problem' if is_problem else 'note'}: {', '.join(names)}: {message}")
    if has_problems:
        count = sum(is_problem for is_problem, _ in indices)
        problems = format_count(count, "problem that affects", "problems that affect")
        say(f"{index} has {problems} FINGERPRINT queries (see above)")
    else:
        say(f"{index} is ready for FINGERPRINT queries")
    return has_problems
