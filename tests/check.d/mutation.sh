# Small bugs, put into the program one at a time: which of them the tests notice.
say "mutation: small bugs, one at a time"
/usr/bin/python3 tests/mutation/run.py --directory build-check/mutation --counts "$results/mutation" \
  >build-check/mutation.log 2>&1
grep -vE '^ *[0-9]+/[0-9]+ noticed' build-check/mutation.log | tail -n 60
if is long; then
  say "mutation: the bugs that random scenarios find"
  /usr/bin/python3 tests/scenarios/find_mutants.py --directory build-check/mutation --counts "$results/mutants-by-scenarios"
fi
