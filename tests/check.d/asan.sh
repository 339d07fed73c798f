# The suites with the address and undefined-behaviour sanitizers.
say "address and undefined-behaviour sanitizers"
suites=(--suite unit --suite fault)
# More at a time than meson_tests() has: half of them wait for Kafka's group protocol, and a third of both cores would be idle.
! is quick || suites+=(--suite style --suite examples --no-suite whole --num-processes 44)
run_asan() {
  # 8 MiB of what was freed is kept back from malloc(), instead of 256: half the page faults. ./check keeps all.
  ! is quick || local -x ASAN_OPTIONS=quarantine_size_mb=8:halt_on_error=1:abort_on_error=1:print_summary=1
  meson_tests asan build-check/asan "${suites[@]}" --timeout-multiplier 4
}
is quick || suites+=(--suite systemd)
! build_asan || run_asan
