# The Debian package: built, judged, and a newcomer's first hour with it, up to the purge, in a clean root; the Containerfile carried
# out. With --long beside the real Kafka and HBase.
directory=$PWD/build-check/package

# The packages and the root, once in each run of ./check: before the stage comes, while others wait, or at its begin.
make_package() (
  mkdir -p "$directory"
  hold_lock "$directory/lock"
  [ ! -f "$directory/made" ] || exit 0
  rm -rf "$directory"/built "$directory"/again
  making=
  # Beside the build, since it waits for the network and for its disk. Old ones have to fetch too much. The lock is not for what they
  # leave behind.
  find "$directory" -name root.tar -mtime +7 -delete
  if [ ! -f "$directory/root.tar" ] && [ "$(id -u)" = 0 ]; then
    (mmdebstrap --variant=minbase --include=systemd,ca-certificates --dpkgopt=force-unsafe-io --aptopt='Acquire::Languages "none"' \
      bookworm "$directory/root.part.tar" && mv "$directory/root.part.tar" "$directory/root.tar") >"$directory/root.log" 2>&1 9>&- &
    making=$!
  fi
  built=0
  systemd/build_package.sh "$directory/built" >"$directory/build.log" 2>&1 9>&- || built=$?
  if [ -n "$making" ] && ! wait "$making"; then
    tail -n 30 "$directory/root.log"
    exit 1
  fi
  if [ $built != 0 ]; then
    tail -n 30 "$directory/build.log" | cut -c1-300
    exit 1
  fi
  touch "$directory/made"
)

run_package() {
  local long=()
  say "package: built, and lived with in a clean root"
  make_package || return
  if is long; then
    # Elsewhere, later, by somebody with other habits.
    (umask 077 && TZ=Asia/Tokyo LC_ALL=C systemd/build_package.sh "$directory/again/in/another/place") >"$directory/again.log" 2>&1 ||
      tail -n 30 "$directory/again.log"
    long=(--stack --again "$directory/again/in/another/place")
  fi
  /usr/bin/python3 tests/package/test_package.py --build build-check/plain --packages "$directory/built" --root "$directory/root.tar" \
    --counts "$results/package" "${long[@]}"
}
if [ "${1:-}" = ahead ]; then
  make_package
elif build_plain "tests/fault/mock-kafka tests/fault/scripted-gateway"; then
  run_package
fi
