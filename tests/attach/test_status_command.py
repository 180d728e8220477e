"""`simdoc-search status`: what people, programs and Prometheus read, its limits, and what it may not know."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from tests.support.cli import answer, output, run, sentence, usage_error, words
from tests.support.engines import call
from tests.support.http_server import Indices, error, forward, indices, serving, unused_url
from tests.support.status import articles, document, fill, mapping

one_engine = pytest.mark.parametrize("made", ["opensearch"], indirect=True)


@pytest.fixture(params=["opensearch", "elasticsearch"])
def made(request: pytest.FixtureRequest) -> Iterator[Indices]:
    """Indices of a test's own in each kind of engine."""
    with indices(request.getfixturevalue(f"{request.param}_url")) as them:
        yield them


def test_people_read_this(made: Indices) -> None:
    """One line each, and what is estimated is said to be."""
    shown = output("status", f"{made.engine}/{articles(made)}")
    size = r"[\d.]+ kB"

    assert re.search(rf"^documents      15 in 1 index, {size}$", shown, re.MULTILINE)
    assert "fingerprinted  11, 1 of them texts without words\nmissing        4 (26.7%)\n" in shown
    assert "stale          3 of 10, all looked at, such as 'malformed', 'stale/1', 'stale/2'\n" in shown
    assert "errors         3 for which the engine's pipeline could make no fingerprint\n" in shown
    assert "               2: the text has N characters, too many\n" in shown
    assert "pipeline       none fills it: index.final_pipeline is not set\n" in shown
    assert "\x1b" not in shown


@one_engine
def test_an_estimate_is_shown_as_one(made: Indices) -> None:
    """With its interval and the size of the sample."""
    index = made.make(mapping())
    fill(made, index, {str(number): document(words(0, 60)) for number in range(50)})
    shown = output("status", f"{made.engine}/{index}", "--sample", "20")

    assert "stale          about 0 of 50 (0.0%; with 95 % confidence 0.0% to 10." in shown
    assert "): 0 of 20 drawn at random\n" in shown


@one_engine
def test_limits_that_the_index_stores_are_shown(made: Indices) -> None:
    """The built-in ones are not, as for people nothing was stored."""
    index = made.make(mapping())
    before = output("status", f"{made.engine}/{index}")
    stored = output("defaults", "--bits", "3", "--store", f"{made.engine}/{index}")
    after = output("status", f"{made.engine}/{index}")

    assert "alike " not in before
    assert "alike          sentences up to a distance of 3, of 64\n" in after
    assert "a distance of 3, of 64" in stored
    assert {"enough": 0.5, "least": 0.1, "bits": 3, "min_score": 0.5} == answer("status", f"{made.engine}/{index}")[
        "limits"
    ]


@one_engine
def test_programs_read_json(made: Indices) -> None:
    """All of it, numbers as numbers."""
    index = articles(made)
    found = answer("status", f"{made.engine}/{index}")

    assert (15, 4, f"{made.engine}/{index}") == (found["documents"], found["missing"], found["url"])
    assert (3, 10, 0.3) == tuple(found["staleness"][name] for name in ("stale", "sampled", "share"))
    assert (10, 1, 3) == tuple(
        found["indices"][0]["counts"][name] for name in ("current", "of_other_settings", "errors")
    )
    assert {"state": "none", "pipeline": "", "setting": ""} == found["indices"][0]["ingest"]


LINE = re.compile(
    r"# (?:HELP|TYPE) (simdoc_[a-z_]+) .+|"
    r'(simdoc_[a-z_]+)\{((?:[a-z]+="(?:[^"\\\n]|\\\\|\\"|\\n)*",?)*)\} (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)'
)


@one_engine
def test_prometheus_reads_metrics(made: Indices) -> None:
    """Each is helped and typed once, before its samples; labels are escaped; none is called a total."""
    index = articles(made)
    shown = output("status", f"{made.engine}/{index}", "--prometheus")
    found = [LINE.fullmatch(line) for line in shown.splitlines()]
    names = [each[1] or each[2] for each in found if each]
    samples = [(each[2], each[3], float(each[4])) for each in found if each and each[2]]

    assert None not in found
    assert len(dict.fromkeys(names)) == sum(
        before != after for before, after in zip([None, *names], names, strict=False)
    )
    assert len(names) == len(samples) + 2 * len(set(names))
    assert ("simdoc_documents", f'name="{index}",index="{index}"', 15.0) in samples
    assert ("simdoc_stale_ratio", f'name="{index}"', 0.3) in samples
    assert r'reason="a \"quoted\"\\ reason' in shown
    assert not any(name.endswith("_total") for name in names)


@one_engine
def test_limits_decide_the_exit_code(made: Indices) -> None:
    """Each that is passed is said on stderr; the answer is on stdout all the same."""
    place = f"{made.engine}/{articles(made)}"
    stale = "30.0% are stale, over 1.0%; run simdoc-search backfill --stale"
    missing = "26.7% have no fingerprint, over 10.0%; run simdoc-search backfill"

    assert 0 == run("status", place, "--max-stale", "30%", "--max-missing", "27").exit_code
    both = run("status", place, "--json", "--max-stale", "1%", "--max-missing", "10 %")
    assert (1, f"{stale}\n{missing}\n", 15) == (both.exit_code, both.stderr, json.loads(both.stdout)["documents"])
    assert "no sample was asked for" in sentence(run("status", place, "--max-stale", "1%", "--sample", "0"))
    for wrong in ("x", "101%", "-1"):
        assert "is no percentage, such as 1%" in usage_error(run("status", place, "--max-stale", wrong))
    assert "one of them" in usage_error(run("status", place, "--json", "--prometheus"))


def test_what_our_field_takes(made: Indices) -> None:
    """Elasticsearch tells, if it is asked to read all; OpenSearch cannot."""
    found = answer("status", f"{made.engine}/{articles(made)}", "--disk-usage")["indices"][0]
    version = call(made.engine, "GET", "/")["version"]
    knows = "distribution" not in version and int(version["number"].split(".")[0]) >= 8

    assert found["bytes"] > 0
    assert knows == (found["field_bytes"] is not None)
    assert not knows or 0 < found["field_bytes"] < found["bytes"]


def test_an_engine_that_is_down_or_forbids() -> None:
    """One sentence."""
    assert "does not answer" in sentence(run("status", f"{unused_url()}/articles"))
    with serving(lambda _: error(403, "security_exception", "no permissions")) as server:
        assert "forbids it (no permissions)" in sentence(run("status", f"{server.url}/articles"))


@one_engine
def test_what_may_not_be_known_is_left_out(made: Indices) -> None:
    """Sizes and pipelines are for those who may see them; the rest is told."""
    index = articles(made)
    call(made.engine, "PUT", f"/{index}/_settings", {"index.final_pipeline": "theirs"})
    with serving(forward(made.engine)) as server:
        through = server.handle
        hidden = error(403, "security_exception", "no permissions")
        server.handle = lambda request: (
            hidden if "/_stats" in request.path or "/_ingest" in request.path else through(request)
        )
        shown = output("status", f"{server.url}/{index}")

    assert "documents      15 in 1 index\n" in shown
    assert "pipeline       index.final_pipeline names theirs, which we may not see\n" in shown
