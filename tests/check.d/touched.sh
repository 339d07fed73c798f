# The tests that the working tree's changes can break: what differs from the merge base with main.
say "touched: what the changes can break"

run_touched() {
  local told names
  build_plain "all fuzzers" || return
  told=$(/usr/bin/python3 tests/touched.py build-check/plain) || { echo "$told"; return; }
  grep -v '^run:' <<<"$told"
  read -ra names <<<"$(sed -n 's/^run: *//p' <<<"$told")"
  if [ ${#names[@]} -eq 0 ]; then
    echo "touched: nothing differs from main, and HEAD is its first commit"
    count touched 1 0 0
    return
  fi
  meson_tests touched build-check/plain --timeout-multiplier 4 "${names[@]}"
}
run_touched
