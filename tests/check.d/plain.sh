# What needs no sanitizer: style, unit tests, documents, examples, and scenes that start the program so often that the sanitizer's
# start would be most of what they cost (suite "once"). The suites fault and systemd follow with address sanitizer.
say "plain: warnings are errors"
! build_plain || meson_tests plain build-check/plain --no-suite fault --no-suite systemd --no-suite scenarios --no-suite long --timeout-multiplier 4
