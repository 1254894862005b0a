#!/usr/bin/env python3
"""`report -o x.html`: the data in the page is what the verbs print, whatever the names in it are.

Expected values are the output of the verbs themselves, which other tests check.
"""

import html.parser
import json
import pathlib
import tempfile

from e2e import ROOT, Parts, program
from generated import GRID, generate
from schema_test import problems_of
from server_test import arguments_of

EXAMPLE = ROOT / "examples/qwen3_8b_h100_vllm.json.gz"
ALWAYS = ("summary", "info", "passes", "layers", "layers?all-passes", "steps", "overhead", "kernels?n=200",
          "kernels?by=category", "modules", "timeline?bins=1200")
HOSTILE = ("</script><script>alert(1)</script>", "<!--<script>", "]]>", "\u2028\u2029", "\u202eright to left",
           "a\u0001\u001b[31m\u0000b", "&lt;img src=x onerror=alert(1)>", "x" * 5000, "\"}],'${`\\")
NO_VIEWER = "built without the viewer"


class Page(html.parser.HTMLParser):
    """Elements of a page, and what stands in its data element, as a browser parts them."""

    def __init__(self, text):
        super().__init__(convert_charrefs=False)
        self.tags, self.data, self.policy, self._inside = [], "", "", False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        self._inside = attributes.get("id") == "layerscope-data"
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]

    def handle_endtag(self, tag):
        self._inside = False

    def handle_data(self, data):
        if self._inside:
            self.data += data


def write(folder, inputs, *options):
    target = folder / "report.html"
    target.unlink(missing_ok=True)
    return program.run(["report", *inputs, "-o", target, *options], cwd=ROOT), target


def page_of(tally, folder, inputs, *options):
    done, target = write(folder, inputs, *options)
    tally.equal(f"exit ({done.stderr[:300]})", done.exit, 0)
    page = Page(target.read_text(encoding="utf-8"))
    return page, program.parse_json(page.data)


def check_data(tally, folder, inputs, wanted=ALWAYS):
    _, data = page_of(tally, folder, inputs)
    tally.equal("live", data["view"]["live"], False)
    for key in wanted:
        tally.holds(f"the report holds {key}", key in data["analyses"])
    for key, envelope in data["analyses"].items():
        verb, *options = arguments_of(key)
        done = program.run([verb, *inputs, *options, "--format", "json"], cwd=ROOT)
        printed = program.parse_json(done.stdout)
        # Of what these inputs do not support the page holds the reason.
        same = envelope == printed if done.exit == 0 else envelope["error"] == printed["error"]
        tally.holds(f"{key}: is what the command line prints", same)
    for name, document in data["documents"].items():
        done = program.run([name, *inputs], cwd=ROOT)
        same = document == program.parse_json(done.stdout) if done.exit == 0 else \
            document["error"]["message"] in done.stderr
        tally.holds(f"{name}: is what the command line prints", same)
    tally.holds("the map is in it", "map" in data["documents"])
    return data


def check_example(tally, folder):
    data = check_data(tally, folder, [EXAMPLE])
    tally.equal("cuts of a small trace", data["view"]["cuts"], [])
    passes = program.parse_json(program.run(["passes", EXAMPLE, "--format", "json"]).stdout)["data"]["passes"]
    whole = [p for p in passes if p["complete"] and p["wall_ns"] is not None]
    kinds = [p["kind"] for p in whole]
    common = max(dict.fromkeys(kinds), key=kinds.count)
    ordered = sorted((p["wall_ns"], p["index"]) for p in whole if p["kind"] == common)
    for tenths in (1, 5, 9):
        index = ordered[int(tenths / 10 * (len(ordered) - 1) + 0.5)][1]
        tally.holds(f"modules of pass {index}, at {tenths}0 %", f"modules?pass={index}" in data["analyses"])
    layers = data["analyses"]["layers"]["data"]
    for layer in layers["layers"]:
        key = f"kernels?layer={layer['index']}&pass={layers['pass']}"
        tally.holds(f"the report holds {key}", key in data["analyses"])


def check_page(tally, folder):
    page, _ = page_of(tally, folder, [EXAMPLE])
    tally.holds("the policy lets it load nothing", "default-src 'none'" in page.policy)
    for tag, attributes in page.tags:
        for name in ("src", "href"):
            link = attributes.get(name) or ""
            tally.holds(f"<{tag} {name}={link[:60]}> asks no network", not link or link.startswith(("data:", "#")))
    first = (folder / "report.html").read_bytes()
    page_of(tally, folder, [EXAMPLE])
    tally.holds("the same bytes again", (folder / "report.html").read_bytes() == first)


