"""Keyphrases of a text by YAKE, and where it has them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

from simdoc_search.chunks.paragraphs import paragraph_spans
from simdoc_search.concepts.names import by_paragraph, names_in
from simdoc_search.errors import MissingExtraError

LANGS = "ar bg br cz da de el en es et fa fi fr hi hr hu hy id it ja lt lv nl no pl pt ro ru sk sl sv tr uk zh".split()
TOP = 60
NG = 3
@cache
def yk(lan: str, n: int = 3, top: int = 60) -> Any:
    import yake
    return yake.KeywordExtractor(lan=lan, n=n, dedup_lim=1.0, top=top)

W = re.compile(r"\w+(?:[’'\-]\w+)*")

def language(text: str) -> str:
    c = Counter(w.lower() for w in W.findall(text[:20000]))
    best = max(LANGS, key=lambda l: sum(c[w] for w in yk(l).stopword_set & c.keys()))
    return best

def phrases(text, top, n):
    return [p for p, _ in yk(language(text), n, top).extract_keywords(text[:60000])]

def places(text, phr):
    byfirst = {}
    for p in phr:
        ws = tuple(W.findall(p.lower()))
        if ws: byfirst.setdefault(ws[0], []).append(ws)
    for l in byfirst.values(): l.sort(key=len, reverse=True)
    toks = [(m.start(), m[0].lower()) for m in W.finditer(text)]
    ws = [t[1] for t in toks]
    out = []
    i = 0
    while i < len(ws):
        step = 1
        for cand in byfirst.get(ws[i], ()):
            if tuple(ws[i:i+len(cand)]) == cand:
                out.append((toks[i][0], " ".join(cand))); step = len(cand); break
        i += step
    return out
