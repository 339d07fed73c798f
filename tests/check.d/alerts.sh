# Each alert seen firing and resolving in an outage, by a real Prometheus.
say "alerts: each in an outage, with all times of the rules a sixtieth"
! build_plain || /usr/bin/python3 tests/prometheus/test_outages.py build-check/plain . --counts "$results/alerts"
