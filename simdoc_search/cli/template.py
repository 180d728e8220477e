"""`simdoc-search template`: the mapping of our field, for an index of one's own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from simdoc_search.cli.common import engine_option, errors_as_sentences, json_option, print_json, say
from simdoc_search.cli.passage_options import passages_of, with_passage_options
from simdoc_search.cli.sketch_options import with_kinds, with_option

if TYPE_CHECKING:
    from simdoc_search.sketch.kinds import KindName
    from simdoc_search.sketch.settings import Settings
    from simdoc_search.stores.location import EngineKind

__all__ = ["template"]


@click.group()
def template() -> None:
    """The field's mapping as a component template, for an index template of your own.

    \b
      simdoc-search template show
      simdoc-search template install http://localhost:9200
    """


@template.command()
@click.option("--field", default="simdoc", show_default=True, help="The object field that has the fingerprints.")
@click.option(
    "--min-hash",
    metavar="TEXT_FIELD",
    help="Print instead the body of an index whose engine fills TEXT_FIELD.min_hash itself.",
)
@with_passage_options
@with_option("With what finds versions of a document, or documents on the same subject, too.")
@json_option
@errors_as_sentences
def show(
    field: str,
    min_hash: str | None,
    no_passages: bool,
    passage_run: int | None,
    kinds: tuple[KindName, ...],
    as_json: bool,  # noqa: ARG001 - it is JSON in either case
) -> None:
    """Print the body for PUT _component_template/simdoc.

    \b
      simdoc-search template show > simdoc.component.json
      simdoc-search template show --min-hash body > index.json
    """
    from simdoc_search.attach.min_hash import min_hash_index
    from simdoc_search.stores.remote.index_body import component_template

    settings = _settings(no_passages, passage_run, kinds)
    print_json(min_hash_index(min_hash) if min_hash else component_template(settings, field))


@template.command()
@click.argument("url")
@click.option("--field", default="simdoc", show_default=True, help="The object field that has the fingerprints.")
@click.option("--force", is_flag=True, help="Replace one that is there and differs.")
@with_passage_options
@with_option("With what finds versions of a document, or documents on the same subject, too.")
@engine_option
@json_option
@errors_as_sentences
def install(
    url: str,
    field: str,
    force: bool,
    no_passages: bool,
    passage_run: int | None,
    kinds: tuple[KindName, ...],
    engine: EngineKind | None,
    as_json: bool,
) -> None:
    """Put the component template into the engine; nothing else is changed.

    \b
      simdoc-search template install http://localhost:9200
    """
    from simdoc_search.attach.templates import COMPONENT, install_component
    from simdoc_search.stores.remote.connecting import connect

    settings = _settings(no_passages, passage_run, kinds)
    asked, _ = connect(url, engine=engine, index=False)
    changed = install_component(asked, field, settings=settings, force=force)
    if as_json:
        print_json({"component_template": COMPONENT, "installed": changed})
        return
    say(f"the component template {COMPONENT} {'is installed' if changed else 'was there already'}")
    say(f'add it to your index template:  "composed_of": ["{COMPONENT}"]')


def _settings(no_passages: bool, passage_run: int | None, kinds: tuple[KindName, ...]) -> Settings:
    """Those of fingerprints that backfill makes here: with the hash key of the environment, if there is one."""
    from simdoc_search.sketch.key import key_from
    from simdoc_search.sketch.settings import Settings

    usual = with_kinds(Settings().with_key(key_from()), kinds)
    return replace(usual, passages=passages_of(no_passages, passage_run, usual.analysis.shingle_size))
