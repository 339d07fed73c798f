# The program without what a build may leave out: it says so, refuses what needs it, and does the rest
say "without: no Avro, no protobuf"

without() {
  local tests=("${without_tests[@]}")
  ! is long || tests+=(examples)
  build_without || return
  if is long && ! build-check/without/daemon/tidemark version | grep -q 'built without: avro, protobuf$'; then
    echo "without: version does not say what is left out"
    count without 0 1 0
    return
  fi
  meson_tests without build-check/without "${tests[@]}"
}

without
