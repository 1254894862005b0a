"""Runs verbs on an input and checks the invariants on each, and the same figures across verbs and
formats: what one verb calls total, the others must.
"""

import csv
import io
import pathlib
import tempfile

from goldens import invariants, program

BASE_VERBS = ("info", "summary", "modules", "steps", "kernels")
# They look for layers, and may refuse what the others take (two ranks in one file).
LAYER_VERBS = ("passes", "layers", "ranges", "report")
VERBS = (*BASE_VERBS, *LAYER_VERBS)
KERNELS_BY = ("name", "op", "op-dims", "module", "category", "stream")
# Of the passes with layers so many are asked for one by one.
MOST_PASSES = 4
# Options that choose rows or a form; the invariants look at the whole selection.
DROPPED_WITH_VALUE = {"-o", "-n", "--format", "--depth", "--sort", "--table", "--match", "--root",
                      "--by", "--rollup", "--color", "--threads"}
DROPPED_FLAGS = {"--collapse", "--no-collapse", "--stats", "-v", "-q", "--no-progress", "--strict"}
# The array of `data` that CSV prints when --table is not given.
MAIN_ROWS = {"modules": "nodes", "kernels": "rows", "steps": "steps", "passes": "passes",
             "layers": "layers", "ranges": "ranges"}
# Verbs whose table for people has one line a row; that of modules collapses like layers.
TABLE_VERBS = ("kernels", "steps", "passes", "layers", "ranges")


def selection_of(arguments):
    """The arguments without those that only shape the output."""
    kept, skip = [], False
    for word in arguments:
        if skip:
            skip = False
        elif word in DROPPED_WITH_VALUE:
            skip = True
        elif word not in DROPPED_FLAGS and not any(
                word.startswith(option + "=") for option in DROPPED_WITH_VALUE):
            kept.append(word)
    return kept


def check_verb(verb, arguments, tally, cwd=None, stdin=None):
    """Runs one verb with all rows; returns its (coverage, data) parts, or None when it was refused."""
    done = program.run([verb, *arguments, "--format", "json", *_all_rows(verb)], cwd=cwd, stdin=stdin)
    where = f"{verb} {' '.join(map(str, arguments))}"
    before = len(tally.failures)
    try:
        envelope = program.parse_json(done.stdout)
        if done.exit != 0:
            invariants.check_error(envelope, tally)
            tally.holds(f"exit {done.exit} is 1, 2 or 3", done.exit in (1, 2, 3))
            tally.holds("the message stands on stderr",
                        envelope["error"]["message"].split("\n")[0] in done.stderr)
            return None
        invariants.check_envelope(envelope, tally)
        parts = program.data_parts(envelope)
        tally.holds("there is a data part", bool(parts))
        for coverage, data in parts:
            _check_part(verb, coverage, data, tally)
        return parts
    except (program.NotJson, KeyError, TypeError, ValueError, AttributeError) as error:
        tally.holds(f"exit {done.exit}, {type(error).__name__}: {error}; stderr: "
                    f"{done.stderr.strip()[:200]}", False)
        return None
    finally:
        _prefix(tally, before, where)


def _all_rows(verb):
    return ["-n", "0"] if verb in MAIN_ROWS else []


def _check_part(verb, coverage, data, tally):
    if coverage:
        invariants.check_coverage(coverage, tally)
    if data.get("abstained"):
        for key in ("code", "why", "how"):
            tally.holds(f"abstention has {key}", bool(data["abstained"].get(key)))
    elif verb in invariants.CHECKS:
        invariants.CHECKS[verb](data, coverage, tally)


