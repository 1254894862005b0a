"""`steps` and `overhead` reduced over ranks, against the truth of a generated database."""

import nsys_runs as runs
from e2e import program


def compare_reduced(tally, run):
    if any(step["number"] is None for _, step in runs.steps_in_order(run.ranks)):
        return
    for how in ("sum", "max", "mean"):
        envelope = program.run_json("steps", [run.database], "-n", "0", "--rank-reduce", how, "--per-rank")
        wanted = runs.reduced_truth(run.ranks, how)
        rows = envelope["reduced"]["steps"]
        tally.equal(f"reduced {how}", [row["index"] for row in rows], sorted(wanted))
        for row in rows:
            figures = wanted.get(row["index"], {})
            tally.equal(f"reduced {how} {row['index']}", {key: row[key] for key in figures}, figures)


def compare_reduced_overhead(tally, run):
    if any(step["number"] is None for _, step in runs.steps_in_order(run.ranks)):
        return
    for how in ("sum", "max", "mean"):
        reduced = program.run_json("overhead", [run.database], "-n", "0", "--rank-reduce", how)["reduced"]
        wanted = runs.reduced_overhead_truth(run.ranks, how)
        tally.equal(f"reduced overhead {how}", [row["index"] for row in reduced["steps"]], sorted(wanted))
        for row in reduced["steps"]:
            figures = wanted.get(row["index"], {})
            tally.equal(f"reduced overhead {how} {row['index']}", {key: row[key] for key in figures},
                        figures)
        tally.equal("medians hold all wall time", sum(g["sum_wall_ns"] for g in reduced["median"]),
                    sum(step["window_ns"] for _, step in runs.steps_in_order(run.ranks)))
