#!/bin/sh
# Prints the clang major version that the sanitizer, fuzzing, tidy and format steps use: 14, which the
# project is checked with, or else the lowest later one that is installed or that apt can install.
# CLANG_VERSION=N in the environment overrides the choice. Prints nothing and fails when there is none.
set -u
if [ -n "${CLANG_VERSION:-}" ]; then
  echo "$CLANG_VERSION"
  exit 0
fi
versions="14 15 16 17 18 19 20 21"
for version in $versions; do
  if command -v "clang++-$version" >/dev/null 2>&1 &&
     command -v "clang-tidy-$version" >/dev/null 2>&1 &&
     command -v "clang-format-$version" >/dev/null 2>&1; then
    echo "$version"
    exit 0
  fi
done
if command -v apt-cache >/dev/null 2>&1; then
  for version in $versions; do
    if apt-cache policy "clang-$version" 2>/dev/null | grep -q 'Candidate: [0-9]'; then
      echo "$version"
      exit 0
    fi
  done
fi
exit 1
