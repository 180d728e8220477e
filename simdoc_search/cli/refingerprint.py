"""`simdoc-search refingerprint`: other settings for the fingerprints of an index that is in use."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.backfill import exit_if_failed, rate_option, show_report
from simdoc_search.cli.common import (
    Interrupted,
    document_progress,
    engine_option,
    errors_as_sentences,
    json_option,
    print_json,
    say,
    text_field_option,
)
from simdoc_search.cli.passage_options import passages_of, with_passage_options
from simdoc_search.cli.sketch_options import (
    analysis_options,
    sketch_named,
    sketch_option,
    with_sketch,
    word_options,
    words_asked,
)
from simdoc_search.display import counted
from simdoc_search.errors import StoreError

if TYPE_CHECKING:
    from simdoc_search.attach.refingerprint import Change
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores.location import EngineKind
    from simdoc_search.stores.remote.engine import Engine
    from simdoc_search.stores.remote.watches import Watch

_SHOWN = 20
"""Ids of watches in one command."""


@click.command()
@click.argument("url")
@analysis_options
@word_options
@sketch_option
@with_passage_options
@text_field_option
@rate_option
@click.option("--no-switch", is_flag=True, help="Only give documents the other field; queries go on asking the first.")
@click.option("--remove-others", is_flag=True, help="Instead: remove the fields that no query asks any more.")
@engine_option
@json_option
@errors_as_sentences
def refingerprint(
    url: str,
    text_fields: tuple[str, ...],
    throttle: float | None,
    no_switch: bool,
    remove_others: bool,
    engine: EngineKind | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Change the settings of an index while its application writes and asks.

    Documents get a second field with fingerprints of the new settings (simdoc_2 beside simdoc). Once all have it, the
    index names it as the one that queries ask: stores that are opened then do so, and those that are open go on with
    the first. Run it again to go on. From then on a loader has to write the new field; then remove the first one.

    \b
      simdoc-search refingerprint http://localhost:9200/articles --shingle-size 4
      simdoc-search refingerprint http://localhost:9200/articles --remove-others
    """
    from simdoc_search.attach.refingerprint import change_of
    from simdoc_search.stores.remote.connection import connect

    if remove_others and (no_switch or text_fields or any(asked.values())):
        raise click.UsageError("--remove-others is a step of its own; leave out the other options")
    opened, index = connect(url, engine=engine)
    if remove_others:
        _remove(opened, index, throttle, as_json)
    else:
        change = change_of(opened, index, _changed(asked), text_fields)
        _run(opened, change, throttle, as_json, switching=not no_switch)


def _changed(asked: dict[str, Any]) -> Callable[[Settings], Settings]:
    """From the settings of an index to those that the options ask for."""
    words = words_asked(asked.pop("stop_words"), asked.pop("stem"), asked.pop("frequencies"))
    sketch, no_passages, run = asked.pop("sketch"), asked.pop("no_passages"), asked.pop("passage_run")
    chosen = {name: value for name, value in (asked | words).items() if value is not None}

    def changed(settings: Settings) -> Settings:
        found = replace(settings, analysis=replace(settings.analysis, **chosen))
        if sketch:
            found = with_sketch(found, sketch_named(sketch))
        if no_passages or run is not None:
            found = replace(found, passages=passages_of(no_passages, run, found.analysis.shingle_size))
        return found

    return changed


def _run(engine: Engine, change: Change, throttle: float | None, as_json: bool, *, switching: bool) -> None:
    from simdoc_search.attach.refingerprint import fill, switch

    switched = False
    if not as_json:
        _say_first(engine, change)
    try:
        with document_progress(hidden=as_json, of_total=True) as update:

            def progress(done: int, total: int) -> None:
                update(completed=done, total=max(done, total))

            report = fill(engine, change, throttle=throttle, progress=progress)
            if switching and not (report.refused or report.skipped_indices):
                later = switch(engine, change, throttle=throttle, progress=progress)
                report.add(replace(later, unchanged=0, without_text=0))  # which the first reading counted
                report.seconds += later.seconds
                switched = True
    except KeyboardInterrupt:
        raise Interrupted("interrupted; what was sent is done, run the same command to go on") from None
    if as_json:
        watched = [each.place.id for each in _watched(engine, change)]
        done = {"field": change.new, "before": change.old, "switched": switched, "watches_of_before": watched}
        print_json({**done, **asdict(report)})
    else:
        show_report(report)
        failed = bool(report.refused or report.skipped_indices)
        _say_next(engine, change, switched=switched, failed=failed)
    exit_if_failed(report)


def _say_first(engine: Engine, change: Change) -> None:
    if change.taken:
        say(f"documents get {change.new}, as {', '.join(change.taken)} is a field of something else")
    if watched := _watched(engine, change):
        from simdoc_search.stores.remote.mappings import list_some

        ids = list_some(dict.fromkeys(each.place.id for each in watched))
        say(f"watches of these settings find no copy after the switch, and are to be set anew then: {ids}")


def _say_who_asks(engine: Engine, change: Change, url: str) -> None:
    """What goes on asking the field of before, and how that is changed."""
    from simdoc_search.attach.search_templates import ask_field

    by_overlap: dict[Fraction, list[str]] = {}
    for each in _watched(engine, change):
        by_overlap.setdefault(each.overlap, []).append(each.place.id)
    for overlap, ids in by_overlap.items():
        shown = " ".join(map(shlex.quote, ids[:_SHOWN])) + (" ..." if len(ids) > _SHOWN else "")
        say(f"watches are of {change.old}; set them anew, with the texts of today:")
        say(f"  simdoc-search watch {shown} --overlap {float(100 * overlap):g} --store {url}")
    with suppress(StoreError):  # who may not look has asked for none
        if ask_field(engine, change.old):
            say(f'the stored search templates ask {change.old}; from now on give them "field": "{change.new}"')


def _watched(engine: Engine, change: Change) -> list[Watch]:
    from simdoc_search.attach.refingerprint import watched_before

    try:
        return watched_before(engine, change)
    except StoreError as error:
        say(f"note: nobody knows whether documents are watched: {error}", err=True)
        return []


def _say_next(engine: Engine, change: Change, *, switched: bool, failed: bool) -> None:
    url = f"{engine.name}/{change.index}"
    if failed and not switched:
        say(f"queries still ask {change.old}, as not all have {change.new}; mend what is named above, and run it again")
    elif not switched:
        say(f"queries still ask {change.old}; the same command without --no-switch lets them ask {change.new}")
    else:
        say(f"queries ask {change.new}; who writes documents must give them this field from now on")
        _say_who_asks(engine, change, url)
        say(f"once no store is open that asks {change.old}:  simdoc-search refingerprint {url} --remove-others")


def _remove(engine: Engine, index: str, throttle: float | None, as_json: bool) -> None:
    from simdoc_search.attach.refingerprint import remove_others

    try:
        with document_progress(hidden=as_json) as update:
            removed = remove_others(engine, index, throttle=throttle, progress=lambda done: update(completed=done))
    except KeyboardInterrupt:
        raise Interrupted("interrupted; what was removed is gone, run the same command to go on") from None
    if as_json:
        print_json({"removed": removed.documents, "pipelines": removed.pipelines, "idle_pipelines": removed.idle})
        return
    for field, count in removed.documents.items():
        say(f"{field} removed from {counted(count, 'document')}")
    if not removed.documents:
        say("there is no other field")
    for each in removed.pipelines:
        say(f"the pipeline {each} removed, as no index uses it any more")
    for each in removed.idle:
        say(f"no index uses the pipeline {each} any more; it may go:  DELETE _ingest/pipeline/{each}")
