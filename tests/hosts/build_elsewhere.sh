#!/usr/bin/env bash
# In a root of another release of Debian: builds the package of a source package, and the program with its unit tests, which it runs.
#
# usage: build_elsewhere.sh RELEASE SOURCE.dsc DIRECTORY
#   DIRECTORY   gets the root (once a week), the package (package/) and what meson wrote of the tests (meson-logs/)
set -euo pipefail
release=$1 source=$(realpath "$2") directory=$(mkdir -p "$3" && realpath "$3")
root=$directory/root

# What building the package asks for, and what unit tests run besides.
find "$directory" -maxdepth 1 -name root.made -mtime +7 -delete
if [ ! -f "$root.made" ]; then
  rm -rf "$root" "$root.part"
  depends=$(sed -n '/^Build-Depends: /{s/^Build-Depends: //; s/([^)]*)//g; p}' "$source" | tr -d ' ' | tr ',' '\n')
  # Of alternatives the last, as a later release has it.
  packages=$(sed 's/.*|//; s/^debhelper-compat$/debhelper/' <<<"$depends" | paste -sd,)
  mmdebstrap --variant=buildd --include="$packages,git,ninja-build,openssl,tzdata,zstd" --dpkgopt=force-unsafe-io \
    --aptopt='Acquire::Languages "none"' "$release" "$root.part"
  mv "$root.part" "$root"
  touch "$root.made"
fi

rm -rf "$directory/package" "$directory/meson-logs" "$root/work"
mkdir -p "$directory/package" "$root/work"
cp "${source%.dsc}"* "${source%-*.dsc}.orig.tar.gz" "$root/work"
cat >"$root/work/build.sh" <<'END'
cd /work
dpkg-source -x ./*.dsc tree
(cd tree && dpkg-buildpackage --no-sign --build=binary) || exit
meson setup build tree --buildtype=debug -Doptimization=0 -Dwerror=true && meson test -C build --suite unit --timeout-multiplier 6
END
status=0
# Like a machine of its own: nothing of the caller's, and what it starts ends with it.
unshare --mount --pid --fork --kill-child bash -c "mount -t proc proc '$root/proc' && mount --rbind /dev '$root/dev' &&
  exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 chroot '$root' bash /work/build.sh" || status=$?
cp "$root"/work/*.deb "$directory/package"
cp -r "$root/work/build/meson-logs" "$directory"
exit $status
