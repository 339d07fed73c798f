# The suites with the address and undefined-behaviour sanitizers.
say "address and undefined-behaviour sanitizers"
suites=(--suite unit --suite fault)
! is quick || suites+=(--suite style --suite examples)
! build_asan || meson_tests asan build-check/asan "${suites[@]}" --timeout-multiplier 4
