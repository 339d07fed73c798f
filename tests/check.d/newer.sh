# The fault suite with versions of librdkafka that are newer than the one that was built against, as later distributions bring them.
say "newer: the fault suite with newer versions of librdkafka"

# run_newer FOLDER VERSION: the library is found there.
run_newer() {
  local folder=$1 version=$2 name=newer
  [ ! -s "$results/newer" ] || name=newer-$version
  # Exported to these commands alone.
  (
    export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    if ! build-check/plain/daemon/tidemark version | grep -qF "$version"; then
      echo "newer: the program does not run with librdkafka $version of '$folder'"
      count "$name" 0 1 0
      exit
    fi
    meson_tests "$name" build-check/plain --suite fault --timeout-multiplier 4
  )
}

if build_plain && newer=$(/usr/bin/python3 tests/stack/newer_librdkafka.py); then
  while read -r folder version; do
    run_newer "$folder" "$version" </dev/null
  done <<<"$newer"
fi
