# What the daemon makes of random messages in each format, beside independent decoders.
say "formats: beside independent decoders"

formats() {
  local out passed failed ended=0 messages=10000
  ! is long || messages=100000
  out=$(python3 tests/formats/agree.py build-check/plain/tests/formats/decode-messages --seed "$seed" \
    --messages $messages --broken $((messages / 5)) 2>&1) || ended=$?
  out+=$'\n'$(python3 tests/formats/test_units.py build-check/plain/tests/formats/change-units --seed "$seed" 2>&1) ||
    ended=$?
  out+=$'\n'$(python3 tests/formats/test_containers.py build-check/plain/tests/formats/split-container --seed "$seed" \
    --files $((messages / 20)) 2>&1) || ended=$?
  out+=$'\n'$(python3 tests/formats/test_payloads.py build-check/plain --others 2>&1) || ended=$?
  sed 's/^/   /' <<<"$out"
  passed=$(grep -c '^ok ' <<<"$out")
  failed=$(grep -c '^not ok ' <<<"$out")
  # One that does not come to its end has failed, too.
  [ "$failed" -gt 0 ] || [ "$ended" = 0 ] || failed=1
  count formats "$passed" "$failed" 0
}

! build_plain "tests/formats/decode-messages tests/formats/change-units tests/formats/split-container daemon/tidemark" || formats
