"""Servers that answer badly: each call ends in time, with little memory, and says why."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from layerscope.capture.serve_bench import server_http
from layerscope.capture.serve_bench.server_http import ServerAnswerError, ServerHttp

_OK = b"HTTP/1.1 200 OK\r\n"
_LIMIT_S = 0.6


@pytest.fixture
def serve() -> Iterator[Callable[..., ServerHttp]]:
    """`serve(*parts, then=…)` answers one call with these, and then that again and again."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer(parts: tuple[bytes, ...], then: bytes, every_s: float) -> None:
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError):
                connection.recv(4096)
                for part in parts:
                    connection.sendall(part)
                while then:
                    connection.sendall(then)
                    time.sleep(every_s)

        def start(*parts: bytes, then: bytes = b"", every_s: float = 0.0) -> ServerHttp:
            threading.Thread(target=answer, args=(parts, then, every_s), daemon=True).start()
            return ServerHttp(listener.getsockname()[1])

        yield start


def test_an_answer_is_its_body(serve: Callable[..., ServerHttp]) -> None:
    assert serve(_OK, b"Content-Length: 2\r\n\r\nok").get("/health", _LIMIT_S) == b"ok"
    chunks = b"Transfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n"
    assert serve(_OK, chunks).post("/x", {}, _LIMIT_S) == b"ok"
    assert serve(_OK, b"\r\nok").post("/x", None, _LIMIT_S) == b"ok"


@pytest.mark.parametrize(
    ("begin", "said"),
    [
        (_OK + b"\r\n", "gave no whole answer within 0.6 s"),
        (_OK + b"Content-Length: 1000\r\n\r\n", "gave no whole answer within 0.6 s"),
        (_OK + b"X-Long: ", "gave no whole answer within 0.6 s"),
        (b"", "gave no whole answer within 0.6 s"),
        (b"HTTP/1.1 500 No\r\n\r\n", "answered 500: "),
    ],
    ids=["no length", "a length", "headers", "first line", "an error"],
)
def test_an_answer_that_drips_ends_at_the_limit_of_the_whole(
    begin: bytes, said: str, serve: Callable[..., ServerHttp]
) -> None:
    began = time.monotonic()
    with pytest.raises(ServerAnswerError, match=f"/health {said}"):
        serve(begin, then=b"x", every_s=0.1).get("/health", _LIMIT_S)
    assert time.monotonic() - began < 5 * _LIMIT_S


def test_an_answer_without_end_is_not_read_to_its_end(serve: Callable[..., ServerHttp]) -> None:
    with pytest.raises(ServerAnswerError, match="/metrics answered more than 16 MiB"):
        serve(_OK + b"\r\n", then=bytes(1 << 20)).get("/metrics", 30)
    most = server_http._MOST_BYTES
    length = f"Content-Length: {most}\r\n\r\n".encode()
    assert len(serve(_OK, length, bytes(most)).get("/metrics", 30)) == most


def test_an_answer_that_breaks_off_is_none(serve: Callable[..., ServerHttp]) -> None:
    with pytest.raises(ServerAnswerError, match="/metrics broke off 97 bytes before its end"):
        serve(_OK + b"Content-Length: 100\r\n\r\nabc").get("/metrics", _LIMIT_S)
    with pytest.raises(ServerAnswerError, match="/metrics did not answer: "):
        serve(b"\0\xff garbage\r\n\r\n").get("/metrics", _LIMIT_S)
