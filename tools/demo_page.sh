#!/bin/sh
# tools/demo_page.sh PROGRAM TRACE PAGE: the end of `make demo`: the report as a page, and how to open it.
set -eu
program=$1 trace=$2 page=$3
if ! "$program" report "$trace" -o "$page" >/dev/null 2>"$page.log"; then
  cat "$page.log" >&2
  rm -f "$page.log"
  echo "NOTE: the page is missing: it needs the viewer, and that needs Node 18.18 or later (make build)." >&2
  [ -z "${CI:-}" ]
  exit
fi
rm -f "$page.log"
echo
echo "The report to look at is $page: open it in any browser, it needs no network."
echo "  file://$(cd "$(dirname "$page")" && pwd)/$(basename "$page")"
echo "With a server behind it, all of the trace: $program view $trace"
