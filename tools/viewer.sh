#!/bin/sh
# The viewer (viewer/, TypeScript): its build and its tests.
#   tools/viewer.sh build   viewer/dist/index.html, where its sources changed since the last time
#   tools/viewer.sh test    lint, unit tests, and tests in a browser of the program in $LAYERSCOPE_BIN
#   tools/viewer.sh node    succeeds where Node is recent enough
# Without Node, or without a network for its packages, the program is built without the viewer: it
# says so when somebody asks for it. CI=true makes that an error.
set -eu
cd "$(dirname "$0")/../viewer"
wanted="18.18"

has_node() {
  command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1 &&
    node -e "const [a, b] = process.versions.node.split('.'), [c, d] = '$wanted'.split('.');
             process.exit(+a > +c || (+a === +c && +b >= +d) ? 0 : 1)" 2>/dev/null
}

without() {
  echo "viewer: NOTE: $1; the program is built without the viewer" >&2
  [ -z "${CI:-}" ]
}

# The lock file decides what is installed; npm ci is run once for each.
install_packages() {
  stamp=node_modules/.layerscope-lock
  if [ -f "$stamp" ] && cmp -s package-lock.json "$stamp"; then return 0; fi
  echo "viewer: npm ci"
  npm ci --no-audit --no-fund --loglevel=error || return 1
  cp package-lock.json "$stamp"
}

sources_sum() {
  { find src -type f ! -name '*.test.ts' ! -name '*.test.tsx'
    ls index.html package-lock.json package.json tsconfig.json vite.config.ts; } |
    LC_ALL=C sort | tr '\n' '\0' | xargs -0 sha256sum | sha256sum
}

build() {
  if ! has_node; then
    without "Node $wanted or later is not on PATH (Debian: nodejs, npm)"
    return
  fi
  if ! install_packages; then
    without "the viewer's packages could not be installed (npm ci)"
    return
  fi
  sum=$(sources_sum)
  stamp=node_modules/.layerscope-build
  if [ -f dist/index.html ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$sum" ]; then
    echo "viewer: dist/index.html is up to date"
    return
  fi
  npm run --silent build
  echo "$sum" >"$stamp"
}

# Ubuntu's chromium is a snap, which a test cannot start; Debian's is a program like any other.
browser() {
  for name in "${CHROMIUM:-}" /usr/bin/chromium; do
    [ -n "$name" ] && "$name" --version >/dev/null 2>&1 && { echo "$name"; return; }
  done
  return 1
}

run_tests() {
  if ! has_node; then
    without "Node $wanted or later is not on PATH: NO TEST OF THE VIEWER IS RUN"
    return
  fi
  install_packages
  npm run --silent lint
  npm run --silent test
  if ! ls e2e/*.spec.ts >/dev/null 2>&1; then
    echo "viewer: there are no tests in a browser"
  elif chromium=$(browser); then
    CHROMIUM=$chromium npm run --silent e2e
  else
    echo "viewer: NOTE: THE TESTS IN A BROWSER ARE SKIPPED: there is no Chromium that a test can start" >&2
    echo "viewer: NOTE: (Debian: apt-get install chromium; Ubuntu's is a snap; CHROMIUM=FILE names one)" >&2
  fi
}

case "${1:-build}" in
  build) build ;;
  test) run_tests ;;
  node) has_node ;;
  *)
    echo "tools/viewer.sh: build, test or node, not '$1'" >&2
    exit 2
    ;;
esac
