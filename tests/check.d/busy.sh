# The suites while two processes that only compute keep the machine busy: no test may be decided by timing.
say "busy: beside two processes that only compute"
compute() { while :; do :; done; }
run_busy() {
  compute & local first=$!
  compute & local second=$!
  meson_tests busy build-check/asan --suite unit --suite fault --timeout-multiplier 12
  kill $first $second
  wait $first $second 2>/dev/null
}
! build_asan || run_busy
