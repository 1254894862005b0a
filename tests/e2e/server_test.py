#!/usr/bin/env python3
"""`layerscope view`: every answer is what the command line prints, byte for byte, and nobody gets one who
should not, or keeps others from theirs.

Expected bodies are the output of the verbs themselves, which other tests check.
"""

import concurrent.futures
import json
import pathlib
import signal
import socket
import tempfile
import threading
import time
import urllib.parse

from e2e import ROOT, Parts, program, shared
from generated import GRID, generate
from server_load import check_descriptors, check_flood, check_slow, has_ipv6
from view_server import view

EXAMPLE = ROOT / "examples/qwen3_8b_h100_vllm.json.gz"
REPLAYS = ROOT / "examples/qwen3_8b_mi300_sglang"
SLICES = (
    "summary", "info", "passes", "layers", "layers?all-passes", "steps", "overhead", "modules",
    "modules?depth=3", "modules?no-collapse", "modules?depth=2&no-comm", "modules?pass=0", "modules?step=0",
    "kernels", "kernels?n=20", "kernels?by=category", "kernels?layer=1", "kernels?layer=0&compare-layer=1",
    "kernels?sort=n:asc&n=5", "ranges?pass=0", "timeline", "timeline?bins=100", "steps?by=module",
    "modules?device=0", "layers?device=0", "passes?num-layers=7", "summary?phase=decode",
)
# These have no option that says what the model is.
WITHOUT_MODEL = ("info", "overhead")


def arguments_of(key):
    """The command line that a slice stands for."""
    verb, _, query = key.partition("?")
    arguments = [verb]
    for pair in filter(None, query.split("&")):
        name, equals, value = pair.partition("=")
        arguments.append(f"-{name}" if len(name) == 1 else f"--{name}")
        if equals:
            arguments.append(urllib.parse.unquote(value))
    return arguments


def printed(key, inputs, options=()):
    verb, *rest = arguments_of(key)
    if verb in WITHOUT_MODEL:
        options = ()
    return program.run([verb, *inputs, *options, *rest, "--format", "json"], cwd=ROOT)


def compare(tally, server, inputs, options=(), keys=SLICES):
    verbs = json.loads(server.get("/api/view")[2])["analyses"]
    for key in keys:
        if key.partition("?")[0] not in verbs:
            tally.holds(f"{key}: the server has the verb", False)
            continue
        status, _, body = server.get(f"/api/analysis/{key}")
        done = printed(key, inputs, options)
        tally.holds(f"{key}: {status} {body[:200]!r} is what the command line prints",
                    body.decode() == done.stdout)
        tally.equal(f"{key}: status", status == 200, done.exit == 0)


def check_same(tally, inputs, options=()):
    with view(inputs, *options) as server:
        compare(tally, server, inputs, options)
        # Again, from the cache and in another order.
        compare(tally, server, inputs, options, tuple(reversed(SLICES)))
        status, _, body = server.get("/api/document/map")
        document = program.run(["map", *inputs, *options], cwd=ROOT)
        tally.equal("map: status", status, 200)
        tally.holds("map: is what the command line prints", body.decode() == document.stdout)
        tally.equal("exit", server.stop(), 0)


