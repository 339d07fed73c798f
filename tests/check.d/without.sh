# The program without what a build may leave out: it says so, refuses what needs it, and does the rest
say "without: no Avro, no protobuf"

without() {
  local tests=(config config-avro config-problems) targets
  targets=${tests[*]/#/tests/unit/test-}
  # The whole program takes a minute of CPU to compile.
  if is long; then
    tests+=(examples)
    targets+=" daemon/tidemark"
  fi
  build build-check/without "$targets" --buildtype=debug -Davro=disabled -Dprotobuf=disabled || return
  if is long && ! build-check/without/daemon/tidemark version | grep -q 'built without: avro, protobuf$'; then
    echo "without: version does not say what is left out"
    count without 0 1 0
    return
  fi
  meson_tests without build-check/without "${tests[@]}"
}

without
