"""What the documents show and the test `docs` does not run, each with the reason."""

# Languages that another test holds.
HELD_ELSEWHERE = {
    "promql": "tests/prometheus/test_prometheus.py evaluates each on a real Prometheus",
    "xml": "tests/bench/sections/section_cost.py starts the real HBase with it",
    "java": "tests/integration/test_other_programs.py runs it on the real HBase",
    "python": "tests/integration/test_other_programs.py runs it on the real HBase",
    "nft": "tests/style/check_firewall.py has nft check them",
}

# Pages that another test goes through from top to bottom.
PAGES_HELD_ELSEWHERE = {
    "docs/first-hour.md": "tests/scenarios/test_init.py: each command builds on the one before",
}

# Programs that are not run.
PROGRAMS_NOT_RUN = {
    "thrift": "tests/integration/test_other_programs.py runs it",
    "./demo": "it is a stage of ./check --long by itself",
    "./check": "this test is a part of it",
    "sed": "it edits the operator's copy of the alert rules",
    "meson": "it has built what is tested here",
    "ninja": "it has built what is tested here",
    "tests/install_packages.sh": "it changes the machine",
    "apt": "it changes the machine",
    "dpkg-deb": "tests/package unpacks the package so",
    "systemd/build_package.sh": "it builds the package, which is a test of its own",
    "podman": "there is none here; the image is made of the package",
    "tests/chaos/chaos.py": "it needs the real stack: a stage of ./check",
    "tests/chaos/outage.py": "it needs the real stack",
    "tests/chaos/soak.py": "it takes an hour on the real stack",
    "systemctl": "tests/systemd has a systemd of its own",
    "journalctl": "tests/systemd reads a journal of its own; the ids are compared with docs/messages.md here",
    "hbase": "there is no HBase beside this test",
    "sed": "it changes a copy of the alert rules",
    "kafka-acls": "tests/integration/test_least_rights.py grants what docs/security.md prints, on a real broker",
}

# Commands that end otherwise than with 0.
ENDS_WITH = {
    "tidemark status --url https://tidemark.example.com:9464 --ca-file ca.pem --token-file status.token -f json":
        (69, "nobody answers there"),
}

# What would take long and says as much when it is small, asks somebody who is not there, or is about tables of more.yaml;
# in this order.
RUN_AS = [
    ("tidemark init messages.jsonl -c tidemark.yaml", "tidemark init -c made.yaml messages.jsonl"),  # it writes over none
    ("-o -100 -e -q | tidemark init -c tidemark.yaml", "-o -20 -e -q | tidemark init -c piped.yaml"),
    ("tidemark init -c /etc/tidemark/tidemark.yaml --from-topic -b KAFKA:9092 -t TOPIC --gateways HBASE:9090",
     "tidemark init -c unit.yaml --from-topic -b 127.0.0.1:9092 -t metrics --gateways 127.0.0.1:9090"),
    ("tidemark init messages.jsonl", "tidemark init -c plain.yaml messages.jsonl"),
    ("tidemark init --from-topic -b KAFKA:9092 -t TOPIC --gateways HBASE:9090",
     "tidemark init -c first.yaml --from-topic -b 127.0.0.1:9092 -t metrics --gateways 127.0.0.1:9090"),
    ("tidemark init --from-topic", "tidemark init -c topic.yaml --from-topic"),
    ("tidemark bench ", "tidemark bench --readings 3000 --runs 1 "),
    ("--forget", "--forget --yes"),
    ("scan LANES", "scan -c more.yaml LANES"),
    ("--file /var/lib/tidemark/dead-letters.jsonl", "--file dead-letters.jsonl"),
    ("--scanned METRIC_NEW", "--scanned METRIC"),  # new.yaml is a copy of tidemark.yaml
    ("tidemark rollup", "tidemark rollup -c more.yaml"),
    ("tidemark pause ", "tidemark pause --state-directory . "),  # the unit's need not be on this machine
    ("tidemark resume", "tidemark resume --state-directory ."),
    ("--readings 10000", "--readings 100"),
    ("-t metrics --late", "-t metrics --readings 200 --late"),
    ("tidemark run ", "tidemark run --until-end "),
    ("--watch 5", "--watch 1"),
]

# Commands whose answers are held to the last digit, which follow from what is asked alone.
SAME_EVERYWHERE = ("tidemark bench --plan ",)

# Blocks that show something else than a command: (page, how the first line begins): why it is not run. Of a screen ("...")
# the words in capitals are looked for in the program.
SCREENS = {
    ("docs/check.md", "tidemark.yaml: 2 tables"): "a place with problems that this scene does not have",
    ("docs/bench.md", "STAGE "): "times of a machine",
    ("docs/operate.md", "tidemark 0.2.0, up for"): "a gateway that is slow; tests/unit/service/test-service.c holds the words",
    ("docs/operate.md", "GATEWAY "): "a gateway that is slow",
    ("docs/operate.md", "Hot region "): "a region that is hot; tests/prometheus/test_questions.py holds it",
    ("docs/operate.md", "REGION OF "): "a region that fails; tests/fault/program/test-status.c holds it",
    ("docs/operate.md", "KEPT AT "): "cut to the width of a screen",
    ("docs/operate.md", "{"): "a region that fails; tests/unit/service/test-service.c holds the words",
    ("docs/row-keys.md", "scheme "): "tests/bench/rows_per_region.py counts it again",
    ("docs/dead-letters.md", '{"kept_at"'): "a form, with bytes left out; tests/unit/dead_letters holds it",
    ("docs/dead-letters.md", '{"row_key"'): "a form, with bytes left out; tests/unit/dead_letters holds it",
    ("README.md", " topic metrics"): "a drawing",
    ("docs/source-map.md", " Kafka partitions"): "a drawing",
    ("docs/concepts.md", " topic "): "a drawing",
    ("docs/connections.md", "[thrift]"): "stunnel's configuration; tests/integration starts one with it",
    ("docs/configuration.md", "[Service]"): "a line of a unit; tests/systemd starts a unit with one",
    ("docs/connections.md", "[libdefaults]"): "of Kerberos' library",
    ("docs/connections.md", "[Service]"): "a line of a unit; tests/integration/test_library_upgrade.py sets the same variable",
    ("docs/other-programs.md", '{"host"'): "readings that tests/integration/test_other_programs.py sends",
    ("docs/other-programs.md", "server1 1426535612045"): "tests/integration/test_other_programs.py compares it with what the programs print",
    ("docs/other-programs.md", "val configuration"): "Spark is several times larger than all that the tests use",
    ("docs/other-programs.md", "CREATE VIEW"): "Phoenix does not run in the tests; tests/integration/test_other_programs.py decodes by its types",
    ("docs/security.md", "[Service]"): "of a unit: depends on the host's networks",
    ("docs/security.md", "grant "): "for the HBase shell; tests/integration/test_least_rights.py carries it out",
}
