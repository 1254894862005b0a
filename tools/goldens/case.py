"""The text format of a golden case.

  # name: what the case is called (defaults to the file name)
  # why: the behaviour that it holds still
  # from: where the expected values come from, when not the program itself ("counted by hand", …)

  === input tiny.json              the bytes of an input file, up to the next ===; *.gz is compressed
  === input bad.json escaped       the same with \\x00, \\n, … in the text read as Python escapes
  === sqlite run.sqlite            a database made by the SQL statements that follow
  === generate gen.json.gz OPTIONS a file made by layerscope-gen OPTIONS (`nsys …`: a database)
  === shared a.json.gz traces/kineto/a.json.gz   a file of ../shared, under a short name
  === run modules tiny.json -n 3   the command; `< tiny.json` feeds standard input
  === exit 0                       expected of the run above: exit code (default 0),
  === stdout                       standard output, byte for byte,
  === stderr                       standard error, byte for byte (absent: nothing is expected there),
  === json data.total              a part of the JSON output, by keys and indices: the keys that stand
                                   here must have these values, others may stand beside them,
  === file out.csv                 a file that the command wrote

A case may hold several runs; each is compared on its own. Files live in a folder of their own, so that
paths in the output are the short names.
"""

import dataclasses
import json
import pathlib
import shlex


class CaseError(Exception):
    pass


@dataclasses.dataclass
class Section:
    kind: str
    rest: str
    lines: list


@dataclasses.dataclass
class Expected:
    """One `=== run` with the sections that belong to it."""

    command: str
    sections: list

    def arguments(self):
        """(arguments, name of the file for standard input or None)"""
        words = shlex.split(self.command)
        if "<" in words:
            at = words.index("<")
            return words[:at] + words[at + 2:], words[at + 1]
        return words, None


@dataclasses.dataclass
class Case:
    path: pathlib.Path
    header: list
    setup: list
    runs: list

    def field(self, key):
        prefix = f"# {key}:"
        return next((l[len(prefix):].strip() for l in self.header if l.startswith(prefix)), None)

    @property
    def name(self):
        return self.field("name") or self.path.stem


SETUP = {"input", "sqlite", "generate", "shared"}
EXPECTED = {"exit", "stdout", "stderr", "json", "file"}


def parse(path):
    header, setup, runs, current = [], [], [], None
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("=== "):
            kind, _, rest = line[4:].partition(" ")
            current = Section(kind, rest.strip(), [])
            if kind == "run":
                runs.append(Expected(current.rest, []))
            elif kind in SETUP and not runs:
                setup.append(current)
            elif kind in EXPECTED and runs:
                runs[-1].sections.append(current)
            else:
                raise CaseError(f"{path.name}:{number}: '=== {kind}' cannot stand here")
        elif current is None:
            header.append(line)
        else:
            current.lines.append(line)
    case = Case(path, header, setup, runs)
    if not runs:
        raise CaseError(f"{path.name}: no '=== run'")
    if not case.field("why"):
        raise CaseError(f"{path.name}: no '# why:'")
    return case


def body(section):
    """The text of a section: its lines, each ended; one empty line before the next === is layout."""
    lines = list(section.lines)
    while lines and lines[-1] == "":
        lines.pop()
    return "".join(line + "\n" for line in lines)


def render(case):
    out = list(case.header)
    for section in case.setup:
        out += _lines(section)
    for run in case.runs:
        out += [f"=== run {run.command}"]
        for section in run.sections:
            out += _lines(section)
    while out and out[-1] == "":
        out.pop()
    return "\n".join(out) + "\n"


def _lines(section):
    return [f"=== {section.kind} {section.rest}".rstrip()] + section.lines


def text_section(kind, rest, text):
    return Section(kind, rest, text.split("\n"))


def pick(document, path):
    """The part of a JSON document that `a.0.b` names."""
    for key in path.split("."):
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


def compact(value):
    """One line when short, else one line for each member: readable in a diff."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) <= 100 or not isinstance(value, (list, dict)):
        return line + "\n"
    if isinstance(value, list):
        return "[\n" + ",\n".join("  " + json.dumps(v, ensure_ascii=False) for v in value) + "\n]\n"
    members = (f"  {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in value.items())
    return "{\n" + ",\n".join(members) + "\n}\n"


def json_difference(wanted_text, actual_text):
    """Where `actual` lacks what `wanted` says, as lines; extra keys of objects are allowed."""
    try:
        wanted, actual = json.loads(wanted_text), json.loads(actual_text)
    except ValueError:
        return [f"expected {wanted_text.strip() or 'nothing'}", f"actual {actual_text.strip()}"]
    found = []
    _differ("", wanted, actual, found)
    return found


def _differ(where, wanted, actual, found):
    if isinstance(wanted, dict) and isinstance(actual, dict):
        for key, value in wanted.items():
            if key in actual:
                _differ(f"{where}.{key}", value, actual[key], found)
            else:
                found.append(f"{where}.{key}: absent, expected {json.dumps(value)}")
    elif isinstance(wanted, list) and isinstance(actual, list):
        if len(wanted) != len(actual):
            found.append(f"{where}: {len(actual)} entries, expected {len(wanted)}")
        for index, (left, right) in enumerate(zip(wanted, actual)):
            _differ(f"{where}.{index}", left, right, found)
    elif wanted != actual or isinstance(wanted, bool) != isinstance(actual, bool):
        found.append(f"{where or '.'}: {json.dumps(actual)}, expected {json.dumps(wanted)}")
