#!/usr/bin/env python3
"""Breaks something of a real Kafka, HBase and three daemons every three seconds, then proves that nothing is lost and nothing wrong.

    chaos.py --tidemark build/daemon/tidemark [--readings 1000000] [--duration 600] [--seed 1] [--poison 3%]
             [--link sasl-auth-conf]

Readings are sent at a steady rate for the whole duration. What breaks follows from the seed, which is printed. The tables are
judged cell by cell by HBase's own client against what was sent (judge.py), dead letters likewise by kcat.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from dataclasses import asdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "integration"), str(HERE.parent / "stack")]
import proof  # noqa: E402
from faults import Conductor, Fault, Scene  # noqa: E402
from links import Link  # noqa: E402
from proof import FEED_DEADLINE_S, HISTORY, LATEST, N_HOSTS, N_PARTITIONS, Proof, Result  # noqa: E402
from stack import Stack  # noqa: E402
from stack_services import TWO_REGION_SERVERS  # noqa: E402
from workload import Workload, host_name  # noqa: E402

# HBase refuses a cell above this, tidemark and the gateways' client do not: a row that only its writing shows to be poison.
REFUSED_BYTES = 8 << 10


class Chaos(Proof):

    def __init__(self, stack: Stack, link: Link, options: argparse.Namespace, directory: Path, result: Result) -> None:
        workload = Workload(n_readings=options.readings, n_hosts=N_HOSTS, n_partitions=N_PARTITIONS, seed=options.seed,
                            poison_share=options.poison, refused_bytes=REFUSED_BYTES + 1024 if options.refused else 0)
        super().__init__(stack, link, directory, result, workload, tidemark=options.tidemark, n_daemons=options.daemons,
                         messages_per_s=options.readings * (1 + options.poison) / options.duration, changes={},
                         has_dead_letters=options.poison > 0)
        self.options = options
        self.scene = Scene(stack, link, self.fleet, (HISTORY, LATEST), N_HOSTS, lambda host: host_name(host).encode(),
                           has_refused_rows=options.refused and options.poison > 0)

    def happen(self) -> None:
        options = self.options
        feeder = self.feeder()
        conductor = Conductor(self.scene, options.seed, lambda line: print(line, flush=True))
        print(f"seed {options.seed}: {options.readings:,} readings in {options.duration} s, about {self.messages_per_s:,.0f} messages "
              f"a second; a fault every 3 s", flush=True)
        try:
            feeder.start()
            conductor.run(options.duration)
            feeder.finish(FEED_DEADLINE_S)
        except BaseException:
            feeder.kill()
            raise
        _tell(conductor.faults)
        complaints = conductor.complaints + self.scene.complaints
        self.result.check("faults are repaired", not complaints, "\n".join(complaints) or f"{len(conductor.faults)} faults")
        self.result.figures["faults"] = [asdict(fault) for fault in conductor.faults]

    def close(self) -> None:
        super().close()
        self.scene.close()


def _tell(faults: list[Fault]) -> None:
    took_of_kind: dict[str, list[float]] = {}
    for fault in faults:
        took_of_kind.setdefault(fault.kind, []).append((fault.recovered_s or 0) - fault.started_s)
    print(f"\n{'fault':<16} {'times':>5} {'median':>9} {'longest':>9}   until repaired")
    for kind, took_s in sorted(took_of_kind.items()):
        print(f"{kind:<16} {len(took_s):>5} {statistics.median(took_s):>7.1f} s {max(took_s):>7.1f} s")
    print()


def share(text: str) -> float:
    return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)


def main() -> int:
    parser = proof.parser(__doc__ or "", readings=1_000_000)
    parser.add_argument("--duration", type=float, default=600, help="for how many seconds faults happen (default: 600)")
    parser.add_argument("--poison", type=share, default=0.0, help="share of messages that can never be written, such as 3%%")
    parser.add_argument("--refused", action=argparse.BooleanOptionalAction, default=True,
                        help="whether poison is also rows that only HBase refuses (default: yes)")
    parser.add_argument("--daemons", type=int, default=3)
    options = parser.parse_args()
    hbase_settings = dict(TWO_REGION_SERVERS)
    if options.poison > 0:
        hbase_settings["hbase.server.keyvalue.maxsize"] = str(REFUSED_BYTES)
    return proof.run(options, lambda stack, link, directory, result: Chaos(stack, link, options, directory, result),
                     hbase_settings=hbase_settings)


if __name__ == "__main__":
    sys.exit(main())
