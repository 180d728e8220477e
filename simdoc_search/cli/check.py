"""`simdoc-search check`: is an index fit for our queries?"""

from __future__ import annotations

import click

from simdoc_search.cli.common import errors_as_sentences, json_option, print_json, printable

__all__ = ["check"]


@click.command()
@click.argument("url")
@click.option("--field", default="simdoc", show_default=True, help="The object field that has the fingerprints.")
@json_option
@errors_as_sentences
def check(url: str, field: str, as_json: bool) -> None:
    """Say what is wrong with an index of an engine, and what to do about it; exit code 1 if something is.

    \b
      simdoc-search check http://localhost:9200/articles
    """
    from simdoc_search.stores.checks import check_index
    from simdoc_search.stores.connecting import connect

    engine, index = connect(url)
    findings = check_index(engine, index, field)
    wrong = any(finding.wrong for finding in findings)
    if as_json:
        listed = [{"index": each.index, "wrong": each.wrong, "problem": each.problem} for each in findings]
        print_json({"url": f"{engine.name}/{index}", "fit": not wrong, "findings": listed})
    else:
        for each in findings:
            click.echo(f"{'wrong' if each.wrong else 'note'}: {printable(each.index)}: {printable(each.problem)}")
        if not findings:
            click.echo(f"{printable(index)} is fit for FINGERPRINT queries")
    if wrong:
        raise SystemExit(1)
