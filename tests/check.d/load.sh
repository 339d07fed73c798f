# Files loaded into the real HBase, killed three times: the same content as undisturbed, and flat memory.
say "load: 10,000,000 readings from files, on the real HBase"
if ! build_plain; then
  count load 0 1 0
else
  /usr/bin/python3 tests/chaos/killed_load.py --tidemark build-check/plain/daemon/tidemark --counts "$results/load" \
    --summary build-check/load.json --seed "$seed" --readings "$(is long && echo 10000000 || echo 300000)" ||
    [ -s "$results/load" ] || count load 0 1 0
fi
