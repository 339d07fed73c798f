# Random scenarios, judged from outside.
run_scenarios() {
  local count=200
  ! is quick || count=100
  ! is long || count=2000
  say "scenarios: $count at random, through the whole daemon"
  ! build_asan || /usr/bin/python3 tests/scenarios/scenarios.py --build build-check/asan --found build-check \
    --seed $((seed * 1000)) --count "$count" --counts "$results/scenarios"
}

run_scenarios
