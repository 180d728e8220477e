"""The steps of a month. All commands are checked after each step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

from tests.living.application import Application, Document
from tests.living.commands import Checks
from tests.support.engines import PREFIX, call
from tests.support.http_server import indices
from tests.support.rolling_index import rolling

__all__ = ["Month", "Size", "month"]

PROPERTIES = {"team": {"type": "keyword"}, "number": {"type": "integer"}}


@dataclass(frozen=True)
class Size:
    """The size of an application."""

    rollover: int = 30  # documents per index
    documents: int = 80  # documents that are written first
    sources: int = 2  # query documents per check
    shards: int = 1  # shards per index
    replicas: int = 0  # replicas per shard


class Month:
    """The steps of a month.

    Args:
        application: the application.
        checks: the checks after each step.
        size: the size of the application.
    """

    def __init__(self, application: Application, checks: Checks, size: Size) -> None:
        self.application = application
        self.checks = checks
        self.size = size

    def steps(self) -> list[Callable[[], None]]:
        """Return the steps in their order. Some need an alias. After each, all fingerprints are current."""
        steps = [
            self.documents_are_written,
            self.texts_and_other_fields_are_updated,
            self.texts_are_updated_in_bulk,
            self.texts_are_updated_by_query,
            self.documents_are_deleted,
            self.copies_arrive_after_a_rollover,
            self.an_id_is_written_again,
            self.texts_arrive_later,
            self.texts_are_removed,
            self.an_index_without_our_field_is_added,
            self.its_documents_are_filled,
            self.an_index_is_closed,
            self.it_is_opened_again,
            self.an_index_becomes_read_only,
            self.an_index_is_reindexed,
            self.everything_is_restored_from_a_snapshot,
            self.more_documents_are_written,
        ]
        only_alias = {"an_index_without_our_field_is_added", "its_documents_are_filled", "an_index_is_reindexed"}
        return [step for step in steps if not (self.application.rolling.is_stream and step.__name__ in only_alias)]

    def documents_are_written(self) -> None:
        """Several indices."""
        self.application.add(self.size.documents)

    def texts_and_other_fields_are_updated(self) -> None:
        """One by one."""
        for document in self.application.choose(4):
            self.application.update(document, body=self.application.new_text())
        for document in self.application.choose(4):
            self.application.update(document, team="legal")

    def texts_are_updated_in_bulk(self) -> None:
        """Bulks pass no pipeline. `status` counts the stale fingerprints, and `backfill --stale` replaces them."""
        documents = self.application.choose(5)
        self.application.bulk_update({document: {"body": self.application.new_text()} for document in documents})

        assert len(documents) == self.checks.counts()["stale"]
        assert (len(documents), []) == self.checks.backfill("--stale")

    def texts_are_updated_by_query(self) -> None:
        """Through the alias."""
        assert 0 < self.application.update_by_query("design")

    def documents_are_deleted(self) -> None:
        """In a bulk, and by a query."""
        self.application.delete(self.application.choose(3))
        self.application.delete_by_query(range(200, 300))

    def copies_arrive_after_a_rollover(self) -> None:
        """The watched document is in an older index."""
        (source,) = self.application.choose(1)
        self.checks.watch(source)
        self.application.rolling.roll_over()
        text = self.application.sources[source]["body"]
        self.application.write(["copy-of-watched"], body=text)
        self.application.write(["no-copy"], body="No copy of anything: " + " ".join(map(str, range(900, 990))))

        assert source.key in self.checks.copied_by(self._one("copy-of-watched"))
        assert set() == self.checks.copied_by(self._one("no-copy"))

    def an_id_is_written_again(self) -> None:
        """After a rollover, this makes two documents. A query by the id is refused, and names both."""
        (old,) = self.application.choose(1)
        self.application.rolling.roll_over()
        self.application.write([old.id])
        new = next(each for each in self.application.sources if each.id == old.id and each != old)

        for document in (old, new):
            assert document.index in self.checks.refused("similar", old.id)

    def texts_arrive_later(self) -> None:
        """Documents without a text have no fingerprint until they have one."""
        self.application.write(["late-1", "late-2"], without="body")
        late = {self._one(id): {"body": self.application.new_text()} for id in ("late-1", "late-2")}
        self.checks.check_counts()
        self.application.bulk_update(late)

        assert 2 == self.checks.counts()["missing_count"]
        assert (2, []) == self.checks.backfill()

    def texts_are_removed(self) -> None:
        """In a bulk. The next `backfill` removes their fingerprints."""
        self.application.bulk_update({document: {"body": None} for document in self.application.choose(2)})

        assert 2 == self.checks.counts()["text_gone_count"]
        assert (0, []) == self.checks.backfill()

    def an_index_without_our_field_is_added(self) -> None:
        """Answers are from the other indices, and name it."""
        self.application.join(self._other, ["other-1", "other-2", "other-3"])
        self.application.left_out[self._other] = 3

        assert [self._other] == [problem["index"] for problem in self.checks.problems()]

    def its_documents_are_filled(self) -> None:
        """By a backfill, which uses the text field of the other indices."""
        assert (3, []) == self.checks.backfill()
        del self.application.left_out[self._other]

    def an_index_is_closed(self) -> None:
        """Answers are from the other indices, and name it."""
        oldest = self.application.indices()[0]
        call(self.application.engine, "POST", f"/{oldest}/_close")
        self.application.left_out[oldest] = None

    def it_is_opened_again(self) -> None:
        """Answers include its documents again."""
        ((closed, _),) = self.application.left_out.items()
        call(self.application.engine, "POST", f"/{closed}/_open")
        call(self.application.engine, "GET", f"/_cluster/health/{closed}?wait_for_status=yellow")
        self.application.left_out.clear()

    @property
    def _other(self) -> str:
        return f"{self.application.name}-other".replace(f"{PREFIX}-", f"{PREFIX}-other-")

    def an_index_becomes_read_only(self) -> None:
        """Queries find its documents."""
        self._set_read_only(self.application.indices()[0], blocked=True)

    def an_index_is_reindexed(self) -> None:
        """A new index replaces it."""
        oldest = self.application.indices()[0]
        self._set_read_only(oldest, blocked=False)
        self.application.reindex(oldest, f"{self.application.name}-reindexed")

    def everything_is_restored_from_a_snapshot(self) -> None:
        """All indices are deleted before."""
        application, place = self.application, f"/_snapshot/{self.application.name}"
        call(application.engine, "PUT", place, {"type": "fs", "settings": {"location": application.name}})
        indices = application.name if application.rolling.is_stream else f"{application.name}-*"
        body = {"indices": indices, "include_global_state": False}
        done = call(application.engine, "PUT", f"{place}/first?wait_for_completion=true", body)
        kind = "_data_stream/" if application.rolling.is_stream else ""
        call(application.engine, "DELETE", f"/{kind}{indices}")
        restored = call(application.engine, "POST", f"{place}/first/_restore?wait_for_completion=true", body)
        call(application.engine, "DELETE", f"{place}/first")
        call(application.engine, "DELETE", place)

        assert "SUCCESS" == done["snapshot"]["state"]
        assert 0 == restored["snapshot"]["shards"]["failed"]

    def more_documents_are_written(self) -> None:
        """With a rollover."""
        self.application.add(self.size.rollover)

    def _one(self, id: str) -> Document:
        (document,) = (each for each in self.application.sources if each.id == id)
        return document

    def _set_read_only(self, index: str, *, blocked: bool) -> None:
        call(self.application.engine, "PUT", f"/{index}/_settings", {"index.blocks.write": blocked})
        (self.application.read_only.add if blocked else self.application.read_only.discard)(index)


@contextmanager
def month(engine: str, size: Size, *, is_stream: bool = False, seed: int = 1) -> Iterator[Month]:
    """Create an application with its alias or data stream, and remove it afterwards."""
    settings = {"number_of_shards": size.shards, "number_of_replicas": size.replicas}
    with indices(engine) as made, rolling(engine, PROPERTIES, settings, is_stream=is_stream) as rolled:
        application = Application(rolled, size.rollover, seed)
        # The index template of the application also matches this name; a template of a data stream would forbid it.
        watches = made.name() if is_stream else f"{rolled.name}-watches"
        yield Month(application, Checks(application, watches, size.sources), size)


def play(played: Month, report: Callable[[str], None], *, checked_steps: int = 1) -> None:
    """Play all steps. Check all commands after every `checked_steps` steps, and after the last one."""
    steps = played.steps()
    for number, step in enumerate(steps, 1):
        started = monotonic()
        step()
        done = monotonic()
        if number % checked_steps == 0 or number == len(steps):
            played.checks.all()
        name, documents = step.__name__.replace("_", " "), len(played.application.sources)
        report(f"{name}: {documents:,} documents; {done - started:.1f} s, all commands {monotonic() - done:.1f} s")
