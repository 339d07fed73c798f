# All suites, without a sanitizer.
say "plain: warnings are errors"
! build_plain || meson_tests plain build-check/plain --no-suite scenarios --no-suite long --timeout-multiplier 4
