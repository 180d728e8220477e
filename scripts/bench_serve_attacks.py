"""What scripts/bench_serve.py sends: many connections at once, and attacks."""

from __future__ import annotations

import asyncio
import random
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench_serve_server import PATIENCE, Answer, Server, answer, get, post, with_text

from tests.support.texts import text

__all__ = ["CASES", "Case", "letters"]

REQUESTS = 20  # of each connection of a load

Case = Callable[[Server], Awaitable[list[Answer]]]


# --- many connections ---


async def many(server: Server, connections: int, requests: int) -> list[Answer]:
    """Connections that are all open before the first one asks, and ask several times each."""
    rng = random.Random("many")
    mixed = [
        get("/static/site.css"),
        get("/status.json"),
        *(get(f"/similar.json?q=doc{rng.randrange(1000)}_20") for _ in range(4)),
        *(get(f"/passages.json?id=doc{rng.randrange(1000)}") for _ in range(2)),
        *(with_text("/similar.json", text(rng, 300)) for _ in range(2)),
    ]
    everybody = asyncio.Event()
    opened = 0

    async def one(number: int) -> list[Answer]:
        nonlocal opened
        answers: list[Answer] = []
        with suppress(OSError, asyncio.TimeoutError):
            async with server.connection() as (reader, writer):
                opened += 1
                if opened == connections:
                    everybody.set()
                await everybody.wait()
                for each in range(requests):
                    began = time.monotonic()
                    with suppress(ConnectionError):
                        writer.write(mixed[(number + each) % len(mixed)])
                        await writer.drain()
                    status, _ = await asyncio.wait_for(answer(reader), PATIENCE)
                    answers.append((status, time.monotonic() - began))
                    if status in (0, 503):
                        break
        return answers or [(0, 0.0)]

    return [each for answers in await asyncio.gather(*map(one, range(connections))) for each in answers]


async def load(server: Server) -> list[Answer]:
    """100 connections at once, 20 requests each."""
    return await many(server, 100, REQUESTS)


async def flood(server: Server) -> list[Answer]:
    """400 connections at once, one request each."""
    return await many(server, 400, 1)


# --- attacks ---


async def together(server: Server, requests: Sequence[bytes]) -> list[Answer]:
    """Each on a connection of its own."""
    return list(await asyncio.gather(*map(server.ask, requests)))


def texts(content: Callable[[], str], path: str = "/similar.json", count: int = 4) -> Case:
    """The same text several times at once."""

    async def case(server: Server) -> list[Answer]:
        return await together(server, [with_text(path, content())] * count)

    return case


def bodies(body: Callable[[], bytes], kind: str = "application/json", count: int = 4) -> Case:
    """The same body several times at once."""

    async def case(server: Server) -> list[Answer]:
        return await together(server, [post("/similar.json", body(), kind)] * count)

    return case


def addresses(path: str, count: int = 4, *headers: str) -> Case:
    """The same address several times at once."""

    async def case(server: Server) -> list[Answer]:
        return await together(server, [get(path, *headers)] * count)

    return case


async def unread(server: Server) -> list[Answer]:
    """60 connections that never read the answers to what they ask, and 50 more after a minute."""
    asks = get("/static/site.css") * 2000
    with ExitStack() as opened:
        for _ in range(60):
            deaf = opened.enter_context(socket.socket())
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # so that little waits in the system
            deaf.connect(("127.0.0.1", server.port))
            deaf.sendall(asks)
            await asyncio.sleep(0.1)
        await asyncio.sleep(60)
        return await many(server, 50, 1)


async def slow_bodies(server: Server) -> list[Answer]:
    """120 connections that send a byte of their body per second, and 20 more after 30 seconds."""
    head = b"POST /similar.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"

    async def slow() -> None:
        with suppress(OSError):
            async with server.connection() as (_, writer):
                writer.write(head)
                while not writer.is_closing():
                    writer.write(b"x")
                    await asyncio.sleep(1)

    slows = [asyncio.create_task(slow()) for _ in range(120)]
    await asyncio.sleep(30)
    answers = await many(server, 20, 1)
    for each in slows:
        each.cancel()
    return answers


