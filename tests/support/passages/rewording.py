"""Changes a passage as people and programs do: shuffles, rewords and shortens it."""

from __future__ import annotations

import bisect
import math
import random
import re
import textwrap
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

__all__ = ["KINDS", "Vocabulary", "changed"]

_SYNONYMS = """\
able capable; about regarding concerning; accept receive take; achieve attain reach; add append include; agree
consent; allow permit let; also too additionally; although though while; answer reply response; any some; appear seem;
application program software; ask request; author writer creator; bad poor wrong; because since as; before earlier;
begin start commence; below beneath under; big large great; build construct make; but however yet; buy purchase; call
name invoke; change modify alter; check verify test; choose select pick; claim assert state; clear plain obvious;
close near; code source program; common usual frequent; complete full entire; condition term requirement; consider
regard; contain hold include; contributor participant; copy duplicate reproduction; correct right proper; create make
produce; damage harm loss; decide determine; default standard; define specify; delete remove erase; describe explain;
different distinct other; difficult hard tough; discuss debate; distribute share spread; do perform; document text
file; easy simple; effect result consequence; end finish close; ensure guarantee; error mistake fault; every each;
example instance sample; exist be; expect await; fast quick rapid; few several; file document; find discover; first
initial; fix repair mend; follow obey; form shape; free gratis; function routine procedure; general broad; get obtain
acquire; give provide grant; go move; good fine sound; group set team; grow increase; happen occur; have own possess;
help assist aid; hence thus therefore; idea notion concept; implement realise; important significant major; improve
enhance; include contain; information data knowledge; instead rather; issue problem matter; keep retain hold; kind
type sort; know understand; language tongue; last final; law statute; liable responsible; license permission; like
similar; limit restrict; list enumeration; long lengthy; look see view; lose forfeit; main chief principal; make
create; many numerous; may might can; mean signify; message note; method way approach; module unit; must shall; need
require; new novel recent; notice announcement; number count figure; object item thing; obtain get; offer propose;
often frequently; old former; only solely merely; open public; option choice; order sequence; original first; own
have; part portion piece; party side; people persons; perhaps maybe; permission consent; person individual; place
location spot; possible feasible; power ability; present current; previous earlier prior; problem issue difficulty;
process procedure; project effort; proposal suggestion; protect guard; provide supply; publish release; purpose aim
goal; put place; question query; reason cause ground; receive get; recipient receiver; remain stay; remove delete;
replace substitute; report account; require need demand; result outcome; return yield; right entitlement; rule
regulation; run execute; same identical equal; say state; section part; see view; send transmit; set collection; show
display present; shall will must; should ought; simple plain; small little; software program; some certain; specific
particular; start begin; still yet; stop cease; string text; subject topic; such similar; suggest propose; support
back; take accept; tell inform; term condition; therefore thus; think believe; time moment; tool instrument; transfer
convey; true correct; try attempt; type kind; understand grasp; use employ utilise; used employed; user person;
usually generally normally; valid sound; value worth; version edition; very quite; want wish; warranty guarantee; way
manner; well properly; when once; work function; world earth; write compose; wrong incorrect"""
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+")
_WORD = re.compile(r"(\W*)(.*?)(\W*)", re.DOTALL)
_NEIGHBOURS = 10
"""The maximum distance, in the list by frequency, of a word that replaces another one."""


