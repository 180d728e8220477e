"""A letterhead that two documents share does not make them versions of each other."""

from __future__ import annotations

import numpy as np
import pytest

from simdoc_search import Document, Settings, SimilaritySearch, open_store
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.sketch.thresholds import MAX_DISTANCE_LIMIT, SentenceShares, SimilarityThresholds
from simdoc_search.versions.letterheads import MAX_LETTERHEAD_SENTENCES
from simdoc_search.versions.matching import match_sentences, shares_by_max_distance
from tests.support.families import SETTINGS, prose

HEAD, BODY, LETTER = (np.random.default_rng(seed).integers(0, 2**64, 60, dtype=np.uint64) for seed in (1, 2, 3))
LETTERHEAD = """Harding & Sons Joinery Ltd

{}

14 Mill Lane, Ashford TN24 8LW, England

Bank: Lloyds Bank Ashford, sort code 30-90-12, account 48210033

Registered in England no. 04418822, VAT no. GB 812 4410 33

Directors: George Harding, Anne Harding
"""


def join(*parts: Simhashes) -> Simhashes:
    return np.concatenate(parts)


def are_versions(a: Simhashes, b: Simhashes) -> bool:
    verdicts = {
        SimilarityThresholds().score_matches(shares) is not None
        for shares in (match_sentences(a, b), match_sentences(b, a))
    }
    assert len(verdicts) == 1
    return verdicts.pop()


@pytest.mark.parametrize("above", range(MAX_LETTERHEAD_SENTENCES + 1))
@pytest.mark.parametrize("below", [0, 1, 6])
def test_a_contract_and_a_letter_with_the_same_letterhead_are_not_versions(above: int, below: int) -> None:
    head, foot = HEAD[:above], HEAD[10 : 10 + below]
    letter = join(head, LETTER[: (above + below) // 3 + 1], foot)
    other_letter = join(head, LETTER[20 : 20 + len(letter)], foot)

    assert not are_versions(letter, join(head, BODY[:20], foot))
    assert not are_versions(letter, other_letter)


def test_one_more_line_in_a_letterhead_is_skipped() -> None:
    contract = join(HEAD[:5], BODY[:20])
    letters = [join(HEAD[:1], LETTER[:1], HEAD[1:5], LETTER[1:5]), join(LETTER[:1], HEAD[:5], LETTER[1:5])]

    assert [False, False] == [are_versions(letter, contract) for letter in letters]


def test_the_template_of_a_letter_is_not_a_version_of_a_contract() -> None:
    """All of its sentences are in the contract, as it has only a letterhead."""
    contract = join(HEAD[:3], BODY[:20], HEAD[10:12])

    assert not are_versions(join(HEAD[:3], HEAD[10:12]), contract)
    assert not are_versions(HEAD[:3], contract)


def test_a_pdf_that_begins_with_its_footer_is_not_a_version_of_a_contract() -> None:
    contract = join(HEAD[:2], BODY[:8], HEAD[10:12])

    assert not are_versions(join(HEAD[:2], HEAD[10:12], LETTER[:2]), contract)
    assert are_versions(join(HEAD[:2], HEAD[10:12], BODY[:7], LETTER[:1]), contract)


def test_an_address_in_the_contract_does_not_make_a_letter_a_version() -> None:
    """The letter is sent to a party of the contract."""
    letter = join(HEAD[:3], BODY[5:6], LETTER[:3])

    assert not are_versions(letter, join(HEAD[:3], BODY[:20]))


@pytest.mark.parametrize("count", [5, 6, 8, 12])
def test_short_documents_of_which_one_sentence_changed_are_versions(count: int) -> None:
    document = BODY[:count]

    for changed in range(count):
        version = document.copy()
        version[changed] = LETTER[0]
        assert are_versions(document, version)
    assert are_versions(document, join(document, LETTER[:1]))
    assert (count > 7) == are_versions(document, join(document, LETTER[:30]))  # such as the template of a letter


def test_versions_whose_bodies_share_sentences_are_found() -> None:
    """Half of the sentences of both bodies are equal, under one letterhead."""
    assert are_versions(
        join(HEAD[:2], LETTER[:2], BODY[:4], LETTER[2:4], HEAD[2:4]),
        join(HEAD[:2], LETTER[10:14], BODY[:4], HEAD[2:4]),
    )
    assert are_versions(join(BODY[:2], LETTER[:1], BODY[3:4], LETTER[1:2], BODY[5:6]), BODY[:6])


def test_tuning_ignores_letterheads_as_well() -> None:
    letter, contract = join(HEAD[:5], LETTER[:4]), join(HEAD[:5], BODY[:20])

    shares: list[SentenceShares] = shares_by_max_distance(letter, contract, MAX_DISTANCE_LIMIT)

    assert [True] * (MAX_DISTANCE_LIMIT + 1) == [each.has_too_few_matches for each in shares]


@pytest.mark.parametrize("settings", [Settings(), SETTINGS], ids=["default", "with sentences"])
def test_a_later_letter_is_not_the_newest_version_of_a_contract(settings: Settings) -> None:
    contract, letter = "\n\n".join(prose(20, 1)), "\n\n".join(prose(3, 2))
    changed = contract.replace(prose(20, 1)[7], prose(1, 5)[0])
    search = SimilaritySearch(open_store(":memory:", settings, create=True))
    texts = {"Lease v1.txt": contract, "Lease v2.txt": changed, "Letter.txt": letter}
    years = dict(zip(texts, ("2024", "2025", "2026"), strict=True))
    search.index(
        Document(id, LETTERHEAD.format(text), {"modified": f"{years[id]}-05-01T10:00:00Z"})
        for id, text in texts.items()
    )
    result = search.versions("Lease v1.txt")

    assert (["Lease v2.txt"], "Lease v2.txt") == ([hit.id for hit in result.hits], result.newest and result.newest.name)
    assert not search.versions("Letter.txt").hits
    assert [["Lease v1.txt", "Lease v2.txt"]] == [
        [key.id for key in group] for group in search.version_families().groups()
    ]
