#!/usr/bin/env python3
"""A report of Nsight Systems as an input: it is exported by the `nsys` of PATH, whose stand-in here is
a script; what that says and leaves behind, also where it fails or is interrupted.
"""

import contextlib
import os
import pathlib
import signal
import sqlite3
import subprocess
import tempfile
import time

from e2e import Parts, check_refused, program


def names_of(file):
    rows = program.run_json("kernels", [file], "--by", "name")["data"]["rows"]
    return {row["name"]: (row["n"], row["sum_ns"]) for row in rows}


@contextlib.contextmanager
def nsys_on_path(folder, script):
    """PATH with a stand-in for nsys in front; without a script, with no nsys at all."""
    tools = folder / "bin"
    tools.mkdir(exist_ok=True)
    path = tools / "nsys"
    path.unlink(missing_ok=True)
    if script is not None:
        path.write_text("#!/bin/sh\n" + script, encoding="utf-8")
        path.chmod(0o755)
    before = os.environ["PATH"], os.environ.get("TMPDIR")
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    os.environ["PATH"] = f"{tools}:/usr/bin:/bin"
    os.environ["TMPDIR"] = str(temporary)
    try:
        yield temporary
    finally:
        os.environ["PATH"] = before[0]
        if before[1] is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before[1]


# Finds the file that --output names and the report, which here is a path of a database.
EXPORT = """
echo "$@" > "$ARGUMENTS"
for word in "$@"; do case "$word" in --output=*) out="${word#--output=}";; esac; report="$word"; done
echo "Processing the report"; echo "a line on stderr" >&2
cp "$(cat "$report")" "$out"
"""


def compare_export(tally, database, folder):
    report = folder / "my report.nsys-rep"
    report.write_text(str(database), encoding="utf-8")
    os.environ["ARGUMENTS"] = str(folder / "arguments")
    wanted = program.run_json("kernels", [database])["data"]["rows"]
    with nsys_on_path(folder, EXPORT) as temporary:
        done = program.run(["kernels", report, "--format", "json"])
        tally.equal(f"exit ({done.stderr.strip()[:200]})", done.exit, 0)
        envelope = program.parse_json(done.stdout)
        tally.equal("kernels", envelope["data"]["rows"], wanted)
        tally.equal("kind", envelope["inputs"][0]["kind"], "nsys")
        tally.equal("path", envelope["inputs"][0]["path"], str(report))
        tally.holds("nothing of nsys is printed", "Processing" not in done.stdout + done.stderr and
                    "a line on stderr" not in done.stderr)
        tally.equal("arguments", (folder / "arguments").read_text().split()[:2],
                    ["export", "--type=sqlite"])
        tally.equal("temporary files left", list(temporary.iterdir()), [])
        out = folder / "from_report.json"
        tally.equal("annotate: exit", program.run(["annotate", report, "-o", out]).exit, 0)
        tally.equal("annotate", names_of(out), names_of(database))
        tally.equal("temporary files left by annotate", list(temporary.iterdir()), [])
        ranks = folder / "ranks"
        ranks.mkdir()
        for rank in (0, 1):
            (ranks / f"run_rank{rank}.nsys-rep").write_text(str(database), encoding="utf-8")
        both = program.run_json("kernels", [ranks])
        tally.equal("ranks", [part["rank"] for part in both["ranks"]], [0, 1])


def compare_failures(tally, folder):
    report = folder / "report1.nsys-rep"
    report.write_bytes(b"bytes that nobody but nsys reads")
    with nsys_on_path(folder, None):
        check_refused(tally, folder, [
            (["info", report], 3, "no nsys on PATH"),
            (["info", report], 3, f"nsys export --type=sqlite --force-overwrite=true "
                                  f"--output={folder}/report1.sqlite {report}")])
        (folder / "report1.sqlite").write_bytes(b"")
        check_refused(tally, folder, [(["info", report], 3, "report1.sqlite lies beside it")])
        (folder / "report1.sqlite").unlink()
    with nsys_on_path(folder, "echo 'first line'; echo 'Error: the report is damaged' >&2; exit 4\n"):
        check_refused(tally, folder, [
            (["info", report], 3, "(exit 4): Error: the report is damaged")])
    with nsys_on_path(folder, "exit 0\n") as temporary:
        check_refused(tally, folder, [(["info", report], 3, "could not export this report (exit 0)")])
        tally.equal("temporary files left", list(temporary.iterdir()), [])


def compare_interrupt(tally, folder):
    """Ctrl-C ends nsys and what it started, and leaves nothing behind."""
    report = folder / "slow.nsys-rep"
    report.write_bytes(b"x")
    pid = folder / "pid"
    os.environ["PID_FILE"] = str(pid)
    with nsys_on_path(folder, 'sleep 600 & echo $! > "$PID_FILE"; wait\n') as temporary:
        run = subprocess.Popen([str(program.binary()), "info", str(report)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        deadline = time.monotonic() + 20
        while not (pid.exists() and pid.read_text().strip()) and time.monotonic() < deadline:
            time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=20)
        tally.equal("exit", run.returncode, 130)
        tally.equal("temporary files left", list(temporary.iterdir()), [])
        time.sleep(0.1)
        stat = pathlib.Path(f"/proc/{pid.read_text().strip()}/stat")
        state = stat.read_text().rpartition(")")[2].split()[0] if stat.exists() else "gone"
        tally.holds(f"what nsys started has ended: {state}", state in ("gone", "Z"))


def tiny_database(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.executescript("""
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'gemm');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
  correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (2000, 2500, 0, 1, 7, 5, 281475664576512, 1, 1);
""")


def main():
    parts = Parts("nsys reports")
    with tempfile.TemporaryDirectory(prefix="layerscope-nsys-") as name:
        root = pathlib.Path(name)
        for what in ("export", "failures", "interrupt"):
            (root / what).mkdir()
        tiny_database(root / "tiny.sqlite")
        parts.run("exported by nsys", compare_export, root / "tiny.sqlite", root / "export")
        parts.run("failures", compare_failures, root / "failures")
        parts.run("interrupt", compare_interrupt, root / "interrupt")
    parts.close()


if __name__ == "__main__":
    main()
