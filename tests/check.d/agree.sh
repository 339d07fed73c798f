# What check says and what run does, in many scenes, and 50 runs to the end beside members that are killed: the suite "long".
say "agree: check beside run, 600 scenes; run --until-end beside 50 kills"
! build_asan || meson_tests agree build-check/asan --suite long --timeout-multiplier 4
# What scan, latest, verify, load and rollup do, beside a plain model: 200 worlds with 40 queries and 8 verify runs each.
say "agree: 8,000 queries, 1,600 verify runs, 200 loads and 200 rollups with kills, beside a plain model"
{ build_plain && /usr/bin/python3 tests/scenarios/commands_model.py --build build-check/plain --seed $((seed * 1000)) --worlds 200 \
  --jobs 6 --counts "$results/model"; } || [ -s "$results/model" ] || count model 0 1 0