async def tiny_chunks(server: Server) -> list[Answer]:
    """A body in chunks of one byte."""
    head = b"POST /similar.json HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    return await together(server, [head + b"1\r\nx\r\n" * 2_000_000 + b"0\r\n\r\n"] * 4)


async def gone(server: Server) -> list[Answer]:
    """40 costly questions of somebody who does not wait for the answers, and then one who does."""
    rng = random.Random("gone")
    asks = with_text("/similar.json", text(rng, 800_000))
    for _ in range(40):
        with suppress(OSError):
            async with server.connection() as (_, writer):
                writer.write(asks)
                await writer.drain()
                await asyncio.sleep(0.05)
    return await many(server, 4, 1)


def parts(count: int) -> bytes:
    """A multipart body of many small parts."""
    return b'--y\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n' * count + b"--y--\r\n"


def letters(count: int, rng: random.Random) -> str:
    """Words of one letter."""
    return " ".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=count))


RNG = random.Random("attacks")
FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data; boundary=y"
CASES: dict[str, Case] = {
    "load": load,
    "flood": flood,
    "prose": texts(lambda: text(RNG, 3_000_000)),
    "ligatures": texts(lambda: "\ufdfa" * 6_600_000),
    "ligatures-spaced": texts(lambda: "\ufdfa " * 4_900_000),
    "marks": texts(lambda: "a" + "\u0301\u0323" * 4_900_000),
    "soft-hyphens": texts(lambda: "a" + "\u00ad" * 9_900_000),
    "underscores": texts(lambda: "_ " * 9_900_000),
    "flags": texts(lambda: "\U0001f1e9" * 4_900_000),
    "quotation-marks": texts(lambda: 'א"א ' * 2_500_000),
    "letters": texts(lambda: letters(9_900_000, RNG)),
    "passages-letters": texts(lambda: letters(990_000, RNG), "/passages.json"),
    "passages-han": texts(lambda: "".join(map(chr, RNG.choices(range(0x4E00, 0x9E00), k=1_900_000))), "/passages.json"),
    "json-lists": bodies(lambda: b'{"a":[' + b"[]," * 6_600_000 + b"[]]}"),
    "json-numbers": bodies(lambda: b'{"a":[' + b"1," * 9_900_000 + b"1]}"),
    "json-names": bodies(lambda: b"{" + b",".join(b'"%d":1' % each for each in range(1_600_000)) + b"}"),
    "json-deep": bodies(lambda: b"[" * 19_000_000),
    "json-digits": bodies(lambda: b'{"a":' + b"9" * 19_000_000 + b"}"),
    "json-escapes": bodies(lambda: b'{"text":"' + b"\\u4e00" * 3_300_000 + b'"}'),
    "form-fields": bodies(lambda: b"a=b&" * 4_900_000, FORM),
    "form-escapes": bodies(lambda: b"text=" + b"%41" * 6_600_000, FORM),
    "parts": bodies(lambda: parts(350_000), MULTIPART),
    "part-headers": bodies(lambda: b"--y\r\n" + b"a:b\r\n" * 3_900_000, MULTIPART),
    "part-returns": bodies(lambda: parts(1)[:-7] + b"\r" * 19_000_000, MULTIPART),
    "long-id": bodies(lambda: b'{"id":"' + b"_1" * 9_000_000 + b'"}'),
    "filters": bodies(lambda: b'{"text":"a b c d e f","filter":[' + b'"a=b",' * 10_000 + b'"a=b"]}', count=20),
    "long-query": addresses("/similar.json?id=doc1&" + "filter=a=b&" * 5_000, 20),
    "cookie": addresses("/status.json", 20, "Cookie: simdoc=" + '"' + "\\\\" * 30_000),
    "headers": addresses("/status.json", 20, *(f"X-{number}: y" for number in range(5_000))),
    "far-page": addresses("/similar.json?id=doc1&size=200&offset=10000", 20),
    "compare": addresses("/compare?a=large0&b=large1", 4),
    "compare-letters": addresses("/compare.json?a=letters0&b=letters1", 4),
    "tiny-chunks": tiny_chunks,
    "slow-bodies": slow_bodies,
    "unread": unread,
    "gone": gone,
}
