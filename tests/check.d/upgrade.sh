# The release before this one beside the program, in one group, up and down again; without a release, the program of a hundred commits
# ago.
run_upgrade() {
  local before source=build-check/before-source
  before=$(git describe --tags --abbrev=0 HEAD^ 2>/dev/null || git rev-list --first-parent --skip=100 --max-count=1 HEAD)
  if [ -z "$before" ]; then
    echo "upgrade: there is no release and no commit to compare with"
    count upgrade 0 0 1
    return
  fi
  say "upgrade: from $before, and back"
  rm -rf $source build-check/before
  mkdir -p $source
  git archive "$before" | tar -x -C $source
  if meson setup build-check/before $source >build-check/before.log 2>&1 &&
    ninja -C build-check/before daemon/tidemark >>build-check/before.log 2>&1 &&
    /usr/bin/python3 tests/scenarios/test_rolling.py build-check/plain build-check/before/daemon/tidemark; then
    count upgrade 1 0 0
  else
    tail -n 30 build-check/before.log
    count upgrade 0 1 0
  fi
}
! build_plain || run_upgrade
