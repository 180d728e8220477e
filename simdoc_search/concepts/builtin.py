"""Extractors by name."""

from __future__ import annotations

from importlib.util import find_spec

from simdoc_search.concepts.extractor import Extractor, Finder
from simdoc_search.concepts.keyphrases import Keyphrases
from simdoc_search.concepts.names import Names
from simdoc_search.concepts.spacy import PREFIX, load_spacy
from simdoc_search.concepts.synonyms import Synonyms
from simdoc_search.errors import FormatMismatchError, MissingExtraError
from simdoc_search.sketch.concepts import Concepts

_ASKED_PREFIX = "spacy:"


def extractor_named(name: str, synonyms: Synonyms | None = None) -> Extractor:
    """The shipped extractor that a person asks for: `yake`, `names`, or `spacy:` with the name of a model.

    Raises:
        FormatMismatchError: there is none of this name.
        MissingExtraError: what it needs is not installed.
        ConceptsError: a model of spaCy's is not installed.
    """
    return Extractor(_finder(name, _ASKED_PREFIX), synonyms)


def extractor_of(settings: Concepts, synonyms: Synonyms | None = None) -> Extractor:
    """The shipped extractor that a store was made with.

    Raises:
        FormatMismatchError: none that is shipped has its name, or these are not the synonyms that it was made with.
        MissingExtraError: what it needs is not installed.
        ConceptsError: a model of spaCy's is not installed.
    """
    made = Extractor(_finder(settings.extractor, PREFIX), synonyms)
    if made.settings != settings:
        given = f", and not {synonyms.check}" if synonyms else ""
        how = (
            f"synonyms {settings.synonyms}{given}; give their file (--synonyms)"
            if settings.synonyms
            else "no synonyms; give none"
        )
        raise FormatMismatchError(f"the concepts were found with {how}", settings, made.settings)
    return made


def _finder(name: str, prefix: str) -> Finder:
    if name == Names.name:
        return Names()
    if name == Keyphrases.name:
        if find_spec("yake") is None:
            raise MissingExtraError("finding keyphrases", "relations")
        return Keyphrases()
    if name.startswith(prefix) and (model := name.removeprefix(prefix)):
        return load_spacy(model)
    raise FormatMismatchError(
        f"no extractor that is shipped is called {name!r:.60}: there are yake, names and spacy:MODEL; "
        "one of your own is given to the library"
    )
