#!/usr/bin/env python3
"""Writes the corpus of the nsys_reader target: small databases in pages of 512 bytes.

    python3 tests/fuzz/make_databases.py [FOLDER]     (tests/fuzz/corpus/databases)

The same SQLite writes the same bytes; another version may not, which does no harm.
"""

import pathlib
import sqlite3
import sys

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus" / "databases"

METADATA = """
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2026.2.1.210'),
  ('EXPORT_SCHEMA_VERSION', '3.25.0');
CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_CAPTURE VALUES ('CUDA_GRAPH_TRACE_OPTIONS:MODE', 'Node');
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1779787126655288414, '2026-05-26T09:18:46');
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'void gemm<float>(float*)'), (2, 'gemm'),
  (3, 'cudaLaunchKernel_v7000'), (4, 'cudaGraphLaunch_v10000'), (5, 'Graph Node Creation'),
  (6, 'Module:model.layers.1'), (7, 'python3');
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
INSERT INTO ThreadNames VALUES (7, 20, {tid});
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
INSERT INTO PROCESSES VALUES ({pid}, 100, 'python3');
CREATE TABLE TARGET_INFO_GPU (id INTEGER NOT NULL, name TEXT);
INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100');
CREATE TABLE DIAGNOSTIC_EVENT (severity INTEGER NOT NULL, text TEXT NOT NULL);
INSERT INTO DIAGNOSTIC_EVENT VALUES (2, 'events were dropped');
"""

CALLS = """
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,
  eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1100, 0, {tid}, 1, 3),
  (2000, 2100, 0, {tid}, 2, 3), (3000, 3400, 0, {tid}, 3, 4);
"""

KERNELS = """
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
  correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
  shortName INTEGER NOT NULL, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER,
  blockY INTEGER, blockZ INTEGER, graphNodeId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
  (1200, 1900, 0, 1, 7, 1, {pid}, 1, 2, 132, 1, 1, 128, 1, 1, NULL),
  (3100, 3300, 0, 1, 7, 3, {pid}, 1, 2, 132, 1, 1, 128, 1, 1, 22),
  (3300, 3500, 0, 1, 7, 3, {pid}, 1, 2, 64, 1, 1, 128, 1, 1, 23);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
  correlationId INTEGER, globalPid INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (2150, 2200, 0, 1, 7, 2, {pid}, 1, 0, 2);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
  correlationId INTEGER, globalPid INTEGER, memKind INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (2250, 2260, 0, 1, 7, 2, {pid}, 2);
CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start INTEGER NOT NULL, end INTEGER NOT NULL,
  globalTid INTEGER, nameId INTEGER NOT NULL, graphNodeId INTEGER NOT NULL,
  originalGraphNodeId INTEGER);
INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES (500, 501, {tid}, 5, 11, NULL),
  (510, 511, {tid}, 5, 12, NULL), (600, 601, {tid}, 5, 22, 11), (601, 602, {tid}, 5, 23, 12);
"""

NVTX = """
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,
  text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
INSERT INTO NVTX_EVENTS (start, end, eventType, text, textId, domainId, globalTid) VALUES
  (400, 550, 59, '{{''Module'': ''model.layers.0'', ''Inputs'': [[2, 8]]}}', NULL, 0, {tid}),
  (560, 560, 59, '{{''Module'': ''model.layers.0'', ''Outputs'': []}}', NULL, 0, {tid}),
  (900, 1950, 59, NULL, 6, 0, {tid}),
  (950, 1150, 59, 'aten::mm, seq = 3, op_id = 4, sizes = [[2, 8], [8]]', NULL, 0, {tid}),
  (800, NULL, 59, 'bench_step::0::bs::8::past::128', NULL, 0, {tid}),
  (850, 900, 60, 'ncclAllReduce', NULL, 1, {tid}), (860, NULL, 34, 'mark', NULL, 0, {tid});
"""

GRAPHS = """
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
  correlationId INTEGER, globalPid INTEGER, graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (3100, 3500, 0, 1, 7, 3, {pid}, 2, 9);
"""

HOSTILE = """
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, demangledName);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('1', 2.5, x'00', NULL, 1),
  (-9223372036854775808, 9223372036854775807, 0, 7, 1), (5, 4, 0, 7, 99), (1, 2, 0, 7, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER PRIMARY KEY, end, globalTid, nameId)
  WITHOUT ROWID;
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, -1, 3), (2, 3, NULL, 3);
CREATE VIEW NVTX_EVENTS AS SELECT 1 AS start, 2 AS end, 59 AS eventType, 'x' AS text;
"""

OLD = """
CREATE TABLE EXPORT_META_DATA (name TEXT NOT NULL, value TEXT);
INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_PRODUCT_VERSION', '2022.2.1.31');
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'gemm');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
  streamId INTEGER, shortName INTEGER, graphNodeId INTEGER);
CREATE TABLE CUDA_GRAPH_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER,
  graphNodeId INTEGER, originalGraphNodeId INTEGER);
INSERT INTO CUDA_GRAPH_EVENTS VALUES (1, 2, {tid}, 1, 5, 6), (1, 2, {tid}, 1, 6, 5);
"""

DATABASES = {
    "nodes": METADATA + CALLS + KERNELS + NVTX,
    "graphs": METADATA + CALLS + NVTX + GRAPHS,
    "hostile": METADATA + HOSTILE,
    "old": OLD,
    "foreign": "CREATE TABLE bookmarks (id INTEGER PRIMARY KEY, url TEXT);",
}

# Enough rows that tables have inner pages.
MANY = """
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
INSERT INTO CUDA_GRAPH_EVENTS SELECT i, i + 1, {tid}, 1, 100 + i, 99 + i FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 1000 - i, 1001 - i, 0, i % 3, 1, 100 + i FROM n;
"""


def write(path: pathlib.Path, sql: str) -> None:
    path.unlink(missing_ok=True)
    process = 1 << 48 | 100 << 24
    database = sqlite3.connect(path)
    database.execute("PRAGMA page_size = 512")
    database.executescript(sql.format(pid=process, tid=process | 101))
    database.commit()
    database.close()


def main() -> int:
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else CORPUS
    folder.mkdir(parents=True, exist_ok=True)
    for name, sql in DATABASES.items():
        write(folder / f"{name}.sqlite", sql)
    write(folder / "many_rows.sqlite", DATABASES["old"] + MANY)
    whole = (folder / "nodes.sqlite").read_bytes()
    (folder / "cut.sqlite").write_bytes(whole[: len(whole) * 2 // 3])
    return 0


if __name__ == "__main__":
    sys.exit(main())
