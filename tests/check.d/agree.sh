# What check says and what run does, in many scenes: the suite "long".
say "agree: check beside run, 600 scenes"
! build_asan || meson_tests agree build-check/asan --suite long --timeout-multiplier 4
