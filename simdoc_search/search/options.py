"""Options of all kinds of query. An options object checks its values when it is created."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simdoc_search.concepts import Extractor, Synonyms
from simdoc_search.documents import DocumentKey, MetadataValue
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.align import PRESETS, AlignmentSettings, Preset
from simdoc_search.passages.exact_overlap import MEASURES, MeasureName
from simdoc_search.query.planner import Planner, check_planner
from simdoc_search.search.resolver import Query, make_document_query
from simdoc_search.sketch.thresholds import SimilarityThresholds
from simdoc_search.stores.filters import Filters, parse_filters

if TYPE_CHECKING:
    from simdoc_search.groups import Progress

OptionalFraction = float | Fraction | None  # a value from 0 to 1


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Options of all queries: which documents are searched, and which hits and fields are returned.

    Attributes:
        size: maximum number of hits, at least 1.
        offset: number of best hits to skip, at least 0. As long as the store does not change, pages neither repeat nor
            omit documents. To return a page, the candidates of all earlier pages are read too.
        filters: only documents with these fields can be hits. `{"team": ["legal", "sales"]}` matches either value. See
            `stores.filters.Filters`.
        query_document_filters: only documents with these fields can be the query document. All other documents are
            treated as unknown. If a user may not read all documents, pass the same value as for `filters`.
        fields: names of the fields to return in `hit.fields`. They are metadata fields, or fields of an index that
            simdoc-search did not create. Write a nested field with dots, such as `author.name`. Fields that a document
            does not have are omitted.

    Raises:
        QuerySyntaxError: an option is malformed or out of range.
    """

    size: int = 10
    offset: int = 0
    filters: Filters | None = None
    query_document_filters: Filters | None = None
    fields: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name, value, minimum in (("size", self.size, 1), ("offset", self.offset, 0)):
            if not isinstance(value, int) or isinstance(value, bool) or value < minimum:
                raise QuerySyntaxError(f"{name} must be an integer of at least {minimum}, not {value!r}")
        if isinstance(self.fields, str) or not all(isinstance(name, str) for name in self.fields):
            raise QuerySyntaxError(f"fields must be a list of strings, not {self.fields!r}")
        parse_filters(self.filters)
        parse_filters(self.query_document_filters)


@dataclass(frozen=True)
class QueryOptions(SearchOptions):
    """Options of a query whose input is either a stored document or a text.

    Attributes:
        query: the id of a stored document, its path, or the `key` of a hit.
        text: a text, instead of `query`. It need not be stored.
        exclude: the key of a document that cannot be a hit, such as the stored version of the text. `IndexedFiles`
            finds the key of the stored version of a file.

    Raises:
        QuerySyntaxError: an option is malformed or out of range, or both or neither of `query` and `text` are given.
        AmbiguousQueryError: several documents match the query.
        UnknownDocumentError: the document is not stored, or does not match `query_document_filters`.
        UnknownFieldError: there are no hits, and no document has the field of a filter.
    """

    query: Query | None = None
    text: str | None = field(default=None, kw_only=True)
    exclude: DocumentKey | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_query_or_text(self.query, self.text)


def check_query_or_text(query: Query | None, text: str | None) -> None:
    """Raise a QuerySyntaxError unless exactly one of a query and a text is given."""
    if (query is None) == (text is None):
        raise QuerySyntaxError("give exactly one of a document id and a text")


@dataclass(frozen=True, kw_only=True)
class SimilarOptions(SearchOptions):
    """Options of `similar`, except the query.

    Attributes:
        overlap: minimum overlap of a hit, 0..1; see `measure`. None: any overlap.
        probability: probability of finding a document of exactly that overlap, greater than 0 and at most 1. None: 1.
        planner: how a query with a probability divides the tokens into bands. `enough` makes as few bands as the
            probability requires. `all` divides all tokens, as Alfresco and Solr do.
        include_self: whether the query document itself can be a hit.
        verify: whether to compute exact overlaps from the stored texts, and compare these with the minimum. Otherwise,
            and for documents whose text is not stored, overlaps are estimated. See `Hit.kind`.
        measure: how the overlap is measured. `jaccard`: Jaccard similarity. `containment`: share of the query document
            that is also in the hit. `reverse_containment`: share of the hit that is also in the query document. The
            last two cannot be combined with a probability. They are exact if the texts are stored, otherwise estimated.
    """

    overlap: OptionalFraction = None
    probability: OptionalFraction = None
    planner: Planner = "enough"
    include_self: bool = False
    verify: bool = True
    measure: MeasureName = "jaccard"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_planner(self.planner)
        if self.measure not in MEASURES:
            raise QuerySyntaxError(f"measure must be one of {', '.join(MEASURES)}, not {self.measure!r}")
        if self.measure != "jaccard" and self.probability is not None:
            raise QuerySyntaxError(
                f"the measure {self.measure!r} cannot be combined with a probability; omit the probability"
            )
        make_document_query("", self.overlap, self.probability)


@dataclass(frozen=True)
class SimilarQuery(QueryOptions, SimilarOptions):
    """Options of `similar`. `query` can also be an id with the overlap and the probability in percent: `doc123_20_80`.

    If `overlap` or `probability` is given, `query` is only an id.
    """


