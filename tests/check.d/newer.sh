# The fault suite with a librdkafka that is newer than the one that was built against, as a later distribution would bring it.
say "newer: the fault suite with a newer librdkafka"

# run_newer FOLDER VERSION: the library is found there.
run_newer() {
  local folder=$1 version=$2
  # Exported to these commands alone.
  (
    export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    if ! build-check/plain/daemon/tidemark version | grep -qF "$version"; then
      echo "newer: the program does not run with librdkafka $version of '$folder'"
      count newer 0 1 0
      exit
    fi
    meson_tests newer build-check/plain --suite fault --timeout-multiplier 4
  )
}

if build_plain && newer=$(/usr/bin/python3 tests/stack/newer_librdkafka.py); then
  # shellcheck disable=SC2086
  run_newer $newer
fi
