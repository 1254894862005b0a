"""What clients do to a viewer's server that others must not feel: parts of server_test.py."""

import os
import socket
import time

from e2e import ROOT
from view_server import view

EXAMPLE = ROOT / "examples/qwen3_8b_h100_vllm.json.gz"
SANITIZED = os.environ.get("LAYERSCOPE_SANITIZED") == "1"
N_SLOW = 20


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as one:
            one.bind(("::1", 0))
        return True
    except OSError:
        return False


def check_slow(tally):
    """Half-sent requests hang, and an honest one is served at once; in the end they are cut off."""
    with view([EXAMPLE]) as server:
        hanging = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(N_SLOW)]
        for one in hanging:
            one.sendall(b"GET /api/view HTTP/1.1\r\nHost: local")
        began = time.monotonic()
        for _ in range(10):
            tally.equal("served beside half-sent requests", server.get("/api/view")[0], 200)
        took = time.monotonic() - began
        tally.holds(f"ten answers at once, not after {took:.2f} s", took < (20 if SANITIZED else 5))
        # A byte now and then does not keep a request alive.
        began = time.monotonic()
        for one in hanging:
            one.settimeout(1)
        alive = set(range(N_SLOW))
        while alive and time.monotonic() - began < 60:
            for i in sorted(alive):
                try:
                    hanging[i].sendall(b"h")
                    hanging[i].settimeout(0.01)
                    if hanging[i].recv(1024) == b"":
                        alive.discard(i)
                except TimeoutError:
                    pass
                except OSError:
                    alive.discard(i)
            time.sleep(0.5)
        tally.equal("half-sent requests that are still open", len(alive), 0)
        for one in hanging:
            one.close()


def check_flood(tally):
    """More connections than are taken: honest ones still get in."""
    with view([EXAMPLE]) as server:
        hanging = []
        for _ in range(400):
            one = socket.create_connection(("127.0.0.1", server.port))
            one.sendall(b"GET ")
            hanging.append(one)
        began = time.monotonic()
        for _ in range(5):
            tally.equal("served beside 400 connections", server.get("/api/view")[0], 200)
        tally.holds("served at once", time.monotonic() - began < (20 if SANITIZED else 5))
        for one in hanging:
            one.close()


def check_descriptors(tally):
    """A flood that takes the last descriptor, on one address and then on the other, ends neither."""
    addresses = ["127.0.0.1"] + (["::1"] if has_ipv6() else [])
    with view([EXAMPLE], descriptors=40) as server:
        hanging = []
        for address in addresses:
            hanging += [socket.create_connection((address, server.port)) for _ in range(60)]
            time.sleep(0.3)
        for one in hanging:
            one.close()
        for address in addresses * 2:
            connection = server.connection(address, timeout=10)
            try:
                connection.request("GET", "/api/view", headers={
                    "Authorization": f"Bearer {server.token}", "Host": f"localhost:{server.port}"})
                answer = connection.getresponse().status
            except OSError as error:
                answer = repr(error)
            finally:
                connection.close()
            tally.equal(f"{address}: served after the flood", answer, 200)
