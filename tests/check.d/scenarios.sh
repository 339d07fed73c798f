# Random scenarios, judged from outside.
say "scenarios: at random, through the whole daemon"
how_many=(--seconds 30)
! is long || how_many=(--count 2000)
! build_asan || /usr/bin/python3 tests/scenarios/scenarios.py --build build-check/asan --found build-check --seed $((seed * 1000)) "${how_many[@]}" \
  --counts "$results/scenarios"
