#!/usr/bin/env python3
"""Databases that no profiler writes: every verb ends with a status of its own (0, 1 or 3) and, asked
for JSON, prints JSON; a failure says what to do; nothing crashes, hangs or takes the machine's memory
(3 GiB are allowed, but for sanitizers, which reserve more than there is).

usage: nsys_hostile_test.py [WORD…]   only cases whose name holds a word
"""

import os
import pathlib
import random
import resource
import sqlite3
import sys
import tempfile

import nsys_runs as runs
import nsys_shared_text as shared_text
from e2e import Parts, program

VERBS = ("info", "modules", "steps", "overhead", "kernels", "summary", "layers")
N_CUTS = 40
N_FLIPS = 60
N_PLACED = 300_000
MEMORY_BYTES = 3 << 30
BIG = 2**63 - 1
KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
NODES = "CUDA_GRAPH_NODE_EVENTS"


def check_ends(tally, file, verbs=VERBS):
    for verb in verbs:
        done = program.run([verb, str(file), "--format", "json"], timeout=60)
        tally.holds(f"{file.stem} {verb}: exit {done.exit}: {done.stderr.strip()[-160:]}",
                    done.exit in (0, 1, 3))
        try:
            answer = program.parse_json(done.stdout)
        except program.NotJson as error:
            tally.holds(f"{file.stem} {verb}: {error}", False)
            continue
        error = answer.get("error")
        if error is not None:
            tally.holds(f"{file.stem} {verb}: no way out: {error}",
                        error["hint"] != "" or "layerscope reads" in error["message"])
    return answer


def edited(run, folder, *statements):
    """A copy of the database after these statements."""
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / "run.sqlite"
    copy.write_bytes(run.database.read_bytes())
    connection = sqlite3.connect(copy)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return copy