def check_hostile(tally, folder):
    events = []
    for i, name in enumerate(HOSTILE):
        ts = 100 * i
        events += [
            {"ph": "X", "cat": "python_function", "name": f"nn.Module: {name}_0", "pid": 1, "tid": 1, "ts": ts,
             "dur": 90, "args": {"Python id": i, "Python module id": i}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": ts + 1,
             "dur": 2, "args": {"correlation": i + 1}},
            {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts + 10, "dur": 50,
             "args": {"correlation": i + 1, "device": 0, "stream": 7}}]
    trace = folder / "hostile.json"
    trace.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    plain_page, _ = page_of(tally, folder, [EXAMPLE])
    page, data = page_of(tally, folder, [trace])
    tally.equal("no name becomes an element", [tag for tag, _ in page.tags], [tag for tag, _ in plain_page.tags])
    rows = data["analyses"]["kernels?n=200"]["data"]["rows"]
    tally.equal("every name is there as it is", sorted(row["name"] for row in rows),
                sorted(name.replace("\u0000", "\u0000") for name in HOSTILE))
    for bad in ("</script><script>alert", "<!--<script", "\u2028", "\u2029"):
        tally.holds(f"{bad!r} stands nowhere in the data", bad not in page.data)


def check_size(tally, folder):
    trace = folder / "large.json.gz"
    generate(trace, "--layers 24 --passes 12 --seed 3")
    _, whole = page_of(tally, folder, [trace], "--max-size", "200MiB")
    full = (folder / "report.html").stat().st_size
    for share in (0.9, 0.7, 0.5):
        limit = int(full * share)
        done, target = write(folder, [trace], "--max-size", f"{limit}B", "--format", "json")
        if done.exit != 0:
            tally.holds(f"{share}: refused as too small: {done.stderr}", "--max-size" in done.stderr)
            continue
        data = program.parse_json(Page(target.read_text(encoding="utf-8")).data)
        tally.holds(f"{share}: {target.stat().st_size} bytes are at most {limit}", target.stat().st_size <= limit)
        cuts = data["view"]["cuts"]
        tally.holds(f"{share}: what was cut is said: {cuts}", bool(cuts) and all(c["why"] for c in cuts))
        tally.holds(f"{share}: the summary is always there", "summary" in data["analyses"])
        tally.holds(f"{share}: fewer slices", len(data["analyses"]) < len(whole["analyses"]) or len(cuts) > 0)
        envelope = program.parse_json(done.stdout)
        tally.equal(f"{share}: the envelope is of the published schema", problems_of(envelope), [])
        tally.equal(f"{share}: the envelope says the same cuts", len(envelope["data"]["cuts"]), len(cuts))
        tally.holds(f"{share}: health says so", any(h["code"] == "report_cut" for h in envelope["health"]))
    done, target = write(folder, [trace], "--max-size", "10KiB")
    tally.equal("no room for the viewer: exit", done.exit, 2)
    tally.holds("no room for the viewer: nothing is written", not target.exists())


def check_ranks(tally, folder):
    """One page of several ranks is told of once."""
    for rank in (0, 1):
        generate(folder / f"rank{rank}.json.gz", GRID["graph"])
    done, _ = write(folder, [folder / "rank0.json.gz", folder / "rank1.json.gz"])
    tally.equal("exit", done.exit, 0)
    tally.equal("one block", [done.stdout.count(word) for word in ("written", "opens", "slices", "compression")],
                [1, 1, 0, 0])


def check_names(tally, folder):
    """-o decides what is written."""
    for name, begins in (("a.md", "# layerscope report"), ("a.txt", "# layerscope report"), ("a.json", "{"),
                         ("a.html", "<!doctype html"), ("a", "<!doctype html")):
        target = folder / name
        done = program.run(["report", EXAMPLE, "-o", target])
        tally.equal(f"-o {name}: exit", done.exit, 0)
        tally.holds(f"-o {name}: begins with {begins}", target.read_text(encoding="utf-8").lower().startswith(begins.lower()))
    done = program.run(["report", EXAMPLE, "--format", "html"])
    tally.holds("--format html without -o: the page", done.stdout.lower().startswith("<!doctype html"))
    done = program.run(["report", EXAMPLE])
    tally.holds("without both: the written report", done.stdout.startswith("# layerscope report"))
    done = program.run(["report", EXAMPLE, "-o", EXAMPLE, "--format", "html"])
    tally.equal("over the input: exit", done.exit, 2)
    done = program.run(["report", EXAMPLE, "-o", folder / "b.html", "--pass", "1"])
    tally.equal("an option of the written report: exit", done.exit, 2)


def main():
    parts = Parts("report_html")
    with tempfile.TemporaryDirectory(prefix="layerscope-report-") as name:
        folder = pathlib.Path(name)
        if NO_VIEWER in write(folder, [EXAMPLE])[0].stderr:
            parts.skip("all", "the program was built without the viewer (make viewer)")
            parts.close()
        parts.run("the example", check_example, folder)
        for feature in ("graph", "profiler_steps"):
            generate(folder / f"{feature}.json.gz", GRID[feature])
            parts.run(feature, check_data, folder, [folder / f"{feature}.json.gz"])
        parts.run("the page", check_page, folder)
        parts.run("hostile names", check_hostile, folder)
        parts.run("size", check_size, folder)
        parts.run("several ranks", check_ranks, folder)
        parts.run("names of the output", check_names, folder)
    parts.close()


if __name__ == "__main__":
    main()
