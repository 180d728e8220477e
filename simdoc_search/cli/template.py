"""`simdoc-search template`: shows, installs and removes the mapping of fingerprints and the pipeline that fills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from simdoc_search.cli.common import (
    CommandInterruptedError,
    Decorator,
    add_options,
    document_progress,
    json_option,
    print_json,
)
from simdoc_search.cli.help_layout import CommandGroup
from simdoc_search.cli.index_location_options import engine_option
from simdoc_search.cli.settings_options import make_settings_changer, settings_options
from simdoc_search.cli.template_output import plan_as_json, print_plan, print_removal
from simdoc_search.stores.remote.schema import DEFAULT_FIELD

if TYPE_CHECKING:
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores.location import EngineKind


def _shared_options(verb: str, needed_options: str) -> Decorator:
    """Return a decorator that adds `--pipeline`, `--search` and the field options.

    Args:
        verb: the first word of the help.
        needed_options: the options that `--text-field` needs, for the help.
    """
    return add_options(
        click.option("--pipeline", is_flag=True,
                     help=f"{verb} the ingest pipeline. With it, the engine computes the fingerprints."),
        click.option("--text-field", "text_fields", multiple=True, metavar="FIELD",
                     help=f"With {needed_options}: the text field. If repeated, the fields are joined into one text.  "
                     "[default with --pipeline: body]"),
        click.option("--field", default=DEFAULT_FIELD, show_default=True, metavar="FIELD",
                     help="Object field for the fingerprints."),
        click.option("--search", "with_search", is_flag=True,
                     help=f"{verb} search templates. With them, an application in any language can query the engine."),
    )  # fmt: skip


@click.group(cls=CommandGroup)
def template() -> None:
    """Show, install or remove the component template and the pipeline.

    The component template contains the mapping of the field with the fingerprints. The pipeline lets the engine fill
    this field whenever a document is written.

    \b
      simdoc-search template show
      simdoc-search template install http://localhost:9200 --pipeline
      simdoc-search template remove http://localhost:9200 --index articles
    """


@template.command(main_options=["--pipeline", "--text-field", "--search"])
@_shared_options("Print", "--pipeline")
@click.option(
    "--min-hash",
    metavar="TEXT_FIELD",
    help="Print the body of a request that creates an index. In this index, the engine's min_hash filter fills "
    "TEXT_FIELD.fingerprint.",
)
@click.option("--bucket-count", type=click.IntRange(1, 10_000),
              help="With --min-hash: number of buckets of the filter.  [default: 512]")  # fmt: skip
@settings_options
@json_option
def show(
    pipeline: bool,
    text_fields: tuple[str, ...],
    field: str,
    min_hash: str | None,
    bucket_count: int | None,
    with_search: bool,
    as_json: bool,  # noqa: ARG001 - the output of this command is always JSON
    **options: Any,
) -> None:
    """Print the body of a component template or pipeline.

    By default, the command prints the body for PUT _component_template/simdoc. With --pipeline, it prints the body for
    PUT _ingest/pipeline/simdoc. With --search, it prints an object that maps each NAME to the body for PUT
    _scripts/NAME. With --min-hash, it prints the body for PUT INDEX. You can query this index with
    `similar --field TEXT_FIELD.fingerprint`.

    The hits of simdoc-similar can be far below the parameter `overlap`. Also give `buckets`, the number of tokens of
    the query document.

    \b
      simdoc-search template show > simdoc.component.json
      simdoc-search template show --pipeline > simdoc.pipeline.json
      simdoc-search template show --search > search_templates.json
      simdoc-search template show --min-hash body > index.json
    """
    from simdoc_search.attach.min_hash import build_min_hash_index
    from simdoc_search.attach.pipeline import build_pipeline_body
    from simdoc_search.attach.search_templates import build_search_templates
    from simdoc_search.sketch.minhash import MinHash
    from simdoc_search.stores.remote.schema import component_template

    if sum((pipeline, with_search, min_hash is not None)) > 1:
        raise click.UsageError("--pipeline, --search and --min-hash cannot be combined; give only one of them")
    if bucket_count and not min_hash:
        raise click.UsageError("--bucket-count needs --min-hash; add --min-hash")
    settings = _settings(options)
    if text_fields and not pipeline:
        raise click.UsageError("--text-field needs --pipeline; add --pipeline")
    if min_hash:
        print_json(build_min_hash_index(min_hash, MinHash(bucket_count=bucket_count or 512, with_rotation=True)))
    elif with_search:
        print_json(build_search_templates(field))
    elif pipeline:
        # The pipeline's script has parameters with non-ASCII characters, which are printed as JSON escapes.
        print_json(build_pipeline_body(settings, list(text_fields) or ["body"], field), ascii_only=True)
    else:
        print_json(component_template(settings, field))


@template.command(main_options=["--pipeline", "--text-field", "--search", "--index", "--dry-run"])
@click.argument("url")
@_shared_options("Also install", "--pipeline or --index-template")
@click.option(
    "--index", metavar="NAME", help="With --pipeline: an existing index that will use the pipeline for every write."
)
@click.option("--index-template", metavar="NAME",
              help="Add the component template to your index template NAME. With --pipeline, add the pipeline "
              "too.")  # fmt: skip
@click.option("--name", metavar="NAME", help="With --pipeline: name of the pipeline.  [default: simdoc]")
@click.option("--dry-run", is_flag=True, help="Check everything and print what would be changed, but change nothing.")
@click.option("--force", is_flag=True, help="Replace an installed template or pipeline that is different.")
@settings_options
@engine_option
@json_option
def install(
    url: str,
    pipeline: bool,
    text_fields: tuple[str, ...],
    field: str,
    index: str | None,
    index_template: str | None,
    name: str | None,
    dry_run: bool,
    force: bool,
    with_search: bool,
    engine: EngineKind | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Install the component template in an engine.

    With --pipeline, the command also installs the pipeline. With --index-template, it adds the component template (and
    the pipeline) to your index template. New indices then use them, for example after a rollover. With --index, the
    field is added to an existing index, and the engine fingerprints each document that you write from then on. The
    command checks everything first. If a check fails, it changes nothing.

    \b
      simdoc-search template install http://localhost:9200
      simdoc-search template install http://localhost:9200 --search
      simdoc-search template install http://localhost:9200 --pipeline
      simdoc-search template install http://localhost:9200 --pipeline --text-field body --index-template articles
    """
    from simdoc_search.attach.installation import InstallRequest, plan_installation
    from simdoc_search.stores.remote.connection import connect
    from simdoc_search.stores.remote.pipelines import DEFAULT_PIPELINE

    if not pipeline and (index or name):
        raise click.UsageError("--index and --name need --pipeline; add --pipeline")
    if text_fields and not (pipeline or index_template):
        raise click.UsageError("--text-field needs --pipeline or --index-template; add one of these options")
    request = InstallRequest(
        field,
        _settings(options),
        make_settings_changer(options),
        (name or DEFAULT_PIPELINE) if pipeline else "",
        list(text_fields) or (["body"] if pipeline else []),
        index or "",
        index_template or "",
        with_search,
        force,
    )
    client, _ = connect(url, engine=engine, expects_index=False)
    plan = plan_installation(client, request)
    if not dry_run:
        plan.run()
    if as_json:
        print_json(plan_as_json(plan, dry_run=dry_run))
    else:
        print_plan(plan, dry_run=dry_run)


