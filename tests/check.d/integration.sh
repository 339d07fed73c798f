# The daemon between the real Kafka and HBase.
say "integration: the real Kafka and HBase"
lengths=()
! is long || lengths=(--long --table build-check/links.md)
! build_plain || /usr/bin/python3 tests/integration/run.py --tidemark build-check/plain/daemon/tidemark \
  --counts "$results/integration" --unstable build-check/unstable "${lengths[@]}"
