# The suites with the address and undefined-behaviour sanitizers.
say "address and undefined-behaviour sanitizers"
suites=(--suite unit --suite fault)
! is quick || suites+=(--suite style --suite examples --suite systemd)
run_asan() {
  # The scenarios mostly wait: beside the suites, they cost a few seconds.
  if is quick && has_stage scenarios; then
    # shellcheck disable=SC2094 # the part reads that log only where it has not been started here
    (source tests/check.d/scenarios.sh) >build-check/scenarios.log 2>&1 &
    beside=$!
  fi
  meson_tests asan build-check/asan "${suites[@]}" --timeout-multiplier 4
}
! build_asan || run_asan
