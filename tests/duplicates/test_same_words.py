"""How texts with the same words differ."""

from __future__ import annotations

import pytest

from simdoc_search.analysis.settings import Analysis
from simdoc_search.duplicates.same_words import describe_character_changes

ONLY_SPACES = "only spaces and line breaks differ"
OTHER_CELLS = "only spaces, line breaks and tabs (as between cells of a table) differ"
MOVED = "“850” moved from column 3 to column 2"
IN_ONE_PLACE = "letter case, punctuation or symbols differ in 1 place:"


@pytest.mark.parametrize(
    ("a", "b", "description"),
    [("pay 5 % now", "pay 5% now", ONLY_SPACES), ("Oui !", "Oui!", ONLY_SPACES), ("a\tb", "a\nb", ONLY_SPACES),
     ("rent\t\t850", "rent\t850\t", MOVED),
     ("rent\t\t850 (a) b", "rent\t850 a b\t", f"“850 a b” moved from column 3 to column 2; {IN_ONE_PLACE} “(a)” / “a”"),
     ("rent\t850\nnow", "rent\t850 now", OTHER_CELLS), ("rent\t5 %", "rent \t5%", ONLY_SPACES),
     ("(a) b", "( a ) b", ONLY_SPACES), ("... a b", "a b", f"{IN_ONE_PLACE} “...” / “”"),
     ("up 5 €", "up 5 $", f"{IN_ONE_PLACE} “5 €” / “5 $”"), ("> 5 up", "5 up", f"{IN_ONE_PLACE} “> 5” / “5”"),
     ("Größe", "Gro\u0308ße", "only the Unicode form of letters differs"),
     ("die Größe", "die\nGro\u0308ße", "only the Unicode form of letters, spaces and line breaks differ"),
     ("a 5 b", "a -5 b", f"{IN_ONE_PLACE} “5” / “-5”")],
)  # fmt: skip
def test_same_words_are_described_by_what_differs(a: str, b: str, description: str) -> None:
    assert description == describe_character_changes(a, b, Analysis())
