"""What `status` says of documents without a text, and of texts that were compared."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.cli import answer, output, run, usage_error, words
from tests.support.engines import call
from tests.support.http_server import Indices, indices
from tests.support.status import document, fill, mapping


@pytest.fixture(params=["opensearch", "elasticsearch", "elasticsearch_7"])
def made(request: pytest.FixtureRequest) -> Iterator[Indices]:
    """Indices of a test's own in each kind of engine."""
    with indices(request.getfixturevalue(f"{request.param}_url")) as them:
        yield them


def test_documents_without_a_text_are_counted_apart(made: Indices) -> None:
    """They lack nothing; a fingerprint of a text that is gone is one too many, and backfill removes it."""
    index = made.make(mapping())
    url = f"{made.engine}/{index}"
    fill(made, index, {f"fine/{number}": document(words(number, number + 60)) for number in range(4)})
    fill(made, index, {"late/1": {"body": None}, "late/2": {"title": "x"}, "missing": {"body": words(0, 60)}})
    fill(made, index, {"gone": {"body": [], "simdoc": document(words(0, 60))["simdoc"]}})
    shown, found = output("status", url), answer("status", url)
    metrics = output("status", url, "--prometheus")
    counts = found["indices"][0]["counts"]
    checked = run("check", url).stdout
    limited = run("status", url, "--max-missing", "13%")
    done = output("backfill", url)
    after = answer("status", url, "--max-missing", "0")

    assert (
        "fingerprinted  5\nwithout text   2 have no text, so they need no fingerprint\nmissing        1 (12.5%)\n"
        in (shown)
    )
    assert "text gone      1 have a fingerprint, but no text any more; simdoc-search backfill removes it\n" in shown
    assert "stale          1 of 5, all looked at, such as 'gone'\n" in shown
    assert (2, 1, 1) == (counts["without_text"], counts["text_gone"], counts["missing"])
    assert (2, 1) == (found["without_text"], found["missing"])
    assert f'simdoc_without_text_documents{{name="{index}",index="{index}"}} 2\n' in metrics
    assert f'simdoc_text_gone_documents{{name="{index}",index="{index}"}} 1\n' in metrics
    assert "fingerprints of texts that are gone: 1; simdoc-search backfill removes them\n" in checked
    assert 0 == limited.exit_code
    assert "1 updated, 0 unchanged, 1 removed (text gone) in " in done
    assert (3, 0, 0) == (after["without_text"], after["missing"], after["staleness"]["stale"])


def test_where_no_query_tells_them_apart_it_is_said(made: Indices) -> None:
    """A field that is not indexed."""
    fields = mapping()["properties"] | {"body": {"type": "text", "index": False}}
    index = made.make({"properties": fields})
    fill(made, index, {"fine": document(words(0, 60)), "late": {"body": None}})

    assert "missing        1 (50.0%), those without a text among them\n" in output("status", f"{made.engine}/{index}")


def test_what_was_compared_is_not_drawn(made: Indices) -> None:
    """What was written since is all looked at, or a sample of it is; then the interval is that much smaller."""
    index = made.make(mapping())
    url = f"{made.engine}/{index}"
    fill(made, index, {str(number): {"body": words(number, number + 60)} for number in range(100)})
    output("backfill", url, "--stale")
    quiet = output("status", url)
    for number in range(10):
        part = {"doc": {"body": words(500, 560)} if number < 5 else {"views": 1}}
        call(made.engine, "POST", f"/{index}/_update/{number}?refresh", part)
    exact, drawn = output("status", url), output("status", url, "--sample", "5")
    found = answer("status", url)["staleness"]
    mended = output("backfill", url, "--stale")
    full = answer("backfill", url, "--stale", "--full")

    assert "stale          none, as nobody wrote to these 100 since backfill compared their texts\n" in quiet
    assert "stale          5 of 100, all 10 written since looked at, such as '0', '1', '2', '3', '4'\n" in exact
    assert "drawn at random from the 10 written since backfill compared texts" in drawn
    assert (90, 10, 5, 0.05, 0.05) == tuple(
        found[name] for name in ("compared", "sampled", "stale", "at_least", "at_most")
    )
    assert "5 updated, 5 unchanged in " in mended
    assert (0, 100) == (full["updated"], full["unchanged"])


def test_all_texts_again_are_compared_texts() -> None:
    """`--full` alone is a mistake."""
    said = usage_error(run("backfill", "http://127.0.0.1:1/i", "--text-field", "body", "--full"))

    assert "--full is for --stale" == said