EDITS = {
    "text_for_times": [f"UPDATE {KERNEL} SET start = 'soon' WHERE rowid % 3 = 0",
                       "UPDATE NVTX_EVENTS SET start = 'x', end = x'00ff' WHERE rowid % 4 = 0"],
    "reals": [f"UPDATE {KERNEL} SET start = 1e300, end = -1e300 WHERE rowid % 5 = 0",
              f"UPDATE {RUNTIME} SET correlationId = 1.5 WHERE rowid % 2 = 0"],
    "blobs": ["UPDATE NVTX_EVENTS SET text = x'fffe0000ff' WHERE rowid % 2 = 0",
              "UPDATE StringIds SET value = x'c328' WHERE id % 3 = 0"],
    "nulls": [f"CREATE TABLE k AS SELECT * FROM {KERNEL}", f"DROP TABLE {KERNEL}",
              f"ALTER TABLE k RENAME TO {KERNEL}",
              f"UPDATE {KERNEL} SET start = NULL WHERE rowid % 2 = 0",
              f"UPDATE {KERNEL} SET globalPid = NULL, streamId = NULL WHERE rowid % 3 = 0"],
    "negative_times": [f"UPDATE {KERNEL} SET start = -start, end = -end",
                       f"UPDATE {RUNTIME} SET start = -1 WHERE rowid % 2 = 0"],
    "ends_before_starts": [f"UPDATE {KERNEL} SET end = start - 1000000",
                           "UPDATE NVTX_EVENTS SET end = start - 1 WHERE rowid % 2 = 0"],
    "extreme_times": [f"UPDATE {KERNEL} SET start = {-BIG - 1} WHERE rowid % 2 = 0",
                      f"UPDATE {KERNEL} SET end = {BIG} WHERE rowid % 3 = 0",
                      f"UPDATE NVTX_EVENTS SET end = {BIG} WHERE rowid % 3 = 0"],
    "extreme_ids": [f"UPDATE {KERNEL} SET correlationId = {BIG}, graphNodeId = {-BIG - 1}",
                    f"UPDATE {RUNTIME} SET correlationId = {BIG}, globalTid = -1",
                    f"UPDATE {KERNEL} SET deviceId = {-BIG}, streamId = {BIG}, contextId = -5"],
    "own_original": [f"UPDATE {NODES} SET originalGraphNodeId = graphNodeId"],
    "cycles": [f"UPDATE {NODES} SET originalGraphNodeId = (SELECT graphNodeId FROM {NODES} AS o "
               f"WHERE o.rowid = 1 + {NODES}.rowid % (SELECT count(*) FROM {NODES}))"],
    "two_parents": [f"INSERT INTO {NODES} SELECT start, end, eventClass, globalTid, nameId, graphNodeId, "
                    f"originalGraphNodeId + 1 FROM {NODES} WHERE originalGraphNodeId IS NOT NULL"],
    "one_correlation": [f"UPDATE {KERNEL} SET correlationId = 7", f"UPDATE {RUNTIME} SET correlationId = 7"],
    "no_strings": ["DELETE FROM StringIds"],
    "one_name": [f"UPDATE {RUNTIME} SET nameId = -9", f"UPDATE {KERNEL} SET demangledName = {BIG}"],
    "empty_tables": [f"DELETE FROM {KERNEL}", f"DELETE FROM {RUNTIME}", "DELETE FROM NVTX_EVENTS",
                     "DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY"],
    "odd_texts": ["UPDATE NVTX_EVENTS SET text = '{''Module'': ''' || text WHERE rowid % 2 = 0",
                  "UPDATE NVTX_EVENTS SET text = '', textId = 99999999 WHERE rowid % 5 = 0",
                  "UPDATE NVTX_EVENTS SET text = 'bench_step::' || rowid || '::bs::-9::past::99999999999999999999' "
                  "WHERE rowid % 7 = 0"],
    "views": [f"ALTER TABLE {KERNEL} RENAME TO k", f"CREATE VIEW {KERNEL} AS SELECT * FROM k"],
    "endless_view": [f"ALTER TABLE {KERNEL} RENAME TO k",
                     f"CREATE VIEW {KERNEL} AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                     "SELECT k.* FROM k, n"],
    "other_columns": [f"DROP TABLE {KERNEL}", f"CREATE TABLE {KERNEL} (a, b, c)",
                      f"INSERT INTO {KERNEL} VALUES (1, 2, 3)"],
    "no_rowid": ["DROP TABLE StringIds", "CREATE TABLE StringIds (id PRIMARY KEY, value) WITHOUT ROWID"],
    "rank_table": ["CREATE TABLE MPI_RANKS (globalTid INTEGER NOT NULL, rank INTEGER NOT NULL)",
                   f"INSERT INTO MPI_RANKS VALUES (-1, {BIG}), ({BIG}, -1)"],
}


def check_edit(tally, run, folder, statements):
    check_ends(tally, edited(run, folder, *statements))


def check_cuts(tally, run, folder):
    """The file ends early: at every page of its begin, then anywhere."""
    content = run.database.read_bytes()
    chance = random.Random(5)
    lengths = [0, 1, 15, 16, 50, 99, 100, 1000, 4095, 4096, 4097, len(content) - 1]
    lengths += [chance.randrange(len(content)) for _ in range(N_CUTS)]
    folder.mkdir()
    for length in lengths:
        file = folder / f"cut_{length}.sqlite"
        file.write_bytes(content[:length])
        check_ends(tally, file, ("modules", "overhead"))
        file.unlink()


def check_flips(tally, run, folder):
    content = run.database.read_bytes()
    chance = random.Random(6)
    folder.mkdir()
    for number in range(N_FLIPS):
        damaged = bytearray(content)
        # Heads of pages hurt most: they say where the rest is.
        for _ in range(chance.choice((1, 4, 32))):
            page = chance.randrange(len(damaged) // 4096) * 4096
            at = page + (chance.randrange(64) if chance.random() < 0.6 else chance.randrange(4096))
            damaged[at] ^= 1 << chance.randrange(8)
        file = folder / f"flip_{number}.sqlite"
        file.write_bytes(damaged)
        check_ends(tally, file, ("modules", "overhead"))
        file.unlink()


def many(run, folder, table, values, count, names):
    """The database with `count` more rows; `values` makes the n-th."""
    copy = edited(run, folder)
    connection = sqlite3.connect(copy)
    marks = ", ".join("?" * len(names.split(",")))
    connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", map(values, range(count)))
    connection.commit()
    connection.close()
    return copy


def check_deep_ranges(tally, run, folder):
    """A million ranges inside each other, each a module of its own below the one before."""
    tid = sqlite3.connect(run.database).execute("SELECT globalTid FROM NVTX_EVENTS").fetchone()[0]
    file = many(run, folder, "NVTX_EVENTS",
                lambda i: (i, 90_000_000_000 - i, 59, f"{{'Module': 'm{i % 1000}'}}", tid), 1_000_000,
                "start, end, eventType, text, globalTid")
    check_ends(tally, file, ("info", "modules", "overhead"))


def check_open_ranges(tally, run, folder):
    tid = sqlite3.connect(run.database).execute("SELECT globalTid FROM NVTX_EVENTS").fetchone()[0]
    file = many(run, folder, "NVTX_EVENTS", lambda i: (i, None, 59, f"bench_step::{i}::bs::1::past::{i}", tid),
                200_000, "start, end, eventType, text, globalTid")
    check_ends(tally, file, ("info", "steps", "overhead"))


def check_long_chain(tally, run, folder):
    """One clone of a clone, half a million times, and one name."""
    row = sqlite3.connect(run.database).execute(f"SELECT globalTid, nameId FROM {NODES}").fetchone()
    file = many(run, folder, NODES, lambda i: (i, i, 26, row[0], row[1], i + 2, i + 1 if i else None), 500_000,
                "start, end, eventClass, globalTid, nameId, graphNodeId, originalGraphNodeId")
    connection = sqlite3.connect(file)
    connection.execute(f"UPDATE {KERNEL} SET graphNodeId = 500001")
    connection.commit()
    connection.close()
    check_ends(tally, file, ("modules",))


def check_many_processes(tally, run, folder):
    file = many(run, folder, RUNTIME,
                lambda i: (i, i + 1, 0, (1 << 48) | ((i % 65_536) << 24) | i % 4096, i, 1, 0), 300_000,
                "start, end, eventClass, globalTid, correlationId, nameId, returnValue")
    check_ends(tally, file, ("info", "modules", "overhead"))


def check_places(tally, folder, n_processes, n_devices):
    """Three hundred thousand kernels, launches and steps, dealt out to processes and devices. Whatever looks
    at each pair of them needs minutes."""
    folder.mkdir()
    file = folder / "places.sqlite"
    connection = sqlite3.connect(file)
    connection.executescript(f"""
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000');
        CREATE TABLE {KERNEL} (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
                               correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);
        CREATE TABLE {RUNTIME} (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
                                correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
        CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER,
                                  textId INTEGER, domainId INTEGER);""")
    for i in range(N_PLACED):
        process, start = (1 + i % n_processes) << 24, i * 100_000
        connection.execute(f"INSERT INTO {KERNEL} VALUES (?, ?, ?, 1, 7, ?, ?, 1, 1)",
                           (start + 20_000, start + 50_000, i % n_devices, i + 1, process))
        connection.execute(f"INSERT INTO {RUNTIME} VALUES (?, ?, 0, ?, ?, 2, 0)",
                           (start + 10_000, start + 15_000, process | 1, i + 1))
        connection.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, NULL, 0)",
                           (start, start + 90_000, "execute_context_0(0)_generation_1(1)", process | 1))
    connection.commit()
    connection.close()
    check_ends(tally, file, ("info", "steps", "summary", "overhead"))


