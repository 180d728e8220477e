"""Runs the tests on a cluster of the user; scripts/try_elasticsearch starts it."""

from __future__ import annotations

import os
import secrets
import signal
import sys
from collections.abc import Mapping
from contextlib import closing

import compatibility

from simdoc_search.errors import SimdocError
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from tests.support import elasticsearch_engine, engines
from tests.support.cleanup import remove_all
from tests.support.gateway import Gateway, gateway

USAGE = f"usage: scripts/try_elasticsearch URL [{'|'.join(compatibility.ROWS)} ...]"
OPTIONS = ("--engine", "none", "-p", "tests.support.gateway_plugin")


def main() -> None:
    """Test the cluster, remove the things of the tests, and print the row for docs/compatibility.md."""
    url, *rows = sys.argv[1:] or [""]
    if not url or url.startswith("-") or {*rows} - compatibility.ROWS.keys():
        sys.exit(USAGE)
    rows = rows or list(compatibility.ROWS)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    prefix = f"simdoc-try-{secrets.token_hex(4)}"
    try:
        with closing(connect(url, expects_index=False)[0]) as engine, gateway(url, prefix) as (between, address):
            advice = "take one as Elastic or OpenSearch distribute it, as most tests need its modules"
            engine.require_scripts("ingest", advice)
            name = name_of(engines.call(address, "GET", "/")["version"])
            print(f"Testing {name}. All that the tests make there is called {prefix}... and removed again.", flush=True)
            print("This takes some ten minutes. Ctrl-C ends it.", flush=True)
            try:
                counts = compatibility.run_suites(rows, "opensearch", environment(address, prefix), *OPTIONS)
            finally:
                remove(engine, between)
    except SimdocError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    print(compatibility.line_of(name, counts))
    sys.exit(compatibility.has_new_failures(name, counts))


def remove(engine: Engine, between: Gateway) -> None:
    """Remove the things of the tests, and print whether that worked; Ctrl-C is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("Removing what the tests made ...", flush=True)
    if problems := remove_all(engine, between):
        sys.exit(f"These could not be removed; remove all that is called {between.prefix}*:\n" + "\n".join(problems))
    print(f"Nothing called {between.prefix}... is left.", flush=True)


def environment(address: str, prefix: str) -> dict[str, str]:
    """The environment of the tests: the address of the gateway, and no credentials."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SIMDOC_")}
    return {**kept, engines.URL: address, elasticsearch_engine.URL: address, "SIMDOC_TEST_PREFIX": prefix}


def name_of(version: Mapping[str, str]) -> str:
    """The engine and its version."""
    return f"{'OpenSearch' if 'distribution' in version else 'Elasticsearch'} {version['number']}"


if __name__ == "__main__":
    main()
