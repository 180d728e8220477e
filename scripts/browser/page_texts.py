"""Pairs of texts for the checks of pages: contracts, several scripts, hostile texts and long texts."""

from __future__ import annotations

import random
from dataclasses import dataclass

__all__ = ["PAIRS", "Pair"]

_PARTIES = ("the Supplier", "the Customer", "either party", "the Licensee", "the Agent", "the Bank", "the Contractor")
_VERBS = (
    "shall deliver",
    "may terminate",
    "shall indemnify",
    "may assign",
    "shall keep secret",
    "shall insure",
    "may audit",
)
_THINGS = (
    "the Goods listed in Schedule 2",
    "this Agreement and any order placed under it",
    "all Confidential Information received from the other",
    "the Deliverables, together with their documentation",
    "the accounts and records kept under Clause 14",
    "any claim brought by a third party",
)
_WHEN = (
    "within thirty days of written notice",
    "at its own cost and risk",
    "without the prior written consent of the other party",
    "unless the Schedules provide otherwise",
    "on the last working day of each quarter",
    "for a period of two years after termination",
    "up to a total of 250,000 euros a year",
)
_NOTICE = (
    "No failure or delay by a party to exercise any right under this Agreement shall operate as a waiver of that right."
)


@dataclass(frozen=True)
class Pair:
    """Two texts and their names."""

    name: str
    names: tuple[str, str]
    texts: tuple[str, str]


def _sentence(rng: random.Random) -> str:
    party, verb, thing, when = (rng.choice(each) for each in (_PARTIES, _VERBS, _THINGS, _WHEN))
    number = f"{rng.randrange(1, 40)}.{rng.randrange(1, 9)}"
    about = " ".join(
        "".join(rng.choice(("la", "ve", "ro", "min", "ta", "su", "ker")) for _ in range(3)) for _ in range(4)
    )
    return f"Subject to Clause {number}, {party} {verb} {thing} ({about}) {when}."


def _clause(rng: random.Random, number: int) -> str:
    body = " ".join(_sentence(rng) for _ in range(rng.randrange(2, 6)))
    return f"{number}. {body}" + (f" {_NOTICE}" if number % 9 == 0 else "")


def _contract(clauses: int, seed: int, page: int = 0) -> tuple[str, str]:
    """Two versions with changed words, and with moved, new and removed clauses. They may have form feeds."""
    rng = random.Random(seed)
    old = [_clause(rng, number + 1) for number in range(clauses)]
    new = list(old)
    for at in rng.sample(range(clauses), clauses // 12):
        new[at] = rng.choice((new[at].replace(" may ", " may not ", 1), new[at].replace("250,000", "300,000", 1)))
    new[clauses // 2 : clauses // 2] = new[5:9]
    del new[5:9]
    new.insert(clauses // 4, "New clause. " + _clause(rng, 900))
    del new[3 * clauses // 4]

    def joined(parts: list[str]) -> str:
        return "".join(part + ("\f" if page and at % page == page - 1 else "\n\n") for at, part in enumerate(parts))

    return joined(old), joined(new)


_HEBREW = "בראשית ברא אלהים את השמים ואת הארץ והארץ היתה תהו ובהו וחשך על פני תהום ורוח אלהים מרחפת על פני המים"
_ARABIC = (
    "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء"
)
_ENGLISH = (
    "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and "
    "should act towards one another in a spirit of brotherhood."
)
_CHINESE = "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。"
_SHARED = (
    "The translator keeps these words as they are in every edition of the book, whatever else may change between them."
)

_ATTACK = """</style><style>body{display:none}</style><script>document.title="pwned"</script>
"><img src=x onerror="document.title='pwned'"><svg onload="document.title='pwned'">
<a href="javascript:document.title='pwned'">x</a><!-- --> <![CDATA[ ]]> </p></div></main></body></html>
<base href="https://example.org/"><meta http-equiv="refresh" content="0">
&lt;script&gt; &#0; {{7*7}} ${7*7} <iframe srcdoc="<script>parent.document.title='pwned'</script>"></iframe>
"""
_HIDDEN = (
    "pay \u202e000,1\u202c euros \u2066to\u2069 the sel\u200bler \x00 \x1b[31mred\x1b[0m "
    "\ud800 lone \U000e0041 tag \ufeff mark \x85 end"
)


def _hostile() -> tuple[str, str]:
    line = "word " * 100_000 + "x" * 500_000
    a = f"{_ATTACK}\n{_SHARED}\n{_HIDDEN}\n\n{_SHARED} {_SENTENCES}\n{line}"
    return a, a.replace("euros", "pounds").replace("whatever", "whatsoever")


_SENTENCES = " ".join(_sentence(random.Random(3)) for _ in range(2))


def _scripts() -> tuple[str, str]:
    a = [_HEBREW, _SHARED, _ARABIC, _ENGLISH, _CHINESE, f"{_ENGLISH} {_HEBREW}"]
    b = [_ARABIC, _SHARED, _HEBREW.replace("תהו ", ""), _ENGLISH.replace("reason", "wisdom"), _CHINESE, _HEBREW]
    return "\n\n".join(a), "\n\n".join(b)


def _boilerplate() -> tuple[str, str]:
    rng = random.Random(11)
    head = "This file is part of the works. " + _NOTICE + " See the Schedules for the terms that govern it."
    a = [text for at in range(40) for text in (head, _clause(rng, at + 1))]
    b = [text for at in range(40) for text in (head, _clause(rng, at + 1) if at % 4 else a[2 * (39 - at) + 1])]
    return "\n\n".join(a), "\n\n".join(b)


PAIRS = (
    Pair("contract", ("contracts/supply_2023.txt", "contracts/supply_2024.txt"), _contract(240, 7)),
    Pair("pages", ("lease.pdf", "lease_signed.pdf"), _contract(60, 8, page=6)),
    Pair("scripts", ("עברית.txt", "العربية.txt"), _scripts()),
    Pair("boilerplate", ("old.c", "new.c"), _boilerplate()),
    Pair("hostile", ('<b onclick="x">"a"', "\u202eb</title><script>1</script>"), _hostile()),
    Pair("long", ("book_1.txt", "book_2.txt"), _contract(700, 9)),
    Pair("unlike", ("hebrew.txt", "chinese.txt"), (_HEBREW, _CHINESE)),
    Pair("same", ("a.txt", "copy.txt"), (_contract(20, 5)[0],) * 2),
    Pair("empty", ("nothing.txt", "english.txt"), ("", _ENGLISH)),
)
