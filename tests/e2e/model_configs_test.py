#!/usr/bin/env python3
"""Every model config of ../shared/traces/hf_config against model_configs.tsv: profile, layer count, type of
each layer, flags, attention and quantisation. The table's values were derived by hand from each file; it must
name exactly the files that are there.
"""

import pathlib
import re

from e2e import Parts, program, shared

TABLE = pathlib.Path(__file__).with_name("model_configs.tsv")


def expand(text):
    """["A", "A", "B"] of "2xA B"; groups as 2x(A B) nest."""
    tokens = re.findall(r"\d+x|[()]|[^\s()]+", text)

    def sequence(at):
        types = []
        while at < len(tokens) and tokens[at] != ")":
            times = 1
            if re.fullmatch(r"\d+x", tokens[at]):
                times, at = int(tokens[at][:-1]), at + 1
            if tokens[at] == "(":
                inner, at = sequence(at + 1)
            else:
                inner = [tokens[at]]
            types += times * inner
            at += 1
        return types, at

    return sequence(0)[0]


def rows():
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    names = lines[0].split("\t")
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines[1:]]


def infer(file):
    return program.run(["profiles", "infer", "--config", str(file), "--format", "json"])


def check_config(tally, file, row):
    done = infer(file)
    tally.equal("exit", done.exit, 0)
    data = program.parse_json(done.stdout)["data"]
    types = expand(row["types"])
    tally.equal("types in the table", len(types), int(row["layers"]))
    tally.equal("profile", data["profile"], row["profile"])
    tally.equal("num_layers", data["num_layers"], int(row["layers"]))
    tally.equal("types", [layer["type"] for layer in data["layers"]], types)
    tally.equal("index", [layer["index"] for layer in data["layers"]], list(range(len(types))))
    flags = [[] for _ in types]
    flags[0].append("FIRST")
    flags[-1].append("FINAL")
    tally.equal("flags", [layer["flags"] for layer in data["layers"]], flags)
    tally.equal("attention", data["model"]["attention"], row["attention"])
    said = None if row["quantization"] == "-" else row["quantization"]
    tally.equal("quantization", data["model"]["quantization"], said)
    tally.holds("a reason is given", bool(data["why"]))


def check_refused(tally, file, _row):
    done = infer(file)
    tally.equal("exit", done.exit, 3)
    tally.holds("it says what the file is", "hf_quant_config" in done.stderr)
    tally.holds("it says what to give", "config.json" in done.stderr)


def check_complete(tally, folder, table):
    tally.equal("files", sorted(file.name for file in folder.iterdir()), sorted(row["file"] for row in table))


def main():
    parts = Parts("model configs")
    folder, table = shared("traces/hf_config"), rows()
    if folder:
        parts.run("the table names every file", check_complete, folder, table)
        for row in table:
            check = check_refused if row["profile"] == "refused" else check_config
            parts.run(row["file"], check, folder / row["file"], row)
    else:
        parts.skip("real configs", "../shared/traces/hf_config is absent")
    parts.close()


if __name__ == "__main__":
    main()
