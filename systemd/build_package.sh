#!/usr/bin/env bash
# Builds the Debian source package and the package of a commit: systemd/debian on top of what `git archive` gives.
#
# usage: systemd/build_package.sh [DIRECTORY [COMMIT [KIND]]]
#   DIRECTORY   where they go (build-package)
#   COMMIT      of which (HEAD); what is not committed is left out
#   KIND        full, or source: the source package alone
#
# A commit without its release's tag gets a version that sorts before that release. Only the commit decides the bytes: not the
# time, the folder, or who builds. What is needed: tests/install_packages.sh build package.
set -euo pipefail
directory=$(mkdir -p "${1:-build-package}" && cd "${1:-build-package}" && pwd)
cd "$(dirname "$0")/.."
commit=$(git rev-parse --verify "${2:-HEAD}^{commit}")
umask 022
export LC_ALL=C.UTF-8 TZ=UTC

read -r _ release _ <<<"$(git show "$commit:systemd/debian/changelog")"
release=${release//[()]/}
[[ $(git show "$commit:meson.build") =~ "version: '${release%-*}"(-dev)?"'," ]] ||
  { echo "build_package.sh: systemd/debian/changelog says $release, meson.build another version" >&2; exit 65; }
version=$release
if ! git describe --tags --exact-match --match "v${release%-*}" "$commit" >/dev/null 2>&1; then
  version="${release%-*}~git$(git show -s --format=%cd --date=format-local:%Y%m%d%H%M%S "$commit").${commit:0:12}-1"
fi
upstream=${version%-*}
date=$(git show -s --format=%cD "$commit")

work=$(mktemp -d "$directory/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
git archive --prefix="tidemark-$upstream/" "$commit" | tee "$work/archive.tar" | gzip -n9 >"$work/tidemark_$upstream.orig.tar.gz"
tar -x --no-same-permissions -C "$work" -f "$work/archive.tar"
cd "$work/tidemark-$upstream"
cp -r systemd/debian debian
if [ "$version" != "$release" ]; then
  sed -i "1s/($release) [a-z]*/($version) UNRELEASED/; 0,/^ -- /s/>  .*/>  $date/" debian/changelog
fi
# Nothing of the caller's: a linker of his choice, say, would make other bytes, or none.
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$work" CCACHE_DISABLE=1 LC_ALL=C.UTF-8 TZ=UTC \
  dpkg-buildpackage --no-sign --build="${3:-full}"
cd "$work"
mv tidemark*_* "$directory"