class Vocabulary:
    """The words of a corpus, and the words that can replace each other.

    Args:
        by_frequency: The distinct words, the most frequent first.
    """

    def __init__(self, by_frequency: tuple[str, ...]) -> None:
        self._by_frequency = by_frequency
        self._ranks = {word: rank for rank, word in enumerate(by_frequency)}
        groups = [group.split() for group in _SYNONYMS.split(";")]
        self._synonyms = {word: tuple(other for other in group if other != word) for group in groups for word in group}
        self._sums = list(accumulate(1 / (rank + 3) for rank in range(len(by_frequency))))

    @staticmethod
    def of(texts: Iterable[str]) -> Vocabulary:
        """The words of texts."""
        counts = Counter(word for text in texts for word in re.findall(r"\w+", text.lower()))
        return Vocabulary(tuple(sorted(counts, key=lambda word: (-counts[word], word))))

    def any(self, rng: random.Random) -> str:
        """A random word, distributed as in a language."""
        return self._by_frequency[bisect.bisect(self._sums, rng.random() * self._sums[-1])]

    def instead_of(self, rng: random.Random, token: str) -> str:
        """A synonym of a word, or a word with a similar frequency. Case and punctuation are kept."""
        match = _WORD.fullmatch(token)
        before, word, after = match.groups() if match else ("", token, "")
        if not word:
            return token
        other = rng.choice(self._synonyms.get(word.lower()) or self._neighbours(word.lower()))
        return before + (other.capitalize() if word[:1].isupper() else other) + after

    def _neighbours(self, word: str) -> tuple[str, ...]:
        rank = self._ranks.get(word, len(self._by_frequency) // 2)
        near = self._by_frequency[max(0, rank - _NEIGHBOURS) : rank + _NEIGHBOURS + 1]
        return tuple(other for other in near if other != word)


@dataclass(frozen=True, slots=True)
class _Degree:
    """A degree of change.

    Attributes:
        replaced: The share of the words that are replaced.
        dropped: The share of the words that are left out.
        inserted: New words as a share of the old ones.
        kept: The share of the sentences that are kept.
        piece: The mean number of words of a shuffled piece. 0: nothing is shuffled.
        reach: The maximum number of pieces that a piece moves.
    """

    replaced: float = 0.0
    dropped: float = 0.0
    inserted: float = 0.0
    kept: float = 1.0
    piece: float = 0.0
    reach: int = 0


_DEGREES = {
    "verbatim": _Degree(),
    "shuffled-low": _Degree(replaced=0.06, dropped=0.04, inserted=0.04, piece=6, reach=3),
    "shuffled-high": _Degree(replaced=0.15, dropped=0.1, inserted=0.1, piece=3, reach=6),
    "reworded-low": _Degree(replaced=0.08, dropped=0.04, inserted=0.04),
    "reworded-high": _Degree(replaced=0.2, dropped=0.1, inserted=0.1),
    "shortened": _Degree(replaced=0.05, dropped=0.1, kept=0.5),
    "paraphrased": _Degree(replaced=0.4, dropped=0.15, inserted=0.2, piece=8, reach=2),
}
KINDS = tuple(_DEGREES)


def changed(rng: random.Random, kind: str, vocabulary: Vocabulary, passage: str) -> str:
    """A passage with changes of a kind. Half of the verbatim passages have other line breaks."""
    if kind == "verbatim" and rng.random() < 0.5:
        return passage
    degree = _DEGREES[kind]
    sentences = _SENTENCE_END.split(passage)
    kept = rng.sample(range(len(sentences)), math.ceil(degree.kept * len(sentences)))
    words = [word for number in sorted(kept) for word in sentences[number].split()]
    words = _reworded(rng, words, degree, vocabulary) or words[:1]
    if degree.piece:
        words = _shuffled(rng, words, degree)
    return textwrap.fill(" ".join(words), rng.randint(60, 100), break_long_words=False, break_on_hyphens=False)


def _reworded(rng: random.Random, words: list[str], degree: _Degree, vocabulary: Vocabulary) -> list[str]:
    result = []
    for word in words:
        if rng.random() < degree.inserted:
            result.append(vocabulary.any(rng))
        if rng.random() >= degree.dropped:
            result.append(vocabulary.instead_of(rng, word) if rng.random() < degree.replaced else word)
    return result


def _shuffled(rng: random.Random, words: list[str], degree: _Degree) -> list[str]:
    """The words in pieces that change places with pieces near them."""
    pieces = []
    start = 0
    while start < len(words):
        end = start + 1 + round(rng.expovariate(1 / (degree.piece - 1)))
        pieces.append(words[start:end])
        start = end
    places = [number + rng.uniform(0, degree.reach) for number in range(len(pieces))]
    return [word for _, piece in sorted(zip(places, pieces, strict=True)) for word in piece]
