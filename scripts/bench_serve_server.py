"""A real `simdoc-search serve`, and requests to it as bytes."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

__all__ = ["PATIENCE", "Answer", "Server", "answer", "get", "post", "with_text"]

MB = 1_000_000
PATIENCE = 300.0  # seconds until an attacker gives up

Answer = tuple[int, float]
"""The status, 0 if the connection ended without one, and the seconds until the answer was complete."""


class Server:
    """A server in a process of its own, over the store in a folder."""

    def __init__(self, store: Path) -> None:
        command = [sys.executable, "-m", "simdoc_search", "serve", "--port", "0", "--store", str(store)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        line = self._process.stdout.readline() if self._process.stdout else ""
        found = re.search(r":(\d+)/", line)
        if found is None:
            raise SystemExit(f"the server does not start: {line}")
        self.port = int(found[1])

    def end(self) -> tuple[float, float]:
        """End it; the seconds that it computed, and its peak memory in MB."""
        process = Path(f"/proc/{self._process.pid}")
        ticks = process.joinpath("stat").read_text("ascii").rpartition(")")[2].split()[11:13]
        peak = process.joinpath("status").read_text("ascii").partition("VmHWM:")[2].split()[0]
        self._process.send_signal(signal.SIGINT)
        self._process.communicate(timeout=60)
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"), int(peak) / 1000

    async def ask(self, request: bytes) -> Answer:
        """Send a request on a connection of its own, and read the answer."""
        began = time.monotonic()
        status = 0
        with suppress(OSError, asyncio.TimeoutError):
            async with self.connection() as (reader, writer):
                with suppress(ConnectionError):  # the server may answer before it has read everything
                    writer.write(request)
                    await asyncio.wait_for(writer.drain(), PATIENCE)
                status, _ = await asyncio.wait_for(answer(reader), PATIENCE)
        return status, time.monotonic() - began

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """A connection, which is closed at the end of the block."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            yield reader, writer
        finally:
            writer.transport.abort()


async def answer(reader: asyncio.StreamReader) -> tuple[int, int]:
    """Read an answer: its status and the bytes of its body; a status of 0 if the connection ends before it."""
    head = b""
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        head = await reader.readuntil(b"\r\n\r\n")
    if not head:
        return 0, 0
    length = re.search(rb"content-length: (\d+)", head.lower())
    left = int(length[1]) if length else 0
    with suppress(ConnectionError):
        while left and (piece := await reader.read(min(left, MB))):
            left -= len(piece)
    return int(head.split()[1]), int(length[1]) if length else 0


def get(path: str, *headers: str) -> bytes:
    """A request for an address."""
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: localhost", *headers, "", ""]).encode()


def post(path: str, body: bytes, kind: str = "application/json", *headers: str) -> bytes:
    """A request with a body."""
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, *headers, "", ""]).encode() + body


def with_text(path: str, content: str, **values: str) -> bytes:
    """A request with a text."""
    return post(path, json.dumps({"text": content, **values}, ensure_ascii=False).encode())
