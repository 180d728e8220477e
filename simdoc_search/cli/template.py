"""`simdoc-search template`: the mapping of our field, for an index of one's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from simdoc_search.cli.common import engine_option, errors_as_sentences, json_option, print_json, say
from simdoc_search.cli.passage_options import passages_of, with_passage_options
from simdoc_search.cli.sketch_options import with_kinds, with_option
from simdoc_search.cli.template_search import (
    say_search_installed,
    search_as_json,
    search_installed,
    with_search_option,
)

if TYPE_CHECKING:
    from simdoc_search.sketch.kinds import KindName
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores.location import EngineKind

__all__ = ["template"]

_OURS = "simdoc"

Command = TypeVar("Command", bound=Callable[..., Any])


def _pipeline_options(command: Command) -> Command:
    """`--pipeline`, and which fields are meant."""
    pipeline = click.option(
        "--pipeline", is_flag=True, help="The ingest pipeline by which the engine itself makes fingerprints."
    )
    field = click.option(
        "--field",
        metavar="FIELD",
        help="With --pipeline: where the text is, such as body or title,body.  [default: body]  Else as --into.",
    )
    into = click.option(
        "--into", metavar="FIELD", help="The object field that has the fingerprints.  [default: simdoc]"
    )
    return pipeline(field(into(command)))


@click.group()
def template() -> None:
    """The field's mapping as a component template, for an index template of your own; and the pipeline that fills it.

    \b
      simdoc-search template show
      simdoc-search template install http://localhost:9200
      simdoc-search template install http://localhost:9200 --pipeline --field title,body --index articles
    """


@template.command()
@_pipeline_options
@click.option(
    "--min-hash",
    metavar="TEXT_FIELD",
    help="Print instead the body of an index whose engine fills TEXT_FIELD.min_hash itself.",
)
@with_search_option
@with_passage_options
@with_option("With what finds versions of a document, or related documents, too.")
@json_option
@errors_as_sentences
def show(
    pipeline: bool,
    field: str | None,
    into: str | None,
    min_hash: str | None,
    with_search: bool,
    no_passages: bool,
    passage_run: int | None,
    kinds: tuple[KindName, ...],
    as_json: bool,  # noqa: ARG001 - it is JSON in either case
) -> None:
    """Print the body for PUT _component_template/simdoc, or with --pipeline for PUT _ingest/pipeline/simdoc.

    \b
      simdoc-search template show > simdoc.component.json
      simdoc-search template show --pipeline --field title,body > simdoc.pipeline.json
      simdoc-search template show --min-hash body > index.json
      simdoc-search template show --search    # instead the bodies for PUT _scripts/NAME, by name
    """
    from simdoc_search.attach.min_hash import min_hash_index
    from simdoc_search.attach.pipeline import pipeline_body
    from simdoc_search.stores.remote.index_body import component_template

    settings = _settings(no_passages, passage_run, kinds)
    texts, ours = _fields(pipeline, field, into)
    if with_search and (pipeline or min_hash):
        raise click.UsageError("--search prints the search templates; print the other one apart")
    if pipeline and min_hash:
        raise click.UsageError("--pipeline and --min-hash fill fields in different ways; leave one out")
    if with_search:
        print_json(search_as_json(ours))
    elif pipeline:
        print_json(pipeline_body(settings, texts, ours), in_ascii=True)  # its tables have all letters there are
    else:
        print_json(min_hash_index(min_hash) if min_hash else component_template(settings, ours))


@template.command()
@click.argument("url")
@_pipeline_options
@click.option("--index", metavar="NAME", help="With --pipeline: an index that uses it from now on, for each write.")
@click.option("--name", metavar="NAME", help="With --pipeline: what it is called there.  [default: simdoc]")
@click.option("--force", is_flag=True, help="Replace what is there and differs.")
@with_search_option
@with_passage_options
@with_option("With what finds versions of a document, or related documents, too.")
@engine_option
@json_option
@errors_as_sentences
def install(
    url: str,
    pipeline: bool,
    field: str | None,
    into: str | None,
    index: str | None,
    name: str | None,
    force: bool,
    with_search: bool,
    no_passages: bool,
    passage_run: int | None,
    kinds: tuple[KindName, ...],
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Put the component template into the engine, with --pipeline the pipeline too; nothing else is changed.

    With --index that index gets our field, and from then on the engine fingerprints each document that is written.

    \b
      simdoc-search template install http://localhost:9200
      simdoc-search template install http://localhost:9200 --search    # the search templates too
      simdoc-search template install http://localhost:9200 --pipeline --field body --index articles
    """
    from simdoc_search.attach.pipeline import PIPELINE, install_pipeline, settings_of_index, use_pipeline
    from simdoc_search.attach.templates import COMPONENT, install_component
    from simdoc_search.stores.remote.connecting import connect

    texts, ours = _fields(pipeline, field, into)
    if not pipeline and (index or name):
        raise click.UsageError("--index and --name are about the pipeline; add --pipeline")
    settings = _settings(no_passages, passage_run, kinds)
    asked, _ = connect(url, engine=engine, index=False)
    done: dict[str, Any] = {"component_template": COMPONENT}
    if pipeline:
        done["pipeline"] = name or PIPELINE
        there = settings_of_index(asked, index, texts, ours) if index else settings
        fresh = install_pipeline(asked, texts, ours, settings=there, name=done["pipeline"], force=force)
        done["pipeline_installed"] = fresh
    done["installed"] = install_component(asked, ours, settings=settings, force=force)
    if index:
        done["indices"] = use_pipeline(asked, index, texts, ours, name=done["pipeline"], force=force)
    if with_search:
        done |= search_installed(asked, ours, force=force)
    if as_json:
        print_json(done)
    else:
        _say_installed(done)


def _say_installed(done: dict[str, Any]) -> None:
    """What was done, and what is to be done by hand."""
    component, pipeline = done["component_template"], done.get("pipeline")
    say(f"the component template {component} {'is installed' if done['installed'] else 'was there already'}")
    if pipeline:
        say(f"the pipeline {pipeline} {'is installed' if done['pipeline_installed'] else 'was there already'}")
    for each in done.get("indices", ()):
        say(f"{each} uses it for each write; simdoc-search backfill does what is there already")
    if pipeline and "indices" not in done:
        settings = f'"settings": {{"index.final_pipeline": "{pipeline}"}}'
        say(f'add both to your index template:  "composed_of": ["{component}"], "template": {{{settings}}}')
    if not pipeline:
        say(f'add it to your index template:  "composed_of": ["{component}"]')
    say_search_installed(done)


def _fields(pipeline: bool, field: str | None, into: str | None) -> tuple[list[str], str]:
    """Where the text is, and where the fingerprints are."""
    if pipeline:
        return [each.strip() for each in (field or "body").split(",")], into or _OURS
    if field and into and field != into:
        raise click.UsageError("without --pipeline, --field and --into mean the same; leave one out")
    return [], into or field or _OURS


def _settings(no_passages: bool, passage_run: int | None, kinds: tuple[KindName, ...]) -> Settings:
    """Those of fingerprints that backfill makes here: with the hash key of the environment, if there is one."""
    from simdoc_search.sketch.key import key_from
    from simdoc_search.sketch.settings import Settings

    usual = with_kinds(Settings().with_key(key_from()), kinds)
    return replace(usual, passages=passages_of(no_passages, passage_run, usual.analysis.shingle_size))
