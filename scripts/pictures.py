"""Draws the pictures of docs/how_it_works.md, and the terminal of the README as docs/getting_started.md shows it.

python scripts/pictures.py docs/pictures
"""

from __future__ import annotations

import re
import sys
from html import escape
from pathlib import Path
from typing import cast

from simdoc_search.query import BandPlan, plan

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #222 }
.faint { fill: #666 } line, polyline { stroke: #999; fill: none } .curve { stroke: #06c; stroke-width: 2.5 }
.other { stroke: #b50; stroke-width: 2.5 } .box { fill: #eef3f8; stroke: #9ab } .kept { fill: #06c; stroke: #06c }
.kept + text { fill: #fff } .same { fill: #cfe8cf; stroke: #585 }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .faint { fill: #aaa } .box { fill: #223; stroke: #567 } .curve { stroke: #6af }
  .other { stroke: #fa5 }
  .kept { fill: #6af; stroke: #6af } .kept + text { fill: #111 } .same { fill: #243; stroke: #7a7 }
}
"""


TERMINAL_STYLE = """
text { font: 13px ui-monospace, monospace; white-space: pre } .bold { font-weight: 600 }
.good { fill: #176d2c } .bad { fill: #a4262c }
@media (prefers-color-scheme: dark) { .good { fill: #7bd88f } .bad { fill: #ff9a8b } }
"""


def main(folder: Path) -> None:
    """Write all pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (title, width, height, body) in {
        "s_curve": ("How likely a document is a candidate, by its overlap", 640, 330, s_curve()),
        "bands": ("Five bands of four tokens: one of them is whole in both", 640, 190, bands()),
        "winnowing": ("The smallest hash of each window is kept", 640, 210, winnowing()),
        "terminal": ("simdoc-search lists the copies in a folder", 1060, 422, terminal()),
        "buckets": ("Each shingle falls into a bucket, each bucket keeps its smallest hash", 640, 190, buckets()),
    }.items():
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
        lines = [head, f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>", *body, "</svg>", ""]
        (folder / f"{name}.svg").write_text("\n".join(lines), "utf-8")


def s_curve() -> list[str]:
    """Two plans, as they are for a document of 512 tokens."""
    left, top, wide, high = 60, 20, 540, 250
    tokens = [f"t{number}" for number in range(512)]
    lines = []
    for number in range(6):
        y, x = top + high * number / 5, left + wide * number / 5
        lines.append(f'<line x1="{left}" y1="{y:.0f}" x2="{left + wide}" y2="{y:.0f}" stroke-width=".5"/>')
        lines.append(f'<text x="{left - 8}" y="{y + 4:.0f}" text-anchor="end">{100 - 20 * number} %</text>')
        lines.append(f'<text x="{x:.0f}" y="{top + high + 18}" text-anchor="middle">{20 * number} %</text>')
    for kind, (overlap, probability), at in (("curve", (0.2, 0.8), (120, 90)), ("other", (0.8, 0.8), (215, 190))):
        made = cast(BandPlan, plan(tokens, overlap, probability))
        chances = [(number / 100, made.probability_of_finding(number / 100)) for number in range(101)]
        points = " ".join(f"{left + wide * x:.1f},{top + high * (1 - y):.1f}" for x, y in chances)
        lines.append(f'<polyline class="{kind}" points="{points}"/>')
        name = f"_{100 * overlap:.0f}_{100 * probability:.0f}: {len(made.bands)} bands of {made.tokens_per_band}"
        lines.append(f'<text x="{left + at[0]}" y="{at[1]}">{name}</text>')
    lines.append(f'<text class="faint" x="{left + wide / 2}" y="{top + high + 42}" text-anchor="middle">overlap</text>')
    return lines


def bands() -> list[str]:
    """Twenty tokens of two documents, of which some are equal."""
    equal = {1, 2, 5, 8, 9, 10, 11, 14, 17, 18}
    lines = []
    for row, name in enumerate(("doc123", "another")):
        y = 50 + 60 * row
        lines.append(f'<text x="8" y="{y + 20}">{name}</text>')
        for place in range(20):
            x = 80 + 26 * place + 8 * (place // 4)
            kind = "same" if place in equal else "box"
            kind = "kept" if place // 4 == 2 else kind
            token = "ABCDEFGHIJKLMNOPQRST"[place] if row == 0 or place in equal else "abcdefghijklmnopqrst"[place]
            lines.append(f'<rect class="{kind}" x="{x}" y="{y}" width="24" height="30" rx="3"/>')
            lines.append(f'<text x="{x + 12}" y="{y + 20}" text-anchor="middle">{token}</text>')
    for band in range(5):
        lines.append(f'<text class="faint" x="{80 + 112 * band}" y="35">band {band + 1}</text>')
    lines.append(said(80, 170, "Band 3 is whole in both: a candidate. Single matching tokens are not enough."))
    return lines


def winnowing() -> list[str]:
    """Windows of four hashes in a row of eleven."""
    values = [77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74]
    size, kept = 4, set()
    for start in range(len(values) - size + 1):
        window = values[start : start + size]
        kept.add(start + size - 1 - window[::-1].index(min(window)))
    lines = [said(20, 28, "hashes of a text's shingles, in their order")]
    for place, value in enumerate(values):
        x, kind = 20 + 43 * place, "kept" if place in kept else "box"
        lines.append(f'<rect class="{kind}" x="{x}" y="45" width="38" height="34" rx="3"/>')
        lines.append(f'<text x="{x + 19}" y="67" text-anchor="middle">{value}</text>')
    for start in range(4):
        x, y = 20 + 43 * start, 100 + 14 * start
        lines.append(f'<line x1="{x}" y1="{y}" x2="{x + 43 * size - 5}" y2="{y}" stroke-width="3"/>')
    lines.append(said(20, 172, "windows of four: each keeps its smallest,"))
    lines.append(said(20, 192, "so whoever shares a window shares a kept hash"))
    return lines


def buckets() -> list[str]:
    """Nine shingles in four buckets."""
    fallen = {0: [31, 12], 1: [55], 2: [78, 64, 90], 3: [44, 27, 83]}
    lines = [
        '<text class="faint" x="20" y="28">hashes of a text\'s shingles, by the bucket into which each falls</text>'
    ]
    for bucket, values in fallen.items():
        x = 20 + 155 * bucket
        lines.append(f'<text x="{x}" y="60">bucket {bucket + 1}</text>')
        for place, value in enumerate(values):
            kind = "kept" if value == min(values) else "box"
            lines.append(f'<rect class="{kind}" x="{x + 46 * place}" y="70" width="42" height="34" rx="3"/>')
            lines.append(f'<text x="{x + 46 * place + 21}" y="92" text-anchor="middle">{value}</text>')
    lines.append(said(20, 140, "Each keeps its smallest. Two texts have the same smallest hash in a bucket"))
    lines.append(said(20, 160, "with just the probability of their overlap."))
    return lines


def terminal() -> list[str]:
    """The first command of the tutorial and its output, which a test compares with that of the command."""
    page = (Path(__file__).parents[1] / "docs" / "getting_started.md").read_text("utf-8")
    shown = re.findall(r"^```console\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)[0]
    colours = {"keep": "good", "drop": "bad", "$": "bold"}
    lines = [f"<style>{TERMINAL_STYLE}</style>", '<rect class="box" x="0.5" y="0.5" width="1059" height="421" rx="8"/>']
    for number, line in enumerate(shown.splitlines()):
        colour = colours.get((line.split() or [""])[0], "plain")
        lines.append(f'<text class="{colour}" x="20" y="{36 + 24 * number}">{escape(line)}</text>')
    return lines


def said(x: int, y: int, text: str) -> str:
    """A line of words."""
    return f'<text class="faint" x="{x}" y="{y}">{escape(text)}</text>'


if __name__ == "__main__":
    main(Path(sys.argv[1]))