def check_input(paths, tally, cwd=None, options=()):
    """Every verb on one run of files, then the figures that several verbs share."""
    arguments = [*paths, *options]
    parts = {verb: check_verb(verb, arguments, tally, cwd=cwd) for verb in VERBS}
    before = len(tally.failures)
    taken = _taken(BASE_VERBS, parts, tally)
    if taken:
        for by in KERNELS_BY:
            check_verb("kernels", [*arguments, "--by", by], tally, cwd=cwd)
        ranks = zip(*(parts[verb] for verb in BASE_VERBS))
        for (_, info), (_, summary), (_, modules), (_, steps), (_, kernels) in ranks:
            _check_across(info, summary, modules, steps, kernels, tally)
        _check_forms(BASE_VERBS, arguments, parts, tally, cwd)
    if taken and _taken(LAYER_VERBS, parts, tally):
        _check_layer_verbs(arguments, parts, tally, cwd)
        _check_forms(LAYER_VERBS, arguments, parts, tally, cwd)
        if len(parts["passes"]) == 1 and parts["kernels"][0][1]["total"]["n"] > 0:
            check_documents(arguments, parts["passes"][0][1], parts["info"][0][1], tally, cwd)
    _prefix(tally, before, " ".join(map(str, arguments)))
    return taken


def _taken(verbs, parts, tally):
    """Did these verbs answer? All or none must."""
    refused = [verb for verb in verbs if parts[verb] is None]
    if refused and len(refused) != len(verbs):
        tally.holds(f"refused by {refused} but not by the others", False)
    return not refused


def _check_forms(verbs, arguments, parts, tally, cwd):
    for verb in verbs:
        if verb not in MAIN_ROWS or len(parts[verb]) != 1:
            continue
        data = parts[verb][0][1]
        if MAIN_ROWS[verb] not in data or data.get("abstained"):
            continue
        check_csv(verb, arguments, data, tally, cwd=cwd)
        if verb in TABLE_VERBS:
            check_table(verb, arguments, data, tally, cwd=cwd)


def _check_layer_verbs(arguments, parts, tally, cwd):
    """What passes, layers, ranges, report and kernels say of the same layers."""
    by_layer = check_verb("kernels", [*arguments, "--by", "layer"], tally, cwd=cwd)
    each = zip(parts["passes"], parts["layers"], parts["ranges"], parts["report"], by_layer or [])
    for (_, passes), (_, layers), (_, ranges), (_, report), (_, kernels) in each:
        _check_ranges_of_passes(passes, ranges, tally)
        outside = sum(r["sum_ns"] for r in kernels["rows"] if r["key"] == "[outside any pass]")
        if not passes.get("abstained"):
            tally.equal("kernels --by layer: outside = passes", outside, passes["outside"]["gpu_ns"])
        if layers.get("pass") is not None:
            row = next(p for p in passes["passes"] if p["index"] == layers["pass"])
            _check_layers_of_pass(row, layers, ranges, tally)
            tally.equal("report shows the pass of layers", report.get("pass"), layers["pass"])
            tally.equal("report shows the rows of layers", report.get("layers"), layers["layers"])
    if len(parts["passes"]) == 1:
        _check_single_passes(arguments, parts["passes"][0][1], parts["ranges"][0][1], tally, cwd)


def _check_single_passes(arguments, passes, ranges, tally, cwd):
    shown = [p for p in passes["passes"] if p["n_layers"] > 0][:MOST_PASSES]
    for row in shown:
        chosen = [*arguments, "--pass", str(row["index"])]
        for _, layers in check_verb("layers", chosen, tally, cwd=cwd) or []:
            _check_layers_of_pass(row, layers, ranges, tally)
            if layers["layers"] and row["kind"] != "capture":
                _check_one_layer(chosen, layers["layers"], tally, cwd)
        for _, kernels in check_verb("kernels", chosen, tally, cwd=cwd) or []:
            tally.equal(f"kernels --pass {row['index']}: the pass's time", kernels["total"]["sum_ns"],
                        row["sum_ns"] + row["copy_ns"])
    if any(p["complete"] for p in shown):
        check_verb("layers", [*arguments, "--all-passes"], tally, cwd=cwd)


def _check_one_layer(chosen, layers, tally, cwd):
    first, last = layers[0], layers[-1]
    for row in (first, last) if len(layers) > 1 else (first,):
        one = [*chosen, "--layer", str(row["index"])]
        for _, kernels in check_verb("kernels", one, tally, cwd=cwd) or []:
            tally.equal(f"kernels --layer {row['index']}: the layer's time",
                        (kernels["total"]["sum_ns"], kernels["total"]["n"]),
                        (row["sum_ns"] + row["copy_ns"], row["n_kernels"] + row["n_copies"]))
    check_verb("kernels", [*chosen, "--layer", str(first["index"]), "--compare-layer",
                           str(last["index"])], tally, cwd=cwd)