def check_refusals(tally):
    with view([EXAMPLE]) as server:
        good = f"localhost:{server.port}"
        cases = [
            ("no token", {"token": False}, 403), ("wrong token", {"token": "0" * 48}, 403),
            ("part of the token", {"token": server.token[:-1]}, 403),
            ("foreign host", {"host": f"evil.example:{server.port}"}, 403),
            ("another port", {"host": "localhost:1"}, 403), ("no port", {"host": "localhost"}, 403),
            ("empty host", {"host": ""}, 403),
            ("foreign origin", {"origin": "http://evil.example"}, 403), ("null origin", {"origin": "null"}, 403),
            ("own origin", {"origin": f"http://{good}"}, 200), ("by number", {"host": f"127.0.0.1:{server.port}"}, 200),
            ("by IPv6", {"host": f"[::1]:{server.port}"}, 200),
            ("POST", {"method": "POST"}, 405), ("PUT", {"method": "PUT", "body": b"x"}, 405),
            ("OPTIONS", {"method": "OPTIONS", "origin": "http://evil.example"}, 403),
            ("DELETE", {"method": "DELETE"}, 405), ("a body", {"body": b"x" * 100}, 413),
            ("a large body", {"body": b"x" * 5_000_000}, 413),
            ("a large header", {"headers": [("X-Large", "x" * 100_000)]}, 431),
            ("many headers", {"headers": [(f"X-{i}", "x" * 50) for i in range(2000)]}, 431),
            ("two hosts", {"headers": [("Host", good)]}, 403),
            ("two origins", {"origin": f"http://{good}", "headers": [("Origin", "http://evil.example")]}, 403),
            ("two tokens", {"headers": [("Authorization", "Bearer 0")]}, 403),
        ]
        for name, how, wanted in cases:
            try:
                status = server.get("/api/view", **how)[0]
            except OSError as error:
                # A client that sends megabytes may be cut off before it reads why.
                status = wanted if name in ("a large body", "many headers", "a large header") else repr(error)
            tally.equal(f"{name}: status", status, wanted)
        for target, wanted in (("/..", 404), ("/../../etc/passwd", 404), ("/%2e%2e/%2e%2e/etc/passwd", 404),
                               ("//", 404), ("//etc/passwd", 404), ("/api//view", 404), ("/api/view/", 404),
                               ("/api/view%00", 404), ("/api/view?x=%00", 400), ("/api/view?x=%zz", 400),
                               ("/api/analysis/../view", 404), ("/api/analysis/%2e%2e", 404),
                               ("/api/analysis/report", 404), ("/api/document/requests", 404),
                               ("/api/analysis/modules?config=/etc/passwd", 400),
                               ("/api/analysis/modules?rules=/etc/passwd", 400),
                               ("/api/analysis/modules?output=/tmp/x", 400),
                               ("/api/analysis/modules?depth=1&depth=2", 400),
                               ("/api/analysis/modules?match=" + ".*" * 40 + "Q", 400),
                               ("/" + "a" * 30_000, 414), (f"http://{good}/api/view", 400),
                               ("/api/analysis/modules?depth=many", 400), ("/api/analysis/kernels?layer=999", 404)):
            tally.equal(f"{target[:60]}: status", server.get(target)[0], wanted)
        status, headers, body = server.get("/api/analysis/kernels?by=nothing")
        tally.equal("a wrong value: status", status, 400)
        tally.holds("a wrong value: the error is the command line's",
                    json.loads(body)["error"] == json.loads(printed("kernels?by=nothing", [EXAMPLE]).stdout)["error"])
        for name in ("Access-Control-Allow-Origin", "Server"):
            tally.holds(f"no header {name}", name not in headers)
        for name, value in (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
                            ("Referrer-Policy", "no-referrer"), ("X-Frame-Options", "DENY")):
            tally.equal(f"header {name}", headers.get(name), value)
        status, headers, body = server.get("/api/view", method="HEAD")
        tally.equal("HEAD: status, body", (status, body), (200, b""))
        tally.equal("HEAD: length", headers["Content-Length"], str(len(server.get("/api/view")[2])))
        check_bytes(tally, server)