def check_placed_devices(tally, _, folder):
    check_places(tally, folder, 1, N_PLACED)


def check_placed_processes(tally, _, folder):
    check_places(tally, folder, N_PLACED, 1)


def check_shared_text(tally, _, folder):
    """Six thousand ranges that share one text of 300 kB: 1.8 GB of names in a file of 1.2 MB."""
    folder.mkdir()
    file = folder / "shared.sqlite"
    shared_text.write(file, 6000)
    tally.holds("the file is small", file.stat().st_size < 2_000_000)
    answer = check_ends(tally, file, ("info",))
    codes = {entry["code"] for entry in answer.get("health", [])}
    tally.holds(f"damage is said: {sorted(codes)}", "damaged_database" in codes)
    tally.holds("the first ranges are read", 0 < answer["data"]["n_events"] < 6000)


def check_long_name(tally, run, folder):
    """A range whose name is a million words joined by dots."""
    file = edited(run, folder, "UPDATE NVTX_EVENTS SET text = replace(hex(zeroblob(500000)), '0', 'a.') || 'a' "
                  "WHERE rowid = 1", "UPDATE NVTX_EVENTS SET text = 'a' WHERE rowid > 1 AND text LIKE '%Module%'")
    check_ends(tally, file, ("modules",))


WHOLE = {
    "shared_text": check_shared_text,
    "long_name": check_long_name,
    "cuts": check_cuts,
    "flips": check_flips,
    "deep_ranges": check_deep_ranges,
    "open_ranges": check_open_ranges,
    "long_chain": check_long_chain,
    "many_processes": check_many_processes,
    "placed_devices": check_placed_devices,
    "placed_processes": check_placed_processes,
}


def check_no_export(tally, folder):
    """Databases of other programs are refused, saying what they are not."""
    folder.mkdir()
    file = folder / "other.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE notes (text)")
    connection.close()
    done = program.run(["modules", str(file)])
    tally.equal("exit", done.exit, 3)
    tally.holds(f"says what is read: {done.stderr.strip()[:200]}", "Nsight" in done.stderr)


def main():
    parts = Parts("hostile Nsight Systems databases")
    if not os.environ.get("LAYERSCOPE_SANITIZED"):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    words = sys.argv[1:]

    def wanted(name):
        return not words or any(word in name for word in words)

    with tempfile.TemporaryDirectory(prefix="layerscope-hostile-") as folder:
        root = pathlib.Path(folder)
        run = runs.generate(root / "run", "--graph-copies --clones 2 --ranks 2 --registered --ops")
        for name, statements in EDITS.items():
            if wanted(name):
                parts.run(name, check_edit, run, root / name, statements)
        for name, check in WHOLE.items():
            if wanted(name):
                parts.run(name, check, run, root / name)
        if wanted("no_export"):
            parts.run("no_export", check_no_export, root / "no_export")
    parts.close()


if __name__ == "__main__":
    main()
