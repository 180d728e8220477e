"""`simdoc-search template`: the mapping of our field, for an index of one's own."""

from __future__ import annotations

import click

from simdoc_search.cli.common import errors_as_sentences, json_option, print_json

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
@json_option
@errors_as_sentences
def show(field: str, min_hash: str | None, as_json: bool) -> None:  # noqa: ARG001 - it is JSON in either case
    """Print the body for PUT _component_template/simdoc.

    \b
      simdoc-search template show > simdoc.component.json
      simdoc-search template show --min-hash body > index.json
    """
    from simdoc_search.stores.min_hash import min_hash_index
    from simdoc_search.stores.templates import component_template

    print_json(min_hash_index(min_hash) if min_hash else component_template(field=field))


@template.command()
@click.argument("url")
@click.option("--field", default="simdoc", show_default=True, help="The object field that has the fingerprints.")
@click.option("--force", is_flag=True, help="Replace one that is there and differs.")
@json_option
@errors_as_sentences
def install(url: str, field: str, force: bool, as_json: bool) -> None:
    """Put the component template into the engine; nothing else is changed.

    \b
      simdoc-search template install http://localhost:9200
    """
    from simdoc_search.stores.connecting import connect
    from simdoc_search.stores.templates import COMPONENT, install_component

    engine, _ = connect(url, index=False)
    changed = install_component(engine, field, force=force)
    if as_json:
        print_json({"component_template": COMPONENT, "installed": changed})
        return
    click.echo(f"the component template {COMPONENT} {'is installed' if changed else 'was there already'}")
    click.echo(f'add it to your index template:  "composed_of": ["{COMPONENT}"]')
