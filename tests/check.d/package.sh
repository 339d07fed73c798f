# The Debian package: built, judged, and a newcomer's first hour with it, up to the purge, in a clean root; the Containerfile carried
# out. With --long beside the real Kafka and HBase.
run_package() {
  local directory=$PWD/build-check/package making='' long=()
  say "package: built, and lived with in a clean root"
  rm -rf "$directory"/built "$directory"/again
  mkdir -p "$directory"
  # Beside the build, since it waits for the network and for its disk. Old ones have to fetch too much.
  find "$directory" -name root.tar -mtime +7 -delete
  if [ ! -f "$directory/root.tar" ] && [ "$(id -u)" = 0 ]; then
    (mmdebstrap --variant=minbase --include=systemd,ca-certificates --dpkgopt=force-unsafe-io --aptopt='Acquire::Languages "none"' \
      bookworm "$directory/root.part.tar" && mv "$directory/root.part.tar" "$directory/root.tar") >"$directory/root.log" 2>&1 &
    making=$!
  fi
  if ! systemd/build_package.sh "$directory/built" >"$directory/build.log" 2>&1; then
    tail -n 30 "$directory/build.log" | cut -c1-300
    [ -z "$making" ] || wait "$making"
    return
  fi
  if is long; then
    # Elsewhere, later, by somebody with other habits.
    (umask 077 && TZ=Asia/Tokyo LC_ALL=C systemd/build_package.sh "$directory/again/in/another/place") >"$directory/again.log" 2>&1 ||
      tail -n 30 "$directory/again.log"
    long=(--stack --again "$directory/again/in/another/place")
  fi
  if [ -n "$making" ] && ! wait "$making"; then
    tail -n 30 "$directory/root.log"
    return
  fi
  /usr/bin/python3 tests/package/test_package.py --build build-check/plain --packages "$directory/built" --root "$directory/root.tar" \
    --counts "$results/package" "${long[@]}"
}
! build build-check/plain "tests/fault/mock-kafka tests/fault/scripted-gateway" --buildtype=debugoptimized || run_package
