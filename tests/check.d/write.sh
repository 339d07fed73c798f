# Makes all generated texts anew: the sample and the reference of options, the reference of commands, the tables of metrics and messages, the status
# document's guide, the list of dependencies, the tables of versions, what others build on, and the maps.
say "write: all generated texts"

# What git takes for changed, with its content.
texts() { git ls-files -z --modified --others --exclude-standard | xargs -0 -r sha256sum 2>/dev/null | sort; }

# write_one COMMAND...: a writer says itself what it cannot write, such as what is to be done about a new message.
write_one() {
  local said
  if said=$("$@" 2>&1); then
    written=$((written + 1))
  else
    unwritten=$((unwritten + 1))
    sed 's/^/   /' <<<"$said"
  fi
}

run_write() {
  local before after written=0 unwritten=0 plain=build-check/plain
  build_plain "daemon/tidemark tests/unit/test-config tests/unit/test-status-document tests/fault/mock-kafka tests/fault/scripted-gateway" ||
    return
  before=$(texts)
  write_one $plain/tests/unit/test-config --write
  write_one $plain/tests/unit/test-status-document --write
  write_one /usr/bin/python3 daemon/manual/write_reference.py $plain/daemon/tidemark docs/commands.md
  write_one /usr/bin/python3 tests/style/check_metrics_docs.py --write
  write_one /usr/bin/python3 tests/style/check_messages.py --write
  write_one /usr/bin/python3 tests/style/check_spdx.py --write
  write_one /usr/bin/python3 tests/versions/version_table.py --write
  # It looks into the references, and the maps have the first words of all files.
  write_one /usr/bin/python3 tests/scenarios/test_interface.py $plain --write
  write_one /usr/bin/python3 tests/style/check_map.py --write
  after=$(texts)
  comm -3 <(echo "$before") <(echo "$after") | awk 'NF { print "   written: " $2 }' | sort -u
  [ "$before" != "$after" ] || echo "   each is as it was"
  count write $written $unwritten 0
}
run_write
