#!/usr/bin/env bash
# Builds the program and its unit tests for arm64, with Debian 12's libraries of that architecture, and configures qemu to run them.
#
# usage: cross_arm64.sh DIRECTORY
#   DIRECTORY   gets the libraries (sysroot/, once) and the build (build/)
set -euo pipefail
directory=$(mkdir -p "$1" && realpath "$1")
cd "$(dirname "$0")/../.."
sysroot=$directory/sysroot

if [ ! -d "$sysroot" ]; then
  packages=$(awk '$1 ~ /^build/ && $2 ~ /-dev/ { sub("[|].*", "", $2); print $2 }' tests/packages.txt | paste -sd,)
  rm -rf "$sysroot.part"
  mmdebstrap --arch=arm64 --variant=extract --include="libc6-dev,libstdc++-12-dev,$packages" bookworm "$sysroot.part"
  # Links from the root of that system would lead into this one.
  find "$sysroot.part" -type l -lname '/*' -printf '%l %p\n' | while read -r target link; do ln -sfn "$sysroot$target" "$link"; done
  mv "$sysroot.part" "$sysroot"
fi
cat >"$directory/cross.ini" <<END
[constants]
flags = ['--sysroot=$sysroot']
[binaries]
c = 'aarch64-linux-gnu-gcc'
cpp = 'aarch64-linux-gnu-g++'
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64', '-L', '$sysroot']
[built-in options]
c_args = flags
cpp_args = flags
c_link_args = flags
cpp_link_args = flags
[properties]
sys_root = '$sysroot'
pkg_config_libdir = '$sysroot/usr/lib/aarch64-linux-gnu/pkgconfig:$sysroot/usr/share/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
unset CC_LD CXX_LD
[ -f "$directory/build/build.ninja" ] || meson setup "$directory/build" --cross-file "$directory/cross.ini" --buildtype=debug -Doptimization=0 -Dwerror=true
ninja -C "$directory/build"
