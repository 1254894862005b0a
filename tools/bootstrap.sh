#!/bin/sh
# Installs the packages of tools/packages/<set>.txt that are missing: tools/bootstrap.sh build node
# [test browser]. `node` is left out where a recent Node is on PATH, `browser` where apt has none.
# Debian 12+ and Ubuntu 24.04+ only; on other systems it names the packages and stops.
# LAYERSCOPE_SKIP_DEPS=1 skips it: for those who provide the libraries themselves.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "${LAYERSCOPE_SKIP_DEPS:-0}" = 1 ]; then
  echo "deps: skipped (LAYERSCOPE_SKIP_DEPS=1)"
  exit 0
fi

packages_of() {
  for set in "$@"; do
    if [ "$set" = node ] && sh "$here/viewer.sh" node; then continue; fi
    if [ "$set" = browser ] && ! has_browser; then continue; fi
    sed -e 's/#.*//' "$here/packages/$set.txt"
  done
}

# Ubuntu has no package of that name but a snap.
has_browser() {
  ! command -v apt-cache >/dev/null 2>&1 ||
    apt-cache policy chromium 2>/dev/null | grep -q 'Candidate: [0-9]'
}

if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
  echo "deps: this system has no apt; install what these Debian packages hold, then run again with" >&2
  echo "deps: LAYERSCOPE_SKIP_DEPS=1 (CLANG is the clang version, 14 or later):" >&2
  packages_of "$@" | tr -s '\n ' '  ' >&2
  echo >&2
  exit 1
fi

as_root=
if [ "$(id -u)" != 0 ]; then
  if command -v sudo >/dev/null 2>&1; then as_root=sudo; else as_root=none; fi
fi

apt_get() {
  if [ "$as_root" = none ]; then
    echo "deps: not root and no sudo; as root run: apt-get install $missing" >&2
    exit 1
  fi
  # -o: a lock held by a system's own update is waited for, not failed on.
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -q "$@" </dev/null
}

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing_of() {
  for package in "$@"; do
    is_installed "$package" || printf '%s ' "$package"
  done
}

with_clang() {
  packages_of "$@" | sed -e "s/CLANG/${clang:-14}/g"
}

clang=$(sh "$here/clang_version.sh" || true)
# shellcheck disable=SC2046
missing=$(missing_of $(with_clang "$@"))
if [ -z "$missing" ]; then
  echo "deps: all packages present ($*)"
  exit 0
fi

echo "deps: installing: $missing"
apt_get update
# The choice of clang may change once the package lists are there.
clang=$(sh "$here/clang_version.sh" || true)
if [ -n "$clang" ] && [ "$clang" != 14 ]; then
  echo "deps: NOTE: clang-14 is not available here; using clang-$clang for sanitizers, tidy and format"
fi
# shellcheck disable=SC2046
missing=$(missing_of $(with_clang "$@"))
# shellcheck disable=SC2086
[ -z "$missing" ] || apt_get install -y --no-install-recommends $missing
