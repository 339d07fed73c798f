# Faults at random on the real Kafka and HBase.
say "chaos: a fault every three seconds, on the real Kafka and HBase"

# run_chaos NAME OPTION...
run_chaos() {
  local name=$1
  shift
  /usr/bin/python3 tests/chaos/chaos.py --tidemark build-check/plain/daemon/tidemark --counts "$results/$name" \
    --summary "build-check/$name.json" --seed "$seed" "$@" || [ -s "$results/$name" ] || count "$name" 0 1 0
}

if ! build_plain; then
  count chaos 0 1 0
elif is long; then
  run_chaos chaos --readings 1000000 --duration 600
  run_chaos chaos-poison --readings 1000000 --duration 600 --poison 3%
  run_chaos chaos-sasl --link sasl-auth-conf --readings 250000 --duration 120
  run_chaos chaos-sasl-both --link sasl-both --readings 250000 --duration 120
  run_chaos chaos-tls --link mutual-tls --readings 250000 --duration 120
else
  run_chaos chaos --readings 100000 --duration 80 --poison 3% --no-refused
fi
