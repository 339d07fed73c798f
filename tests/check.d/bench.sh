# What measures works; no figure decides.
say "bench: the shortest form of some sections of ./bench, on the real Kafka and HBase"
if build_plain &&
  /usr/bin/python3 tests/bench/bench.py --build build-check/plain --quick --only micro --only client --only start --only gateway \
    >build-check/bench.log 2>&1; then
  count bench 1 0 0
else
  tail -n 30 build-check/bench.log
  count bench 0 1 0
fi
