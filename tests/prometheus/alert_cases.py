"""For each alert of config/prometheus/alerts.yaml: the series that make it fire and then resolve, in promtool's notation, one
value a minute; when it fires, and when it does so no more."""
from typing import Any

ONE = 'instance="a:9464",job="tidemark"'
PARTITION = ONE + ',topic="t",partition="0"'


def gauge(name: str, bad: int, minutes: int, labels: str = ONE) -> dict[str, Any]:
    """Bad for so long from the tenth minute on, and good before and after."""
    return {"series": {f"{name}{{{labels}}}": f"0x9 {bad}x{minutes - 1} 0x120"}, "fires": f"{9 + minutes}m", "resolves": "120m"}


def counter(name: str, to: int, labels: str = ONE) -> dict[str, Any]:
    """A step in the tenth minute."""
    return {"series": {f"{name}{{{labels}}}": f"0x9 {to}x120"}, "fires": "12m", "resolves": "60m"}


CASES: dict[str, dict[str, Any]] = {
    "TidemarkDown": {"series": {f"up{{{ONE}}}": "1x9 0x5 1x60"}, "fires": "14m", "resolves": "30m"},
    "TidemarkRestarts": {"series": {f"process_start_time_seconds{{{ONE}}}": "100 200 300 400x90"}, "fires": "5m",
                         "resolves": "60m"},
    "TidemarkMessagesLost": counter("tidemark_messages_lost_total", 7),
    "TidemarkAccounting": {"series": {f"tidemark_messages_received_total{{{PARTITION}}}": "10x120",
                                      f"tidemark_messages_written_total{{{PARTITION}}}": "9x40 10x80",
                                      f'tidemark_messages_skipped_total{{{PARTITION},reason="tombstone"}}': "0x120",
                                      f"tidemark_messages_in_flight{{{PARTITION}}}": "0x120"},
                           "fires": "20m", "resolves": "60m"},
    "TidemarkNoProgress": {"series": {f"tidemark_kafka_consumer_lag{{{PARTITION}}}": "5x120",
                                      f"tidemark_messages_received_total{{{PARTITION}}}": "10x40 20+10x80",
                                      f'tidemark_hbase_rows_written_total{{{ONE},gateway="g"}}': "10x40 20+10x80"},
                           "fires": "20m", "resolves": "60m"},
    "TidemarkNotReady": {"series": {f"tidemark_ready{{{ONE}}}": "1x9 0x14 1x60"}, "fires": "22m", "resolves": "30m"},
    "TidemarkKafkaDown": {"series": {f"tidemark_kafka_up{{{ONE}}}": "1x9 0x9 1x60"}, "fires": "17m", "resolves": "30m"},
    "TidemarkLagGrowing": {"series": {f"tidemark_kafka_consumer_lag_seconds{{{PARTITION}}}": "0+60x60 0x120"},
                           "fires": "55m", "resolves": "120m"},
    "TidemarkDeadLetters": counter("tidemark_dead_letters_total", 3, ONE + ',reason="parse"'),
    "TidemarkDeadLettersHolding": gauge("tidemark_dead_letters_blocked", 1, 5),
    "TidemarkPartitionHalted": gauge("tidemark_kafka_halted_partitions", 2, 5),
    "TidemarkTableSuspended": gauge("tidemark_tables_suspended", 1, 5),
    "TidemarkGatewayDown": {"series": {f'tidemark_gateway_up{{{ONE},gateway="g"}}': "1x9 0x9 1x60"}, "fires": "17m",
                            "resolves": "30m"},
    "TidemarkGatewaySlow": gauge("tidemark_gateway_slow", 1, 20, ONE + ',gateway="g"'),
    "TidemarkRegionFailing": gauge("tidemark_regions_failing", 2, 15),
    "TidemarkOldRows": gauge("tidemark_oldest_in_flight_seconds", 400, 10),
    "TidemarkPaused": gauge("tidemark_kafka_paused", 1, 20, PARTITION),
    "TidemarkPausedByOperator": gauge("tidemark_operator_pause_seconds", 3700, 2),
    "TidemarkTopicMissing": gauge("tidemark_kafka_topics_missing", 1, 10),
    "TidemarkGroupStranger": gauge("tidemark_kafka_group_foreign_members", 1, 5),
    "TidemarkGroupBeginsAgain": counter("tidemark_kafka_offsets_gone_total", 2),
    "TidemarkReadingsOverwritten": counter("tidemark_cells_overwritten_total", 5, ONE + ',table="M"'),
    "TidemarkClockJumped": counter("tidemark_clock_jumps_total", 1, ONE + ',direction="back"'),
    "TidemarkCommitFailures": counter("tidemark_kafka_commit_failures_total", 9),
    "TidemarkNotCommitted": {"series": {f"tidemark_kafka_stored_offset{{{PARTITION}}}": "10x9 20x120",
                                        f"tidemark_kafka_committed_offset{{{PARTITION}}}": "10x40 20x90"},
                             "fires": "20m", "resolves": "60m"},
    "TidemarkReconnects": {"series": {f'tidemark_hbase_connects_total{{{ONE},reason="broken"}}': "0+120x30 3600x90"},
                           "fires": "25m", "resolves": "90m"},
    "TidemarkReloadFailed": {"series": {f"tidemark_config_last_reload_successful{{{ONE}}}": "1x9 0x9 1x60"}, "fires": "17m",
                             "resolves": "30m"},
    # promtool's time begins in 1970: a certificate to an hour after the seventh day, renewed after two hours; each minute of a
    # longer case would cost promtool the evaluation of all rules
    "TidemarkCertificateEnds": {"series": {f'tidemark_client_certificate_expiry_timestamp_seconds{{{ONE},gateway="g"}}':
                                           "608400x120 8640000x100"}, "fires": "62m", "resolves": "150m"},
}