def _check_ranges_of_passes(passes, ranges, tally):
    keys = ("start_ns", "end_ns")
    tally.equal("ranges of passes = passes",
                [(r["pass"], r["start_ns"], r["end_ns"]) for r in ranges["ranges"]
                 if r["kind"] == "pass"],
                [(p["index"], *(p[key] for key in keys)) for p in passes["passes"]])
    for row in passes["passes"]:
        mine = [r for r in ranges["ranges"] if r["kind"] == "layer" and r["pass"] == row["index"]]
        tally.holds(f"ranges of pass {row['index']}: a row a layer: {len(mine)} for "
                    f"{row['n_layers']}", len(mine) >= row["n_layers"])
        _rising_layers(row["index"], mine, tally)


def _rising_layers(index, ranges, tally):
    found = [r["layer"] for r in ranges]
    tally.equal(f"ranges of pass {index}: layers rise", found, sorted(set(found)))


def _check_layers_of_pass(row, layers, ranges, tally):
    where = f"layers of pass {row['index']}"
    for key in ("sum_ns", "n_kernels", "copy_ns", "n_copies", "busy_ns", "wall_ns"):
        tally.equal(f"{where}: total {key} = passes", layers["total"][key], row[key])
    tally.equal(f"{where}: as many whole ones as passes says",
                sum("CUT" not in layer["flags"] for layer in layers["layers"]), row["n_layers"])
    walls = [layer["wall_ns"] for layer in layers["layers"] if layer["index"] == 0 and
             "CUT" not in layer["flags"]]
    if walls:
        tally.equal(f"{where}: the first layer's wall", walls[0], row["first_layer_ns"])
    tally.equal(f"{where}: ranges = start and end",
                [(r["layer"], r["type"], r["start_ns"], r["end_ns"]) for r in ranges["ranges"]
                 if r["kind"] == "layer" and r["pass"] == row["index"]],
                [(layer["index"], layer["type"], layer["start_ns"], layer["end_ns"])
                 for layer in layers["layers"]])


def check_documents(arguments, passes, info, tally, cwd=None):
    """annotate keeps every event and adds what it says; cut keeps the time of what it cuts."""
    with tempfile.TemporaryDirectory(prefix="layerscope-invariants-") as name:
        out = pathlib.Path(name) / "out.json.gz"
        data = _document("annotate", [*arguments, "-o", out], tally, cwd)
        if data:
            events = data["events"]
            tally.equal("annotate keeps every event", events["kept"], events["input"])
            tally.equal("annotate: kept + added = written", events["kept"] + events["added"],
                        events["written"])
            tally.at_most("annotate: slices <= events added",
                          sum(track["n_slices"] for track in data["tracks"]), events["added"])
            for _, written in check_verb("info", [out], tally) or []:
                tally.equal("annotate: events of the copy", written["n_events"],
                            info["n_events"] + events["added"])
                tally.equal("annotate: GPU time of the copy", written["kernel_sum_ns"],
                            info["kernel_sum_ns"])
        whole = [p for p in passes["passes"] if p["n_kernels"] > 0][-1:]
        for row in whole:
            _check_cut(arguments, row, out, tally, cwd)


def _check_cut(arguments, row, out, tally, cwd):
    data = _document("cut", [*arguments, "--pass", row["index"], "-o", out], tally, cwd)
    if not data:
        return
    time_ns = row["sum_ns"] + row["copy_ns"]
    tally.equal("cut: GPU time of the pass", data["selection"]["gpu_ns"], time_ns)
    tally.equal("cut: kept + added = written", data["events"]["kept"] + data["events"]["added"],
                data["events"]["written"])
    for _, kernels in check_verb("kernels", [out], tally) or []:
        tally.equal("cut: GPU time of what was written", kernels["total"]["sum_ns"], time_ns)


