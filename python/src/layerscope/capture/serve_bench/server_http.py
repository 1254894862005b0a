"""Plain HTTP to a server on this machine: no proxies, no packages, every call with a deadline."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from typing import Any

from layerscope.capture.errors import CaptureError
from layerscope.capture.serve_bench.bench_plan import HOST

# Variables such as http_proxy must not send requests to this machine elsewhere.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


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
                data = answer.read()
                assert isinstance(data, bytes)
                return data
        except urllib.error.HTTPError as error:
            said = error.read(400).decode(errors="replace").strip()
            raise ServerAnswerError(f"{where} answered {error.code}: {said}") from error
        except (
            OSError,
            ValueError,
            http.client.HTTPException,
        ) as error:  # refused, reset, timed out, not HTTP
            raise ServerAnswerError(f"{where} did not answer: {error}") from error
