"""What the checks of generated runs share: a grid of options, each run by the generator and then checked."""

import argparse
import pathlib
import subprocess
import sys
import tempfile
from typing import Callable

MAX_SHOWN = 8
MAX_LENGTH = 600

# Writes a run into a folder with what `generate(*arguments)` runs, checks it, and says how much it compared.
Check = Callable[[pathlib.Path, str, Callable[..., None], list[str]], int]


def run_grid(description: str, grid: dict[str, str], check: Check) -> None:
    """One line a case; ends the program with 1 if any failed or compared nothing."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument('--gen', required=True)
    parser.add_argument('--only', default='')
    arguments = parser.parse_args()

    def generate(*words: str) -> None:
        subprocess.run([arguments.gen, *words], check=True)

    failed = 0
    for name, options in grid.items():
        if arguments.only not in name:
            continue
        errors: list[str] = []
        with tempfile.TemporaryDirectory() as folder:
            compared = check(pathlib.Path(folder), options, generate, errors)
        if compared == 0:
            errors.append('nothing was compared')
        failed += bool(errors)
        print(f"{'FAILED' if errors else 'ok'} {name}: {compared} compared", flush=True)
        for error in errors[:MAX_SHOWN]:
            print(f'    {error[:MAX_LENGTH]}')
    sys.exit(1 if failed else 0)
