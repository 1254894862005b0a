#!/usr/bin/env python3
"""Every real trace of ../shared/traces/kineto against the figures of ../shared/golden/facts, and
generated traces against the same independent script. Exact, to the nanosecond.
"""

import importlib.util
import json
import pathlib
import tempfile

import facts as translation
from e2e import Parts, program, shared
from generated import GRID, generate

def load_script(path):
    spec = importlib.util.spec_from_file_location("kineto_facts", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def real_files(parts):
    folder, figures = shared("traces/kineto"), shared("golden/facts")
    if not folder or not figures:
        parts.skip("real traces", "../shared/traces/kineto or ../shared/golden/facts is absent")
        return
    for file in sorted(folder.iterdir()):
        known = figures / f"{file.name}.json"
        if known.is_file():
            facts = json.loads(known.read_text(encoding="utf-8"))
            parts.run(file.name, translation.compare, file, facts)
        else:
            parts.skip(file.name, "no figures for it in ../shared/golden/facts")


def generated_files(parts):
    script = shared("golden/kineto_facts.py")
    if not script or not program.generator().is_file():
        parts.skip("generated traces", f"{'no ' + str(program.generator()) if script else ''}"
                                       f"{'' if script else '../shared/golden is absent'}")
        return
    oracle = load_script(script)
    with tempfile.TemporaryDirectory(prefix="layerscope-facts-") as name:
        for title, options in GRID.items():
            file = pathlib.Path(name) / f"{title}.json"
            parts.run(f"generated {title}", compare_generated, oracle, file, options)


def compare_generated(tally, oracle, file, options):
    generate(file, options)
    translation.compare(tally, file, oracle.facts(str(file)))


if __name__ == "__main__":
    PARTS = Parts("facts")
    real_files(PARTS)
    generated_files(PARTS)
    PARTS.close()
