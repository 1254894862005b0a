"""Plain HTTP to a server on this machine: no proxies, no packages, every call with a deadline."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import time
import urllib.error
import urllib.request
from typing import Any

from layerscope.capture.errors import CaptureError
from layerscope.capture.serve_bench.bench_plan import HOST

_MOST_BYTES = 16 << 20  # of an answer; the metrics of vLLM, the longest that is read, are 0.1 MB


class _TimedSocket(socket.socket):
    """The same connection, on which a time is that of all reads together."""

    def __init__(self, connection: socket.socket, timeout_s: float) -> None:
        self._ends = time.monotonic() + timeout_s
        super().__init__(fileno=connection.detach())

    def recv_into(self, *arguments: Any) -> int:
        left_s = self._ends - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("timed out")
        self.settimeout(left_s)
        return super().recv_into(*arguments)


class _Connection(http.client.HTTPConnection):
    def connect(self) -> None:
        super().connect()
        assert self.timeout is not None
        self.sock = _TimedSocket(self.sock, self.timeout)


class _Handler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Connection, req)


# Variables such as http_proxy must not send requests to this machine elsewhere.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Handler)


# Refused, reset, timed out, not HTTP.
_FAILURES = (OSError, ValueError, http.client.HTTPException)


class ServerAnswerError(CaptureError):
    """The server answered with an error, or not at all."""


class ServerHttp:
    """The server at one port."""

    def __init__(self, port: int) -> None:
        self.base = f"http://{HOST}:{port}"

    def get(self, path: str, timeout_s: float) -> bytes:
        """The body of an answer 200. Errors: `ServerAnswerError`."""
        return self._call(urllib.request.Request(self.base + path), timeout_s)

    def post(self, path: str, body: Any, timeout_s: float) -> bytes:
        """The same for a POST of JSON, or of nothing where `body` is None."""
        data = b"" if body is None else json.dumps(body).encode()
        headers = {} if body is None else {"Content-Type": "application/json"}
        request = urllib.request.Request(self.base + path, data, headers, method="POST")
        return self._call(request, timeout_s)

    def _call(self, request: urllib.request.Request, timeout_s: float) -> bytes:
        where = request.full_url
        try:
            with _OPENER.open(request, timeout=timeout_s) as answer:
                data = answer.read(_MOST_BYTES + 1)
                assert isinstance(data, bytes)
        except urllib.error.HTTPError as error:
            raise ServerAnswerError(f"{where} answered {error.code}: {_said(error)}") from error
        except TimeoutError as error:
            raise ServerAnswerError(
                f"{where} gave no whole answer within {timeout_s:g} s"
            ) from error
        except _FAILURES as error:
            raise ServerAnswerError(f"{where} did not answer: {error}") from error
        if len(data) > _MOST_BYTES:
            raise ServerAnswerError(f"{where} answered more than {_MOST_BYTES >> 20} MiB")
        if answer.length:
            raise ServerAnswerError(f"{where} broke off {answer.length} bytes before its end")
        return data


def _said(error: urllib.error.HTTPError) -> str:
    with contextlib.suppress(*_FAILURES):
        return error.read(400).decode(errors="replace").strip()
    return ""
