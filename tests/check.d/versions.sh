# The main job with each version of HBase's gateway, of Kafka and of librdkafka that docs/install.md names: version x step x result.
say "versions: of HBase, Kafka and librdkafka"

if ! build_plain "daemon/tidemark tests/unit/test-kafka-conf"; then
  count versions 0 1 0
else
  /usr/bin/python3 tests/integration/run.py --tidemark build-check/plain/daemon/tidemark --counts "$results/versions" \
    --versions build-check/versions.json Versions || [ -s "$results/versions" ] || count versions 0 1 0
  cmp -s build-check/versions.json tests/versions/versions.json ||
    echo "   build-check/versions.json is other than tests/versions/versions.json: copy it where it is right, then ./check --write"
fi
