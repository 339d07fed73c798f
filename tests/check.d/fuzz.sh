# Each fuzzer, with address and undefined-behaviour sanitizers.
say "fuzzers"

# fuzz_seconds FUZZER: long enough to walk the whole corpus and mutate it some 10^5 times; longer for the keys, on which all
# that is stored depends.
fuzz_seconds() {
  case $length-$1 in
    long-*) echo 300 ;;
    *-fuzz-row-key) echo 25 ;;
    *) echo 12 ;;
  esac
}

# FUZZ_RUNS=N in the environment: until N executions, an hour at the most; with --long so many of each format's. FUZZ_NAME:
# one fuzzer alone.
fuzz_limits() {
  local runs=${FUZZ_RUNS:-}
  case $length-$1 in
    long-fuzz-decoder | long-fuzz-influx | long-fuzz-csv | long-fuzz-msgpack | long-fuzz-avro | long-fuzz-protobuf)
      runs=${runs:-10000000} ;;
  esac
  if [ -n "$runs" ]; then
    echo "-runs=$runs -max_total_time=3600"
  else
    echo "-max_total_time=$(fuzz_seconds "$1")"
  fi
}

# fuzz_stat STATISTIC NAME
fuzz_stat() { sed -n "s/^stat::$1: *//p" "build-check/fuzz/$2.log"; }

# run_fuzzer PROGRAM
run_fuzzer() {
  local name corpus limits dictionary=()
  name=$(basename "$1")
  read -ra limits <<<"$(fuzz_limits "$name")"
  corpus=build-check/fuzz/corpus-$name
  mkdir -p "$corpus"
  [ ! -f "tests/fuzz/${name#fuzz-}.dict" ] || dictionary=("-dict=tests/fuzz/${name#fuzz-}.dict")
  if "$1" -seed="$seed" "${limits[@]}" -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 "${dictionary[@]}" \
    -artifact_prefix=build-check/fuzz/ "$corpus" "tests/fuzz/corpus/${name#fuzz-}" >"build-check/fuzz/$name.log" 2>&1; then
    printf '   %-24s %s runs, %s/s, no finding\n' "$name" "$(fuzz_stat number_of_executed_units "$name")" \
      "$(fuzz_stat average_exec_per_sec "$name")"
    return 0
  fi
  tail -n 30 "build-check/fuzz/$name.log"
  return 1
}

# Two at a time, which no other fuzzer slows down on two cores.
run_fuzzers() {
  local fuzzer passed
  rm -f build-check/fuzz/passed-* build-check/fuzz/begun-*
  for fuzzer in build-check/fuzz/tests/fuzz/fuzz-${FUZZ_NAME:-*}; do
    [ -x "$fuzzer" ] && [ -f "$fuzzer" ] || continue
    touch "build-check/fuzz/begun-${fuzzer##*/}"
    (run_fuzzer "$fuzzer" && touch "build-check/fuzz/passed-${fuzzer##*/}") &
    [ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n
  done
  wait
  passed=$(find build-check/fuzz -maxdepth 1 -name 'passed-*' | wc -l)
  count fuzz "$passed" $(($(find build-check/fuzz -maxdepth 1 -name 'begun-*' | wc -l) - passed)) 0
}

! build_fuzz || run_fuzzers
