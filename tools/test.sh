#!/bin/sh
# The stages of `make test`, in order of how soon they fail; the first that fails ends the run.
#   tools/test.sh              all stages
#   tools/test.sh check lint   some of them
#   tools/test.sh viewer+lint  both at once, the output of each when it ends
# CI=true (a build server) makes warnings of the release build errors too.
set -eu
cd "$(dirname "$0")/.."
jobs=${JOBS:-2}
clang=$(sh tools/clang_version.sh)
werror=OFF
[ -z "${CI:-}" ] || werror=ON
started=$(date +%s)

header() {
  echo
  echo "==== $1 (at $(($(date +%s) - started)) s)"
}

configure() {
  preset=$1
  shift
  cmake --preset "$preset" "$@" >"build/$preset-configure.log" 2>&1 ||
    { cat "build/$preset-configure.log"; return 1; }
}

build() {
  cmake --build "build/$1" -j "$jobs"
}

stage_check() {
  header "check: format, layers, spelling, headers"
  JOBS=$jobs python3 tools/check.py
}

stage_release() {
  header "release: build"
  sh tools/viewer.sh build
  configure release "-DLAYERSCOPE_WERROR=$werror"
  build release
  header "release: unit tests, goldens, end-to-end tests"
  JOBS=$jobs ctest --preset release -j "$jobs"
  python3 tools/check.py --build build/release --only archives
}

# Of the program that the release stage built.
stage_viewer() {
  header "viewer: lint, unit tests, tests in a browser"
  LAYERSCOPE_BIN=$PWD/build/release/layerscope LAYERSCOPE_GEN=$(generator) sh tools/viewer.sh test
}

generator() {
  find "$PWD/build/release" -name layerscope-gen -type f | head -n 1
}

stage_python() {
  header "python: lint, types, tests"
  LAYERSCOPE_BIN=$PWD/build/release/layerscope sh tools/python.sh test
}

stage_lint() {
  header "lint: clang-tidy"
  configure lint "-DCMAKE_CXX_COMPILER=clang++-$clang"
  JOBS=$jobs python3 tools/tidy.py --build build/lint
}

stage_asan() {
  header "asan: build with address and undefined-behaviour sanitizers"
  configure asan "-DCMAKE_CXX_COMPILER=clang++-$clang"
  build asan
  header "asan: unit tests, goldens, fuzz corpus"
  JOBS=$jobs ctest --preset asan -j "$jobs"
}

stage_tsan() {
  header "tsan: build with the thread sanitizer"
  configure tsan "-DCMAKE_CXX_COMPILER=clang++-$clang"
  build tsan
  header "tsan: unit tests, one output for every number of threads"
  JOBS=$jobs ctest --preset tsan -j "$jobs"
}

stage() {
  if [ "$1" = lint ] && [ "$n_stages" -eq 1 ]; then stage_check; fi
  "stage_$1"
}

# Some stages leave a core idle (a browser, a download), so they share the machine with each other.
# What failed is printed last: a build server may show no more than the end.
at_once() {
  pids=
  for name in "$@"; do
    (stage "$name") >"build/stage-$name.log" 2>&1 &
    pids="$pids $name:$!"
  done
  failed=
  for pid in $pids; do
    if wait "${pid#*:}"; then cat "build/stage-${pid%:*}.log"; else failed="$failed ${pid%:*}"; fi
  done
  [ -n "$failed" ] || return 0
  for name in $failed; do cat "build/stage-$name.log"; done
  echo "failed:$failed" >&2
  return 1
}

mkdir -p build
[ -d ../shared/traces ] || echo "NOTE: ../shared/traces is absent: the tests on real traces are skipped"
[ $# -gt 0 ] || set -- check release viewer+lint+python asan tsan
n_stages=$#
for stage in "$@"; do
  case $stage in
    # shellcheck disable=SC2046
    *+*) at_once $(echo "$stage" | tr + ' ') ;;
    *) stage "$stage" ;;
  esac
done
header "all stages passed: $*"