@template.command(main_options=["--index", "--dry-run"])
@click.argument("url")
@click.option(
    "--index", default="", metavar="NAME", help="Remove the fingerprints from this index, alias or data stream."
)
@click.option("--field", default=DEFAULT_FIELD, show_default=True, metavar="FIELD",
              help="Object field of the fingerprints.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Print what would be changed, but change nothing.")
@engine_option
@json_option
def remove(url: str, index: str, field: str, dry_run: bool, engine: EngineKind | None, as_json: bool) -> None:
    """Remove the fingerprints of an index, and what `template install` has installed.

    With --index, writes to the index no longer compute fingerprints, and the field is removed from its documents. The
    index templates that match the index lose the field and the pipeline. Then the pipeline, the search templates, the
    component template and the watches are deleted, unless another index or index template uses them. The engine keeps
    the empty field in the mapping of the index.

    \b
      simdoc-search template remove http://localhost:9200 --index articles --dry-run
      simdoc-search template remove http://localhost:9200 --index articles

    Before you run this command, remove our code from your loader. If the command is interrupted, run it again.
    """
    from simdoc_search.attach.removal import plan_removal
    from simdoc_search.stores.remote.connection import connect

    changes = "nothing was changed"
    try:
        client, _ = connect(url, engine=engine, expects_index=False)
        plan = plan_removal(client, index, field)
        if not dry_run:
            changes = "some changes may already be made. Run the same command again to make the others"
            with document_progress(hidden=as_json) as update:
                plan.run(lambda count: update(completed=count))
    except KeyboardInterrupt:
        raise CommandInterruptedError(f"interrupted; {changes}") from None
    if as_json:
        print_json({"changes": plan.changes, "warnings": plan.warnings, "dry_run": dry_run})
    else:
        print_removal(plan, dry_run=dry_run)


def _settings(options: dict[str, Any]) -> Settings:
    """Return the settings that the options set, with the hash key from the environment."""
    from simdoc_search.sketch.key import resolve_hash_key
    from simdoc_search.sketch.settings import Settings

    return make_settings_changer(options)(Settings().with_key(resolve_hash_key()))
