# Hosts beside Debian 12 on amd64: clang, with unsigned characters; arm64, by qemu; Debian 13, with its package from build to purge.
hosts=$PWD/build-check/hosts

# As on arm64, on the machine at hand.
run_clang() {
  say "hosts: all by clang, and unit tests with unsigned characters"
  CC=clang CXX=clang++ build build-check/clang all --buildtype=debug -Dc_args=-funsigned-char -Dcpp_args=-funsigned-char || return
  meson_tests hosts build-check/clang --suite unit
}

# Not those that start programs, or themselves, or want a terminal: qemu runs one program, and the kernel knows nothing of it.
runs_alone() {
  grep -rLE 'g_test_trap_subprocess|g_spawn_|posix_openpt' tests/unit --include='test-*.c' | sed 's#.*/test-##; s#[.]c$##' | sort
}

run_arm64() {
  local tests
  say "hosts: all for arm64, and unit tests by qemu"
  count hosts-arm64 0 1 0
  tests/hosts/cross_arm64.sh "$hosts/arm64" >"$hosts/arm64.log" 2>&1 || { tail -n 30 "$hosts/arm64.log" | cut -c1-300; return; }
  mapfile -t tests < <(meson test -C "$hosts/arm64/build" --no-rebuild --suite unit --list 2>/dev/null | sed 's#.* / ##' | sort |
    comm -12 - <(runs_alone))
  meson_tests hosts-arm64 "$hosts/arm64/build" --suite unit --timeout-multiplier 20 "${tests[@]}"
}

run_debian_13() {
  local directory=$hosts/trixie status=0
  say "hosts: Debian 13"
  if [ "$(id -u)" != 0 ]; then
    echo "   skipped: who is not root cannot make a root of it"
    count hosts-unit-13 0 0 1
    count hosts-package-13 0 0 1
    return
  fi
  count hosts-unit-13 0 1 0
  count hosts-package-13 0 1 0
  rm -rf "$directory/source"
  systemd/build_package.sh "$directory/source" HEAD source >"$hosts/source.log" 2>&1 || { tail -n 30 "$hosts/source.log"; return; }
  tests/hosts/build_elsewhere.sh trixie "$directory"/source/*.dsc "$directory" >"$hosts/trixie.log" 2>&1 || status=$?
  [ $status = 0 ] || grep -v '^\[' "$hosts/trixie.log" | tail -n 60 | cut -c1-300
  /usr/bin/python3 tests/count_tests.py "$directory/meson-logs" >"$results/hosts-unit-13" || count hosts-unit-13 0 1 0
  find "$directory" -maxdepth 1 -name root.tar -mtime +7 -delete
  if [ ! -f "$directory/root.tar" ]; then
    if ! mmdebstrap --variant=minbase --include=systemd,ca-certificates --dpkgopt=force-unsafe-io --aptopt='Acquire::Languages "none"' \
      trixie "$directory/root.part.tar" >"$hosts/root.log" 2>&1; then
      tail -n 30 "$hosts/root.log"
      return
    fi
    mv "$directory/root.part.tar" "$directory/root.tar"
  fi
  /usr/bin/python3 tests/package/test_package.py --build build-check/plain --packages "$directory/package" --root "$directory/root.tar" \
    --counts "$results/hosts-package-13" --elsewhere --stack
}

mkdir -p "$hosts"
run_clang
run_arm64
! build_plain "tests/fault/mock-kafka tests/fault/scripted-gateway" || run_debian_13
