"""Runs verbs on an input and checks the invariants on each, and the same figures across verbs and
formats: what one verb calls total, the others must.
"""

import csv
import io

from goldens import invariants, program

VERBS = ("info", "summary", "modules", "steps", "kernels")
KERNELS_BY = ("name", "op", "op-dims", "module", "category", "stream")
# Options that choose rows or a form; the invariants look at the whole selection.
DROPPED_WITH_VALUE = {"-o", "-n", "--format", "--depth", "--sort", "--table", "--match", "--root",
                      "--by", "--rollup", "--color", "--threads"}
DROPPED_FLAGS = {"--collapse", "--no-collapse", "--stats", "-v", "-q", "--no-progress", "--strict"}
# The array of `data` that CSV prints when --table is not given.
MAIN_ROWS = {"modules": "nodes", "kernels": "rows", "steps": "steps"}
# Verbs whose table for people has one line a row; that of modules collapses like layers.
TABLE_VERBS = ("kernels", "steps")


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
    except (program.NotJson, KeyError, TypeError, AttributeError) as error:
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
    refused = [verb for verb in VERBS if parts[verb] is None]
    before = len(tally.failures)
    if refused and len(refused) != len(VERBS):
        tally.holds(f"refused by {refused} but not by the others", False)
    if not refused:
        for by in KERNELS_BY:
            check_verb("kernels", [*arguments, "--by", by], tally, cwd=cwd)
        ranks = zip(*(parts[verb] for verb in VERBS))
        for (_, info), (_, summary), (_, modules), (_, steps), (_, kernels) in ranks:
            _check_across(info, summary, modules, steps, kernels, tally)
        for verb in MAIN_ROWS:
            if len(parts[verb]) == 1:
                check_csv(verb, arguments, parts[verb][0][1], tally, cwd=cwd)
        for verb in TABLE_VERBS:
            if len(parts[verb]) == 1:
                check_table(verb, arguments, parts[verb][0][1], tally, cwd=cwd)
    _prefix(tally, before, " ".join(map(str, arguments)))
    return not refused


def _check_across(info, summary, modules, steps, kernels, tally):
    activities = info["kernel_sum_ns"] + info["memcpy_sum_ns"] + info["memset_sum_ns"]
    count = info["n_kernels"] + info["n_memcpy"] + info["n_memset"]
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
        return text == " ".join(map(str, value))
    return text == str(value)


def _prefix(tally, start, where):
    tally.failures[start:] = [f if f.startswith("[") else f"[{where}] {f}"
                              for f in tally.failures[start:]]
