# What check says and what run does, in many scenes, and 50 runs to the end beside members that are killed: the suite "long".
say "agree: check beside run, 600 scenes; run --until-end beside 50 kills"
! build_asan || meson_tests agree build-check/asan --suite long --timeout-multiplier 4
