"""`--min-hash`: a field that the engine itself fills, and the options of its filter."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from simdoc_search.cli.common import say

if TYPE_CHECKING:
    from simdoc_search.sketch.minhash import MinHash

Command = TypeVar("Command", bound=Callable[..., Any])

_MOST = 10_000  # values that an analyzer may make of a text, as engines are set


def min_hash_options(command: Command) -> Command:
    """`--min-hash` and the options of the filter."""
    for option in (
        click.option("--with-rotation/--without-rotation", default=None,
                     help="With --min-hash: fill empty buckets with copies of others.  [default: with, unless "
                     "--hash-set-size is over 1]"),
        click.option("--hash-set-size", type=click.IntRange(1, _MOST), metavar="INTEGER",
                     help="With --min-hash: values kept in each bucket.  [default: 1]"),
        click.option("--bucket-count", type=click.IntRange(1, _MOST), metavar="INTEGER",
                     help="With --min-hash: buckets of each hash function.  [default: 512]"),
        click.option("--hash-count", type=click.IntRange(1, _MOST), metavar="INTEGER",
                     help="With --min-hash: hash functions. A search needs 1.  [default: 1]"),
        click.option("--min-hash", metavar="TEXT_FIELD",
                     help="Print instead the body of an index whose engine fills TEXT_FIELD.fingerprint itself."),
    ):  # fmt: skip
        command = option(command)
    return command


def min_hash_body(
    text_field: str | None,
    hash_count: int | None,
    bucket_count: int | None,
    hash_set_size: int | None,
    with_rotation: bool | None,
) -> dict[str, Any] | None:
    """The body of such an index; None if none was asked for.

    Raises:
        UsageError: there are options of the filter and no text field, or the engine takes no such options.
    """
    options = {"hash_count": hash_count, "bucket_count": bucket_count, "hash_set_size": hash_set_size}
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if text_field is None:
        if given or with_rotation is not None:
            raise click.UsageError("the options of the filter are about --min-hash; add --min-hash TEXT_FIELD")
        return None
    from simdoc_search.attach.min_hash import min_hash_index
    from simdoc_search.sketch.minhash import MinHash

    kept = given.get("hash_set_size", 1)
    if with_rotation and kept > 1:
        raise click.UsageError("the filter copies no values where --hash-set-size is over 1; leave out --with-rotation")
    minhash = MinHash(**given, with_rotation=kept == 1 if with_rotation is None else with_rotation)
    _check(minhash)
    return min_hash_index(text_field, minhash)


def _check(minhash: MinHash) -> None:
    made = minhash.hash_count * minhash.bucket_count * minhash.hash_set_size
    if made > _MOST:
        raise click.UsageError(
            f"these options make {made:,} values of a text, and engines take {_MOST:,}; ask for fewer"
        )
    if minhash.hash_count > 1:
        more = f"--bucket-count {minhash.hash_count * minhash.bucket_count}"
        say(f"note: simdoc-search similar needs a field with --hash-count 1; {more} has as many values", err=True)
