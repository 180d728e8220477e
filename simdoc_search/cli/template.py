"""`simdoc-search template`: the mapping of our field, for an index of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from simdoc_search.cli.common import engine_option, errors_as_sentences, json_option, print_json
from simdoc_search.cli.min_hash_options import min_hash_body, min_hash_options
from simdoc_search.cli.settings_options import settings_change, settings_options
from simdoc_search.cli.template_plan import plan_as_json, say_plan
from simdoc_search.cli.template_search import search_as_json, with_search_option
from simdoc_search.stores.remote.schema import DEFAULT_FIELD

if TYPE_CHECKING:
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores.location import EngineKind

Command = TypeVar("Command", bound=Callable[..., Any])


def _pipeline_options(command: Command) -> Command:
    """`--pipeline`, and which fields are meant."""
    pipeline = click.option(
        "--pipeline", is_flag=True, help="The ingest pipeline by which the engine itself makes fingerprints."
    )
    text_field = click.option(
        "--text-field",
        "text_fields",
        multiple=True,
        metavar="FIELD",
        help="With --pipeline or --index-template: the field of the text; if repeated, they are one text.  "
        "[default with --pipeline: body]",
    )
    field = click.option(
        "--field",
        default=DEFAULT_FIELD,
        show_default=True,
        metavar="FIELD",
        help="The object field of the fingerprints.",
    )
    return pipeline(text_field(field(command)))


@click.group()
def template() -> None:
    """The field's mapping as a component template, for an index template of your own; and the pipeline that fills it.

    \b
      simdoc-search template show
      simdoc-search template install http://localhost:9200
      simdoc-search template install http://localhost:9200 --pipeline --text-field body --index articles
    """


@template.command()
@_pipeline_options
@min_hash_options
@with_search_option
@settings_options
@json_option
@errors_as_sentences
def show(
    pipeline: bool,
    text_fields: tuple[str, ...],
    field: str,
    min_hash: str | None,
    hash_count: int | None,
    bucket_count: int | None,
    hash_set_size: int | None,
    with_rotation: bool | None,
    with_search: bool,
    as_json: bool,  # noqa: ARG001 - it is JSON in either case
    **options: Any,
) -> None:
    """Print the body for PUT _component_template/simdoc, or with --pipeline for PUT _ingest/pipeline/simdoc.

    \b
      simdoc-search template show > simdoc.component.json
      simdoc-search template show --pipeline --text-field title --text-field body > simdoc.pipeline.json
      simdoc-search template show --min-hash body > index.json    # then similar --field body.fingerprint
      simdoc-search template show --search    # instead the bodies for PUT _scripts/NAME, by name
    """
    from simdoc_search.attach.pipeline import pipeline_body
    from simdoc_search.stores.remote.schema import component_template

    settings = _settings(options)
    texts = _text_fields(pipeline, text_fields)
    filled = min_hash_body(min_hash, hash_count, bucket_count, hash_set_size, with_rotation)
    if with_search and (pipeline or min_hash):
        raise click.UsageError("--search prints the search templates; print the other one apart")
    if pipeline and min_hash:
        raise click.UsageError("--pipeline and --min-hash fill fields in different ways; leave one out")
    if with_search:
        print_json(search_as_json(field))
    elif pipeline:
        print_json(pipeline_body(settings, texts, field), in_ascii=True)  # its tables have all letters there are
    else:
        print_json(filled or component_template(settings, field))


@template.command()
@click.argument("url")
@_pipeline_options
@click.option("--index", metavar="NAME", help="With --pipeline: an index that uses it from now on, for each write.")
@click.option(
    "--index-template",
    metavar="NAME",
    help="Your index template: it gets the component, with --pipeline the pipeline too, for all indices to come.",
)
@click.option(
    "--index-pattern",
    "index_patterns",
    multiple=True,
    metavar="PATTERN",
    help="Make the index template, for indices of such names, where there is none; repeatable.",
)
@click.option("--name", metavar="NAME", help="With --pipeline: what it is called there.  [default: simdoc]")
@click.option("--dry-run", is_flag=True, help="Check everything and print what would be changed.")
@click.option("--force", is_flag=True, help="Replace what is there and differs.")
@with_search_option
@settings_options
@engine_option
@json_option
@errors_as_sentences
def install(
    url: str,
    pipeline: bool,
    text_fields: tuple[str, ...],
    field: str,
    index: str | None,
    index_template: str | None,
    index_patterns: tuple[str, ...],
    name: str | None,
    dry_run: bool,
    force: bool,
    with_search: bool,
    engine: EngineKind | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Put the component template into the engine, with --pipeline the pipeline too; nothing else is changed.

    With --index-template all indices to come have both, as after a rollover. With --index an index that is there
    already gets our field, and from then on the engine fingerprints each document that is written. Everything is
    checked first: if something is refused, nothing was changed.

    \b
      simdoc-search template install http://localhost:9200
      simdoc-search template install http://localhost:9200 --search    # the search templates too
      simdoc-search template install http://localhost:9200 --pipeline --text-field body --index articles
      simdoc-search template install http://localhost:9200 --pipeline --text-field body --index-template articles
    """
    from simdoc_search.attach.installation import Installation, plan_installation
    from simdoc_search.attach.pipeline import PIPELINE
    from simdoc_search.stores.remote.connection import connect

    if not pipeline and (index or name):
        raise click.UsageError("--index and --name are about the pipeline; add --pipeline")
    if index_patterns and not index_template:
        raise click.UsageError("--index-pattern is for an index template that is not there yet; add --index-template")
    wanted = Installation(
        field,
        _settings(options),
        (name or PIPELINE) if pipeline else "",
        _text_fields(pipeline, text_fields, noted=bool(index_template)),
        index or "",
        index_template or "",
        index_patterns,
        with_search,
        force,
    )
    asked, _ = connect(url, engine=engine, index=False)
    plan = plan_installation(asked, wanted)
    if not dry_run:
        plan.run()
    if as_json:
        print_json(plan_as_json(plan, dry_run=dry_run))
    else:
        say_plan(plan, dry_run=dry_run)


def _text_fields(pipeline: bool, text_fields: tuple[str, ...], *, noted: bool = False) -> list[str]:
    if text_fields and not (pipeline or noted):
        raise click.UsageError("--text-field is about the pipeline; add --pipeline")
    return list(text_fields) or (["body"] if pipeline else [])


def _settings(options: dict[str, Any]) -> Settings:
    """The settings that the options ask for, with the hash key of the environment."""
    from simdoc_search.sketch.key import key_from
    from simdoc_search.sketch.settings import Settings

    return settings_change(options)(Settings().with_key(key_from()))