@dataclass(frozen=True)
class PassageQuery(QueryOptions):
    """Options of `passages`.

    Attributes:
        min_words: minimum number of consecutive identical words in a passage, at least 1. None: 6, or 12 for a text of
            more than 1,000 words.
        preset: `edited` also finds passages with small changes. `verbatim` finds only exact copies. You can also pass
            your own `AlignmentSettings`; see `passages.align`.
        compare_all: whether to compare all candidates. Otherwise, at most 2,000 documents and about 8 million words are
            compared.
        ignore: texts, such as templates. Passages that occur in them are ignored, also if they were slightly edited.
        ignore_quotes: whether to ignore quotations: text in quotation marks, and lines that begin with `>`.
        ignore_bibliography: whether to ignore the references after the last heading such as `References`.
    """

    min_words: int | None = field(default=None, kw_only=True)
    preset: Preset | AlignmentSettings = field(default="edited", kw_only=True)
    compare_all: bool = field(default=False, kw_only=True)
    ignore: Sequence[str] = field(default=(), kw_only=True)
    ignore_quotes: bool = field(default=False, kw_only=True)
    ignore_bibliography: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        words = self.min_words
        if words is not None and (not isinstance(words, int) or isinstance(words, bool) or words < 1):
            raise QuerySyntaxError(f"min_words must be an integer of at least 1, not {words!r}")
        if isinstance(self.ignore, str):
            raise QuerySyntaxError(f"ignore must be a list of strings, not the string {self.ignore!r:.60}")
        resolve_preset(self.preset)

    @property
    def alignment(self) -> AlignmentSettings:
        """The alignment settings of the preset, with `min_words` if it is given."""
        alignment = resolve_preset(self.preset)
        return alignment if self.min_words is None else replace(alignment, min_run=self.min_words)


def resolve_preset(preset: Preset | AlignmentSettings) -> AlignmentSettings:
    """Return the alignment settings of a preset.

    Raises:
        QuerySyntaxError: the preset does not exist.
    """
    if isinstance(preset, AlignmentSettings):
        return preset
    if preset not in PRESETS:
        raise QuerySyntaxError(f"preset must be {' or '.join(map(repr, PRESETS))}, not {preset!r}")
    return PRESETS[preset]


@dataclass(frozen=True, kw_only=True)
class ThresholdOptions:
    """Thresholds of versions and related documents. If one is None, the one that is stored in the index is used.

    Each of two documents has a share: the fraction of its sentences that have a similar sentence in the other document.

    Attributes:
        max_distance: maximum number of differing simhash bits between similar sentences, 0 to 16 of 64.
        min_share: minimum of the larger share of two versions, greater than 0 and at most 1.
        min_smaller_share: minimum of the smaller share, from 0 to `min_share`. If it were 0, a book that quotes
            a note would be a version of the note.
        min_score: minimum score of a hit, 0..1. Versions score 0.75 to 1. Related documents score less.

    Raises:
        QuerySyntaxError: an option is malformed or out of range.
    """

    max_distance: int | None = None
    min_share: float | None = None
    min_smaller_share: float | None = None
    min_score: float | None = None

    def choose_thresholds(self, stored_thresholds: SimilarityThresholds) -> SimilarityThresholds:
        """Return the thresholds to use: the given ones, otherwise the stored ones.

        Raises:
            QuerySyntaxError: a threshold is out of range.
        """
        names = ("max_distance", "min_share", "min_smaller_share", "min_score")
        given_thresholds: dict[str, Any] = {name: value for name in names if (value := getattr(self, name)) is not None}
        try:
            return replace(stored_thresholds, **given_thresholds)
        except (TypeError, ValueError) as error:
            raise QuerySyntaxError(str(error)) from error


@dataclass(frozen=True)
class VersionQuery(ThresholdOptions, QueryOptions):
    """Options of `versions`.

    Attributes:
        file: the path of the file that contains the text. Its name and dates help to determine which version is newer.
        metadata: metadata of the text, such as dates.
        use_git: whether to read the date of each file's last commit from git.
    """

    file: str | Path | None = field(default=None, kw_only=True)
    metadata: Mapping[str, MetadataValue] | None = field(default=None, kw_only=True)
    use_git: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.text is None and (self.file is not None or self.metadata is not None):
            raise QuerySyntaxError("`file` and `metadata` require `text`; pass `text`, or omit `file` and `metadata`")


@dataclass(frozen=True)
class RelatedQuery(ThresholdOptions, QueryOptions):
    """Options of `related`.

    Attributes:
        name: the name of the text. It is shown in messages.
        extractor: the extractor of concepts for the text. None: the built-in extractor that the store was created with.
        synonyms: the synonyms that the store was created with. For a stored document, they affect only the names
            of shared concepts.
        explain: whether each hit has an `explanation`, which lists the weights of the shared concepts and their
            contributions to the similarity.
        name_concepts: whether each hit has the names of the shared concepts. For a very long text, this takes several
            seconds.
    """

    name: str = field(default="", kw_only=True)
    extractor: Extractor | None = field(default=None, kw_only=True)
    synonyms: Synonyms | None = field(default=None, kw_only=True)
    explain: bool = field(default=False, kw_only=True)
    name_concepts: bool = field(default=True, kw_only=True)


@dataclass(frozen=True, kw_only=True)
class GroupOptions(ThresholdOptions):
    """Options of `version_families` and `topics`.

    Attributes:
        filters: compare only documents with these fields, as for `similar`.
        progress: called with the current stage and its completed share, 0..1.
        workers: number of processes that split texts into sentences, if the store has none. `topics` ignores it.
    """

    filters: Filters | None = None
    progress: Progress = field(default=lambda _stage, _share: None)
    workers: int = 1

    def __post_init__(self) -> None:
        parse_filters(self.filters)
