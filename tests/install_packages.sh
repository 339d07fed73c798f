#!/usr/bin/env bash
# Installs what the named sets of tests/packages.txt list and this machine does not have.
# usage: install_packages.sh SET...
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

# Go, Java and Maven may have come by other ways than a package.
has_command_instead() {
  case $1 in
    openjdk-17-jdk-headless) command -v java javac >/dev/null ;;
    maven) command -v mvn >/dev/null ;;
    golang-go) command -v go >/dev/null ;;
    *) return 1 ;;
  esac
}

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" = "ii " ]
}

missing=()
for set in "$@"; do
  while read -r in_set names version _; do
    [[ ,$in_set, = *,$set,* ]] || continue
    for name in ${names//|/ }; do
      if is_installed "$name" || has_command_instead "$name"; then continue 2; fi
    done
    missing+=("$names=$version")
  done < <(grep -v '^#' "$here/packages.txt")
done
[ ${#missing[@]} -gt 0 ] || exit 0

# known PACKAGE=VERSION...: of names with | between them the first that this release has; of other releases any version.
known() {
  local package name codename
  codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  for package in "$@"; do
    for name in $(tr '|' ' ' <<<"${package%%=*}"); do
      ! apt-cache show "$name" >/dev/null 2>&1 || break
    done
    if [ "$codename" = bookworm ]; then echo "$name=${package#*=}"; else echo "$name"; fi
  done
}

as_root=()
if [ "$(id -u)" != 0 ]; then
  as_root=(sudo)
fi
echo "installing: ${missing[*]}"
log=$(mktemp)
if ! { "${as_root[@]}" apt-get update -q && mapfile -t missing < <(known "${missing[@]}") &&
       DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -q -y --no-install-recommends "${missing[@]}"; } \
     >"$log" 2>&1; then
  tail -n 30 "$log" >&2
  echo "installing failed; the whole log is $log" >&2
  exit 69
fi
rm -f "$log"