# Once more, where rules did not see it before.
FURTHER: list[tuple[str, dict[str, Any]]] = [
    ("TidemarkMessagesLost", {"series": {f"tidemark_messages_lost_total{{{ONE}}}": "_x9 7x120"}, "fires": "12m", "resolves": "60m"}),
    ("TidemarkDeadLetters", {"series": {f'tidemark_dead_letters_total{{{ONE},reason="parse"}}': "_x9 3x120"}, "fires": "12m",
                             "resolves": "60m"}),
    # without a pause, and after one
    ("TidemarkNoProgress", {"series": {f"tidemark_kafka_consumer_lag{{{PARTITION}}}": "5x120",
                                       f"tidemark_messages_received_total{{{PARTITION}}}": "10x120",
                                       f'tidemark_hbase_rows_written_total{{{ONE},gateway="g"}}': "10x120",
                                       f"tidemark_operator_pause_seconds{{{ONE}}}": "0x29 1+60x59 0x60"},
                            "fires": "25m", "resolves": "60m"}),
    # committed as it is written, always a little later
    ("TidemarkNotCommitted", {"series": {f"tidemark_kafka_stored_offset{{{PARTITION}}}": "20+10x60 620x60",
                                         f"tidemark_kafka_committed_offset{{{PARTITION}}}": "10+10x60 610x40 620x20"},
                              "fires": "90m", "resolves": "50m"}),
    # forgotten each minute, and found slow again
    ("TidemarkGatewaySlow", {"series": {f'tidemark_gateway_slow{{{ONE},gateway="g"}}': "0x9 1x3 0 1x3 0 1x3 0 1x3 0 1x3 0x120"},
                             "fires": "28m", "resolves": "120m"}),
]


def promtool_tests(rules: str) -> dict[str, Any]:
    """As a file for `promtool test rules`."""
    def firing(alert: str, at: str, count: int) -> dict[str, Any]:
        return {"expr": f'count(ALERTS{{alertname="{alert}",alertstate="firing"}}) or vector(0)', "eval_time": at,
                "exp_samples": [{"labels": "{}", "value": count}]}
    return {"rule_files": [rules], "evaluation_interval": "1m", "tests": [
        {"name": alert, "interval": "1m",
         "input_series": [{"series": series, "values": values} for series, values in case["series"].items()],
         "promql_expr_test": [firing(alert, "0m", 0), firing(alert, case["fires"], 1), firing(alert, case["resolves"], 0)]}
        for alert, case in [*CASES.items(), *FURTHER]]}
