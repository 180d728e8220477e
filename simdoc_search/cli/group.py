"""The commands as one group."""

from __future__ import annotations

import click

from simdoc_search.cli.backfill import backfill
from simdoc_search.cli.check import check
from simdoc_search.cli.delete import delete
from simdoc_search.cli.engine import engine
from simdoc_search.cli.explain import explain
from simdoc_search.cli.index import index
from simdoc_search.cli.info import info
from simdoc_search.cli.similar import similar
from simdoc_search.cli.template import template

__all__ = ["cli"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="simdoc-search", message="%(prog)s %(version)s")
def cli() -> None:
    """Find documents that share text: near-duplicates, reused passages, versions.

    \b
      simdoc-search index ./corpus
      simdoc-search similar doc123_20_80

    finds the documents that overlap doc123 by 20 %; each is a candidate with a probability of at least 80 %.
    """


for command in (index, similar, explain, info, delete, engine, template, check, backfill):
    cli.add_command(command)