def check_bytes(tally, server):
    """What is no HTTP, and NULs in it."""
    for sent in (b"\0\0\0\0\r\n\r\n", b"GET /\0 HTTP/1.1\r\nHost: localhost\r\n\r\n", b"hello\r\n\r\n",
                 b"GET / HTTP/9.9\r\n\r\n", b"GET /api/view HTTP/1.1\r\nHost: a\0b\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as plain:
            plain.sendall(sent)
            answer = plain.recv(4096)
            tally.holds(f"{sent[:20]!r} is refused: {answer[:30]!r}",
                        answer == b"" or answer.split(b" ")[1] in (b"400", b"403", b"505"))
    tally.equal("still serves", server.get("/api/view")[0], 200)


def check_page(tally):
    with view([EXAMPLE]) as server:
        status, headers, body = server.get(f"/?token={server.token}", token=False)
        if status == 404:
            tally.holds("without a viewer the page says how to get one", b"Node" in body)
            return
        policy = headers["Content-Security-Policy"]
        tally.equal("page: status", status, 200)
        tally.holds("page: its scripts have the policy's nonce",
                    policy.partition("script-src 'nonce-")[2].partition("'")[0].encode() in body)
        tally.holds("page: nothing may frame it, nothing else is loaded",
                    "frame-ancestors 'none'" in policy and "default-src 'none'" in policy)
        again = server.get("/")[1]["Content-Security-Policy"]
        tally.holds("page: another nonce each time", again != policy)


def check_many(tally):
    """100 clients at a time, each with questions of its own order, get the right answers."""
    keys = [key for key in SLICES if "num-layers" not in key]
    expected = {key: printed(key, [EXAMPLE]).stdout for key in keys}
    with view([EXAMPLE]) as server:
        start = threading.Barrier(100)

        def ask(i):
            start.wait(timeout=60)
            wrong = []
            connection = server.connection(timeout=120)
            for k in range(6):
                key = keys[(i * 7 + k * 5) % len(keys)]
                connection.request("GET", f"/api/analysis/{key}", headers={
                    "Authorization": f"Bearer {server.token}", "Host": f"localhost:{server.port}"})
                if connection.getresponse().read().decode() != expected[key]:
                    wrong.append(key)
            connection.close()
            return wrong

        with concurrent.futures.ThreadPoolExecutor(100) as pool:
            for i, wrong in enumerate(pool.map(ask, range(100))):
                tally.equal(f"client {i}: wrong answers", wrong, [])


def check_end(tally):
    for number in (signal.SIGINT, signal.SIGTERM):
        with view([EXAMPLE]) as server:
            server.get("/api/analysis/summary")
            idle = server.connection()
            idle.request("GET", "/api/view", headers={"Authorization": f"Bearer {server.token}"})
            idle.getresponse().read()
            began = time.monotonic()
            tally.equal(f"{number.name}: exit", server.stop(number), 0)
            tally.holds(f"{number.name}: at once", time.monotonic() - began < 5)
            errors = server.process.stderr.read()
            tally.holds(f"{number.name}: no complaint: {errors}", "error" not in errors and "Sanitizer" not in errors)
            with socket.socket() as taker:
                taker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                taker.bind(("127.0.0.1", server.port))
                tally.holds(f"{number.name}: the port is free", True)


def check_ports(tally):
    with view([EXAMPLE]) as first:
        taken = program.run(["view", EXAMPLE, "--no-open", "--port", str(first.port)])
        tally.equal("a taken port: exit", taken.exit, 1)
        tally.holds(f"a taken port: says so: {taken.stderr}", f"port {first.port} is taken" in taken.stderr)
        answers = [first.get("/api/view", address="::1")[0]] if has_ipv6() else [200]
        tally.equal("on ::1 too", answers, [200])
        with socket.socket() as outside:
            outside.settimeout(2)
            address = outside_address()
            if address is not None:
                tally.holds("not on the machine's own address",
                            outside.connect_ex((address, first.port)) != 0)
    with socket.socket() as usual:
        try:
            usual.bind(("127.0.0.1", 8787))
            usual.listen()
        except OSError:
            pass
        process = program.binary()
        with view([EXAMPLE], "--port", "0") as other:
            tally.holds(f"{process.name}: another port", other.port != 8787)


def outside_address():
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.connect(("192.0.2.1", 9))
            address = one.getsockname()[0]
        return None if address.startswith("127.") else address
    except OSError:
        return None


def check_documents(tally, folder):
    finished = folder / "model_execution.json"
    finished.write_text('{"model": "m", "module_tree": {}, "layers": 1, "ops_per_layer": NaN}', encoding="utf-8")
    with view([finished]) as server:
        index = json.loads(server.get("/api/view")[2])
        tally.equal("documents", index["documents"], ["map"])
        tally.equal("analyses", index["analyses"], [])
        status, _, body = server.get("/api/document/map")
        tally.equal("map", (status, json.loads(body)),
                    (200, {"model": "m", "module_tree": {}, "layers": 1, "ops_per_layer": None}))
    requests = folder / "requests"
    requests.mkdir()
    for name in ("fast.json", "slow.json"):
        generate(requests / name, "--layers 2 --passes 2 --seed 5")
    with view([requests]) as server:
        tally.equal("documents of single requests", json.loads(server.get("/api/view")[2])["documents"], ["requests"])
        tally.holds("requests: is what the command line prints",
                    server.get("/api/document/requests")[2].decode() == program.run(["requests", requests]).stdout)


def check_workload(tally, bench, metrics):
    with view([bench, metrics]) as server:
        tally.equal("documents", json.loads(server.get("/api/view")[2])["documents"], ["workload"])
        tally.holds("workload: is what the command line prints",
                    server.get("/api/document/workload")[2].decode() ==
                    program.run(["workload", bench, metrics]).stdout)


def check_large_workload(tally, folder):
    """What is too large with the times of single tokens is shown without them, and read once: from a pipe too."""
    n, tokens = 1000, 500
    bench = folder / "large_bench.json"
    bench.write_text(json.dumps({
        "backend": "vllm", "model_id": "m", "num_prompts": n, "completed": n, "duration": 10.0, "request_rate": "inf",
        "input_lens": [5] * n, "output_lens": [tokens] * n, "ttfts": [0.5] * n,
        "itls": [[0.001234567] * (tokens - 1)] * n, "errors": [""] * n}), encoding="utf-8")
    metrics = folder / "large_metrics.txt"
    metrics.write_text("# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 1.0\n", encoding="utf-8")
    whole = json.loads(program.run(["workload", bench, "--prometheus", metrics]).stdout)
    tally.holds("the document with them is large", len(json.dumps(whole)) > 4 << 20)
    for request in whole["requests"]:
        request["itl_ns"] = None
    with bench.open("rb") as stdin, view([], "--bench", "-", "--prometheus", metrics, stdin=stdin) as server:
        shown = json.loads(server.get("/api/document/workload")[2])
        shown["sources"][0]["path"] = whole["sources"][0]["path"]
        tally.holds("all but the times of single tokens is what the command line prints", shown == whole)
        tally.equal("inputs", json.loads(server.get("/api/view")[2])["inputs"],
                    [{"path": path, "kind": "workload", "rank": None} for path in ("-", str(metrics))])


def main():
    parts = Parts("server")
    parts.run("the example", check_same, [EXAMPLE])
    parts.run("replays and side files", check_same, [REPLAYS])
    with tempfile.TemporaryDirectory(prefix="layerscope-server-") as name:
        folder = pathlib.Path(name)
        for feature in ("graph", "together", "cpu_only", "profiler_steps"):
            generate(folder / f"{feature}.json.gz", GRID[feature])
            parts.run(feature, check_same, [folder / f"{feature}.json.gz"])
        ranks = folder / "ranks"
        ranks.mkdir()
        for rank in (0, 1):
            generate(ranks / f"rank{rank}.json", f"--layers 2 --passes 3 --seed {rank} --tp 2")
        parts.run("two ranks", check_same, [ranks])
        parts.run("options of the start", check_same, [EXAMPLE], ["--num-layers", "36", "--tp", "1"])
        parts.run("documents", check_documents, folder)
        parts.run("a large workload", check_large_workload, folder)
    bench, metrics = shared("traces/bench"), shared("traces/prometheus")
    found = [sorted(place.glob(f"*{kind}")) if place else [] for place, kind in ((bench, ".json"), (metrics, ".txt"))]
    if all(found):
        parts.run("a benchmark and metrics", check_workload, found[0][0], found[1][0])
    else:
        parts.skip("a benchmark and metrics", "../shared/traces is absent")
    parts.run("refusals", check_refusals)
    parts.run("the page", check_page)
    parts.run("slow requests", check_slow)
    parts.run("a flood", check_flood)
    parts.run("no descriptors left", check_descriptors)
    parts.run("100 clients", check_many)
    parts.run("the end", check_end)
    parts.run("ports", check_ports)
    parts.close()


if __name__ == "__main__":
    main()
