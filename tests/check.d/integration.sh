# The daemon between the real Kafka and HBase.
say "integration: the real Kafka and HBase"

# run_integration NAME OPTION...
run_integration() {
  local name=$1
  shift
  /usr/bin/python3 tests/integration/run.py --tidemark build-check/plain/daemon/tidemark --counts "$results/$name" \
    --unstable build-check/unstable "$@" || [ -s "$results/$name" ] || count "$name" 0 1 0
}

if ! build_plain; then
  count integration 0 1 0
elif is long; then
  run_integration integration --long --table build-check/links.md
else
  # Two stacks side by side: the tests wait more than they compute.
  run_integration integration-2 --half 2 >build-check/integration-2.log 2>&1 &
  half=$!
  run_integration integration --half 1
  wait $half
  cat build-check/integration-2.log
fi
