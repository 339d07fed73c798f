# What needs no sanitizer: style, unit tests, documents, examples, scenes that start the program so often that the sanitizer's
# start would be most of what they cost (suite "once"), and those that check less under a sanitizer (suite "bounds").
# The suites fault and systemd follow with address sanitizer.
say "plain: warnings are errors"
! build_plain || meson_tests plain build-check/plain --suite style --suite unit --suite examples --suite figures --suite browser --suite once \
  --suite bounds --timeout-multiplier 4