def _document(verb, arguments, tally, cwd):
    done = program.run([verb, *arguments, "--format", "json"], cwd=cwd)
    tally.equal(f"{verb}: exit", done.exit, 0)
    if done.exit != 0:
        tally.failures[-1] += f"; stderr: {done.stderr.strip()[:200]}"
        return None
    envelope = program.parse_json(done.stdout)
    invariants.check_envelope(envelope, tally)
    return envelope["data"]


def _check_across(info, summary, modules, steps, kernels, tally):
    activities = info["kernel_sum_ns"] + info["memcpy_sum_ns"] + info["memset_sum_ns"]
    activities += info["graph_sum_ns"]
    count = info["n_kernels"] + info["n_memcpy"] + info["n_memset"] + info["n_graphs"]
    cpu_only = count == 0
    total = kernels["total"]["sum_ns"] if cpu_only else activities
    tally.equal("total of kernels = info", kernels["total"]["sum_ns"], total)
    tally.equal("total of modules = info", modules["total"]["gpu_ns"], total)
    tally.equal("sum of summary = info", summary["gpu"]["sum_ns"], total)
    if not cpu_only:
        tally.equal("count of kernels = info", kernels["total"]["n"], count)
        tally.equal("kernels of modules = info", modules["total"]["kernels"], info["n_kernels"])
        tally.equal("kernels of steps = info",
                    sum(s["n_kernels"] for s in steps["steps"]) + steps["outside"]["kernels"],
                    info["n_kernels"])
    tally.equal("scopes called = info", sum(n["calls"] for n in modules["nodes"]),
                info["modules"]["n_scopes"])
    tally.equal("depth of modules = info", max((n["depth"] for n in modules["nodes"]), default=0),
                info["modules"]["max_depth"])


def check_csv(verb, arguments, data, tally, cwd=None):
    """CSV has the rows of JSON, in order, with equal cells in columns of the same name."""
    done = program.run([verb, *arguments, "--format", "csv", *_all_rows(verb)], cwd=cwd)
    tally.equal(f"{verb} csv: exit", done.exit, 0)
    if done.exit != 0:
        return
    rows = list(csv.DictReader(io.StringIO(done.stdout, newline="")))
    json_rows = data[MAIN_ROWS[verb]]
    tally.equal(f"{verb} csv: rows", len(rows), len(json_rows))
    for number, (row, json_row) in enumerate(zip(rows, json_rows)):
        cells = flat(json_row, row)
        differing = {key: (text, cells.get(key)) for key, text in row.items()
                     if not _same_cell(text, cells.get(key))}
        tally.equal(f"{verb} csv row {number}", differing, {})
        tally.equal(f"{verb} csv row {number}: JSON keys without a column",
                    sorted(cells.keys() - row.keys()), [])


def check_table(verb, arguments, data, tally, cwd=None):
    """The first table for people has as many lines as JSON has rows."""
    done = program.run([verb, *arguments, "--format", "markdown", "-n", "0"], cwd=cwd)
    lines = done.stdout.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith("|---")), len(lines))
    body = lines[start + 1:]
    end = next((i for i, line in enumerate(body) if not line.startswith("|")), len(body))
    tally.equal(f"{verb} table: lines", end, len(data[MAIN_ROWS[verb]]))


def flat(json_row, columns):
    """A row with one entry for each column of CSV: `evidence.unresolved` for a key of a map, 0 where
    the map of this row lacks the key."""
    cells = {}
    for key, value in json_row.items():
        if isinstance(value, dict):
            cells.update({column: 0 for column in columns if column.startswith(f"{key}.")})
            cells.update({f"{key}.{inner}": number for inner, number in value.items()})
        else:
            cells[key] = value
    return cells


def _same_cell(text, value):
    """Unknown is empty, a list is joined by spaces; a map is a column a key (docs/schema/README.md)."""
    if value is None:
        return text == ""
    if isinstance(value, bool):
        return text == str(value).lower()
    if isinstance(value, float):
        return float(text) == value
    if isinstance(value, list):
        return text == ";".join(map(str, value))
    return text == str(value)


def _prefix(tally, start, where):
    tally.failures[start:] = [f if f.startswith("[") else f"[{where}] {f}"
                              for f in tally.failures[start:]]
