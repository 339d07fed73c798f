"""Makes random batches of scenarios: configurations of all table shapes, messages of all kinds, and what goes wrong.

Everything follows from the seed, so a batch can be made again. Few hosts, times and fields are drawn from, so that cells meet.
"""
from __future__ import annotations

import datetime
import json
import random
from typing import Any
from zoneinfo import ZoneInfo

from oracle import Message, Oracle
from outside import BASE_MS, add_outside

MAX_CELL = 300               # a longer value is refused by HBase
LONG = 700
AUTUMN_MS = 1_729_987_200_000  # 2024-10-27T00:00:00Z: an hour later, Berlin's clocks go back
SPRING_MS = 1_711_843_200_000  # 2024-03-31T00:00:00Z: an hour later, Berlin's clocks go forward

Json = dict[str, Any]


# ---- times ----

def time_shape(rng: random.Random, is_plain: bool) -> Json:
    """How the scenario's readings tell their time, and around which moment they are made."""
    plain: Json = {"spec": {"field": "ts", "format": "epoch_ms"}, "base_ms": BASE_MS, "step_ms": 1000}
    if is_plain:
        return plain
    berlin: Json = {"field": "ts", "format": "pattern", "pattern": "yyyy-MM-dd HH:mm:ss", "zone": "Europe/Berlin"}
    return rng.choice([
        plain, plain, plain,
        {"spec": {"field": "ts", "format": "epoch_s"}, "base_ms": BASE_MS, "step_ms": 1000},
        {"spec": {"field": "ts", "format": "rfc3339"}, "base_ms": BASE_MS, "step_ms": 500},
        {"spec": "record", "base_ms": BASE_MS, "step_ms": 1000},
        {"spec": {"field": "ts", "format": "pattern", "pattern": "yyyyMMddHHmmss", "zone": "+05:30"}, "base_ms": BASE_MS,
         "step_ms": 1000},
        {"spec": berlin, "base_ms": BASE_MS, "step_ms": 60_000},
        {"spec": berlin, "base_ms": AUTUMN_MS - 900_000, "step_ms": 600_000, "is_spread": True},
        {"spec": berlin, "base_ms": SPRING_MS, "step_ms": 600_000, "is_spread": True, "skips": "2024-03-31 02:%02d:00"},
    ])


def time_token(rng: random.Random, spec: Any, ms: int) -> str | None:
    """The event time as JSON; None: the message does not tell it."""
    if spec == "record":
        return None
    if spec["format"] == "epoch_ms":
        return str(ms)
    if spec["format"] == "epoch_s":
        return str(ms // 1000)
    if spec["format"] == "rfc3339":
        zone = datetime.timezone(datetime.timedelta(hours=rng.choice([0, 0, 2, -7])))
        moment = datetime.datetime.fromtimestamp(ms / 1000, zone)
        return json.dumps(moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
    name = spec["zone"]
    zone = datetime.timezone(datetime.timedelta(hours=5, minutes=30)) if name.startswith("+") else ZoneInfo(name)
    form = {"yyyy-MM-dd HH:mm:ss": "%Y-%m-%d %H:%M:%S", "yyyyMMddHHmmss": "%Y%m%d%H%M%S"}[spec["pattern"]]
    return json.dumps(datetime.datetime.fromtimestamp(ms / 1000, zone).strftime(form))


# ---- tables ----

HISTORY_KEYS: list[Any] = [
    [{"field": "host"}, "#", {"time": "epoch_ms"}],
    [{"field": "host"}, "#", {"time": "epoch_ms", "reversed": True}],
    [{"field": "host", "width": 8}, {"time": "epoch_ms", "binary": True}],
    [{"field": "host"}, "#", {"time": "yyyyMMddHHmmss", "zone": "+01:00"}],
    [{"field": "n", "width": 6, "pad": "0", "reversed": True}, "#", {"time": "epoch_s"}],
    [{"hash": "md5", "of": ["host"], "bytes": 2}, {"field": "host"}, "|", {"time": "epoch_ms"}],
    [{"hash": "crc32", "of": ["host", "n"], "as": "raw"}, {"field": "host"}, "#", {"field": "n"}, "#", {"time": "epoch_ms"}],
    [{"salt": 3, "of": ["n"], "by": "number", "first": 1}, "-", {"field": "n", "as": "uint32"}, {"time": "epoch_ms"}],
    [{"field": "site", "default": "none"}, "/", {"field": "host", "case": "upper"}, "#", {"time": "epoch_ms"}],
    [{"field": "site", "default": [{"when": {"field": "host", "matches": "h1*"}, "value": "cellar"}, "roof"]}, "#",
     {"field": "host"}, "#", {"time": "epoch_ms"}],
    [{"field": "n", "as": "int16"}, {"time": "epoch_ms", "cut": "day"}, "#", {"field": "host"}],
]
LATEST_KEYS: list[Any] = [
    [{"field": "host"}], [{"field": "host"}], [{"field": "host"}], [{"field": "site", "default": "none"}, "#", {"field": "host"}],
    [{"hash": "sha1", "of": ["host"], "bytes": 16}], [{"field": "n", "as": "int32"}],
]
COLUMNS: list[Any] = [
    {"family": "M", "from": "*"}, {"family": "M", "from": "*"}, {"family": "M", "from": "*", "prefix": "p_", "case": "upper"},
    {"family": "M", "from": "*", "key_fields": True},
    [{"family": "M", "from": "*"}, {"family": "K", "from": [{"value": "1.2", "as": "schema"}, {"field": "a", "as": "first"}]}],
    [{"family": "M", "from": ["a*", "o/*"]}, {"family": "K", "from": ["b", "c", "x"], "nulls": "empty"},
     {"family": "K", "from": [{"value": {"field": "host", "case": "upper"}, "as": "ID"}]}],
    {"family": "M", "from": "*", "nulls": "reject"},
    {"family": "M", "from": "*", "encode": "json"},
    [{"family": "M", "from": "*"}, {"family": "N", "from": ["i"], "encode": "int64"}],
]


def columns(rng: random.Random) -> Any:
    return rng.choice(COLUMNS)


def history(rng: random.Random) -> Json:
    table: Json = {"key": rng.choice(HISTORY_KEYS), "columns": columns(rng)}
    if rng.random() < 0.1:
        table["ttl"] = "7300d"
    if rng.random() < 0.1:
        table["cell_time"] = "record"
    if rng.random() < 0.1:
        table["columns"] = {"family": "M", "from": "*", "pack": "json"}
    return table


def day_rows(rng: random.Random) -> Json:
    return {"key": [{"field": "host"}, "#", {"time": "yyyyMMdd", "zone": rng.choice(["UTC", "Europe/Berlin"])}],
            "columns": [{"family": "M", "from": ["a", "b"], "qualifier": [{"name": True}, "/", {"time": "HHmm", "cut": "15m"}]},
                        {"family": "M", "from": [{"value": {"field": "host"}, "as": "ID"}]}]}


def latest(rng: random.Random) -> Json:
    mode = rng.choice(["merge", "merge", "merge", "replace", "packed"])
    table: Json = {"latest": mode, "key": rng.choice(LATEST_KEYS), "columns": columns(rng)}
    if mode == "packed":
        table["columns"] = {"family": "M", "from": "*"}
    if mode == "replace":
        table["columns"] = rng.choice([COLUMNS[0], COLUMNS[2]])
    if rng.random() < 0.2:
        table["tombstone"] = "delete"
        table["key"] = [{"field": "host"}]
    return table


def table_set(rng: random.Random) -> Json:
    """One to three tables."""
    kind = rng.choice(["metric", "latest", "index", "dated", "days", "quotes", "history"])
    if kind == "metric":
        tables: Json = {"A": history(rng), "B": latest(rng)}
    elif kind == "latest":
        tables = {"A": latest(rng)}
    elif kind == "index":
        tables = {"A": {"key": [{"field": "host"}, "_", {"time": "epoch_ms"}], "columns": {"family": "M", "from": "*"}},
                  "I": {"latest": "merge", "index_of": "A", "key": [{"field": "host"}],
                        "columns": {"family": "cf", "from": [{"value": {"time": "epoch_ms", "binary": True}, "as": "ts"}]}}}
        if rng.random() < 0.2:
            tables["I"]["tombstone"] = "delete"
        if rng.random() < 0.2:
            tables["A"]["when"] = {"field": "site", "not_equals": "s1"}
        if rng.random() < 0.5:
            tables["B"] = latest(rng)
    elif kind == "dated":
        tables = {"D_{yyyyMMdd}": {**history(rng), "name_zone": rng.choice(["UTC", "Europe/Berlin"])}}
        if rng.random() < 0.5:
            tables["B"] = latest(rng)
    elif kind == "days":
        tables = {"A": day_rows(rng), "B": latest(rng)}
    elif kind == "quotes":
        tables = {"A": {**history(rng), "when": {"field": "a", "present": True}},
                  "B": {**latest(rng), "when": [{"field": "b", "present": True}, {"field": "host", "not_equals": ["h9"]}]}}
    else:
        tables = {"A": history(rng)}
    for name in list(tables):
        if "{" in name:
            tables[name].pop("ttl", None)  # dated tables are created by the daemon; old days are dropped as a whole
    return tables


# ---- messages ----

class Messages:
    """Makes the messages of one scenario."""

    def __init__(self, rng: random.Random, scenario: Json, shape: Json) -> None:
        self.rng, self.scenario, self.shape = rng, scenario, shape
        self.hosts = [f"h{number}" for number in rng.sample(range(1, 10), rng.choice([1, 2, 2, 6]))]
        self.fields = rng.sample(["a", "b", "c", "x", "ab"], rng.choice([1, 2, 2, 4]))
        self.n_times = rng.choice([1, 2, 4, 12])
        self.bad_share = rng.choice([0, 0, 0.1, 0.25])
        self.long_share = rng.choice([0, 0, 0, 0.1, 0.3])
        self.count = 0

    def value_token(self) -> str:
        rng = self.rng
        self.count += 1
        if rng.random() < 0.75:
            return json.dumps(f"v{self.count}")
        return rng.choice([str(self.count), f"{self.count}.50", "true", "null", '"same"', "[1,2]", '"Ünï"', "-0", "1e3", '""'])

    def event_ms(self) -> int:
        return self.shape["base_ms"] + self.rng.randrange(self.n_times) * self.shape["step_ms"]

    def reading(self, ms: int, host: str, is_long: bool) -> list[list[str]]:
        """Names and JSON texts of the values."""
        rng = self.rng
        members = [["host", json.dumps(host)]]
        token = time_token(rng, self.shape["spec"], ms)
        if token is not None:
            members.append(["ts", token])
        if self.scenario["needs_n"] or rng.random() < 0.1:
            members.append(["n", str(int(host[1:]))])
        if rng.random() < 0.3:
            members.append(["site", json.dumps(rng.choice(["s1", "s2"]))])
        for name in self.fields if rng.random() < 0.4 else rng.sample(self.fields, rng.randint(1, len(self.fields))):
            members.append([name, self.value_token()])
        if rng.random() < 0.1:
            members.append(["o", '{"u":%d,"w":{"z":"q"}}' % self.count])
        if self.scenario["needs_i"]:
            members.append(["i", str(self.count)])
        if is_long:
            members[-1 if members[-1][0] in self.fields else [m[0] in self.fields for m in members].index(True)][1] = \
                json.dumps(f"L{self.count}-" + "x" * LONG)
        return members

    def spoil(self, members: list[list[str]]) -> list[list[str]]:
        """A reading that cannot be used."""
        rng, named = self.rng, {name: index for index, (name, _) in enumerate(members)}
        kinds = ["no-host", "null-host", "twice", "deep"]
        if "ts" in named:
            kinds += ["no-time", "odd-time", "early", "future", "skipped"]
        kind = rng.choice(kinds)
        if kind == "no-host" or kind == "null-host":
            members[named["host"]][1] = "null"
            if kind == "no-host":
                del members[named["host"]]
        elif kind == "twice":
            members.append(list(members[-1]))
        elif kind == "deep":
            members.append(["deep", '{"a":' * 40 + "1" + "}" * 40])
        elif kind == "no-time":
            del members[named["ts"]]
        elif kind == "odd-time":
            members[named["ts"]][1] = rng.choice(['"yesterday"', '"2025-06-31 00:00:00"', "{}", "[1]"])
        elif kind == "skipped" and "skips" in self.shape:
            members[named["ts"]][1] = json.dumps(self.shape["skips"] % rng.randrange(60))
        else:
            far = {"early": -40 * 365 * 86_400_000, "future": 86_400_000}.get(kind, 86_400_000)
            token = time_token(rng, self.shape["spec"], self.shape["base_ms"] + far)
            members[named["ts"]][1] = token or "0"
        return members

    def garbage(self) -> Any:
        rng = self.rng
        return rng.choice(["", " \n", "not json", '{"host":"h1","ts":', "[1,2]", '{"a":1}x', "5", '{"host":"h1",}', '{"a":NaN}',
                           {"hex": "7b2261223a22ff227d"}, '"text"', "[" * 100, '{"host":"h1","a":"' + "y" * 20_000 + '"}'])

    def message(self, step: int, record_ms: int) -> Json:
        rng, scenario = self.rng, self.scenario
        host = rng.choice(self.hosts)
        message: Json = {"step": step, "topic": rng.randrange(len(scenario["topics"])), "ts": record_ms, "value": None}
        message["partition"] = rng.randrange(scenario["topics"][message["topic"]])
        if rng.random() < 0.3:
            message["key"] = host
        if rng.random() < 0.1:
            message["headers"] = [["trace", {"hex": "00ff"}], ["by", "test"]]
        if rng.random() < (0.2 if scenario["deletes"] else 0.02):
            message["key"] = host
            if scenario["deletes"] and rng.random() < 0.3:
                message["key"] = json.dumps({"host": host, rng.choice(["a", "b", "site"]): rng.choice(["s1", 1, None])})
            return message
        if rng.random() < self.bad_share / 2:
            message["value"] = self.garbage()
            return message
        if self.scenario["by_reading"] and rng.random() < self.bad_share / 4:  # a dead letter for each of many readings
            message["value"] = "[" + ",".join('{"a":%d}' % index for index in range(150)) + "]"
            return message
        is_long = rng.random() < self.long_share
        count = rng.choice([1, 1, 1, 1, 2, 3, 6])
        readings = []
        ms = record_ms - 1000 if self.shape.get("is_spread") else self.event_ms()
        for index in range(count):
            if not self.shape.get("is_spread") and rng.random() < 0.3:
                ms = self.event_ms()
            one = self.hosts[index % len(self.hosts)] if rng.random() < 0.8 else rng.choice(self.hosts)
            members = self.reading(ms, host if count == 1 else one, is_long and (index == count - 1 or rng.random() < 0.7))
            readings.append(self.spoil(members) if rng.random() < self.bad_share / count else members)
        texts = ["{" + ",".join(f"{json.dumps(name)}:{token}" for name, token in one) + "}" for one in readings]
        if count == 1:
            message["value"] = texts[0]
        else:
            message["value"] = "[" + ",".join(texts) + "]" if rng.random() < 0.7 else "\n".join(texts)
        return message

    def all(self, steps: int) -> list[Json]:
        rng, shape = self.rng, self.shape
        count = rng.choice([2, 5, 10, 20, 40])
        times = sorted(rng.randrange(steps) for _ in range(count))
        if shape.get("is_spread"):  # through the hours in which the clocks change
            return [self.message(step, shape["base_ms"] + index * 7_200_000 // count + 2000) for index, step in enumerate(times)]
        return [self.message(step, shape["base_ms"] + 60_000 + index * 1000) for index, step in enumerate(times)]


# ---- faults ----

BUSY = "org.apache.hadoop.hbase.RegionTooBusyException: Over memstore limit"
MOVED = "org.apache.hadoop.hbase.NotServingRegionException: T,,1.x is not online on rs1"


def table_fault(rng: random.Random, delay_ms: int) -> Json:
    often = [f"max-hits={rng.randint(1, 3)}", f"skip-calls={rng.choice([0, 0, 1, 2])}", f"every={rng.choice([1, 1, 2])}"]
    kind, words = rng.choice([
        ("none", [f"delay-apply-ms={delay_ms}"]), ("none", [f"delay-apply-ms={delay_ms}"]),
        ("none", [f"delay-apply-ms={rng.choice([50, 300])}"]),
        ("close-before-reply", []), ("close-before-reply", ["apply=none"]), ("close-mid-reply", ["cut-bytes=9"]),
        ("silence", []), ("silence", ["apply=none"]), ("garbage", ["garbage=zzzz"]), ("wrong-sequence-id", []),
        ("io-error", [f"message={BUSY}"]), ("io-error", [f"message={MOVED}"]), ("io-error", [f"message={MOVED}", "apply=all"]),
        ("io-error", [f"message={BUSY}", "apply=first", "apply-rows=1"]), ("application-error", []),
    ])
    fault: Json = {"do": kind, "words": [*words, *often]}
    if rng.random() < 0.1:
        fault["calls"] = ["getAllRegionLocations"]
    return fault


def faults(rng: random.Random, scenario: Json, steps: int, share: float, delay_ms: int) -> list[Json]:
    found: list[Json] = []
    plain = [name for name in scenario["tables"] if "{" not in name]
    for step in range(steps):
        for table in plain:
            if rng.random() < share:
                found.append({"step": step, "table": table, **table_fault(rng, delay_ms)})
    if plain and rng.random() < 0.3:
        table, split = rng.choice(plain), rng.randrange(1, steps)
        found.append({"step": split, "table": table, "do": "split", "key": f"h{rng.randint(1, 9)}"})
        found.append({"step": split, "table": table, "do": "io-error", "words": [f"message={MOVED}", "max-hits=1"]})
        if split + 1 < steps and rng.random() < 0.5:
            found.append({"step": split + 1, "table": table, "do": "merge", "key": "a"})
    return sorted(found, key=lambda fault: int(fault["step"]))


def duel(rng: random.Random, scenario: Json, steps: int, delay_ms: int) -> None:
    """Values of one cell and time against each other, calls of unknown outcome among them."""
    maker = Messages(rng, scenario, scenario["shape"])
    splits = rng.random() < 0.5
    maker.hosts, maker.fields, maker.n_times = ["h1"], ["a"], 1 if splits else rng.choice([1, 1, 2, 3])
    maker.bad_share = maker.long_share = 0
    scenario["topics"], scenario["messages"], scenario["faults"] = [1], [], []
    scenario["tables"] = {"A": {"latest": "merge", "key": [{"field": "host"}], "columns": {"family": "M", "from": "*"}}} \
        if rng.random() < 0.6 else {"A": {"key": HISTORY_KEYS[0], "columns": {"family": "M", "from": "*"}}}
    if rng.random() < 0.3:
        scenario["tables"]["A"]["latest"] = "packed"
    scenario.update(needs_n=False, needs_i=False, deletes=False)
    for step in range(steps):
        for _ in range(rng.choice([1, 1, 2])):
            index = len(scenario["messages"])
            scenario["messages"].append(maker.message(step, BASE_MS + 60_000 + index * 1000))
        if rng.random() < 0.7:
            scenario["faults"].append({"step": step, "table": "A", "do": "none",
                                       "words": [f"delay-apply-ms={delay_ms}", f"max-hits={rng.choice([1, 1, 2])}"]})
    if splits:  # the region splits while an abandoned call may land, and before the next value
        split = rng.randrange(1, steps - 1)
        if rng.random() < 0.6:  # another row notices it first
            maker.hosts = ["h9"]
            notice = maker.message(split, BASE_MS + 60_000 + len(scenario["messages"]) * 1000)
            scenario["messages"] = [one for one in scenario["messages"] if one["step"] in (*range(split), split + 1)] + [notice]
        scenario["faults"] = [fault for fault in scenario["faults"] if fault["step"] not in (split - 1, split)] + [
            {"step": split - 1, "table": "A", "do": "none", "words": [f"delay-apply-ms={delay_ms}", "max-hits=1"]},
            {"step": split, "table": "A", "do": "split", "key": "h0"},
            {"step": split, "table": "A", "do": "io-error", "words": [f"message={MOVED}", "max-hits=1"]}]


def crowd(rng: random.Random, scenario: Json, shape: Json) -> None:
    """Messages with readings of many machines, some of which HBase refuses, in a table of the latest values."""
    maker = Messages(rng, scenario, shape)
    maker.hosts, maker.fields, maker.bad_share = [f"h{number}" for number in range(1, 7)], ["a", "b", "c"], 0
    record_ms = shape["base_ms"] + 60_000
    for index in range(rng.choice([2, 3, 6, 10])):
        is_long, ms = rng.random() < 0.4, maker.event_ms()
        fields = rng.sample(maker.fields, rng.randint(1, 2))
        texts = []
        for host in rng.sample(maker.hosts, rng.choice([2, 6, 6])):
            maker.fields = fields
            members = maker.reading(ms, host, is_long and rng.random() < 0.8)
            texts.append("{" + ",".join(f"{json.dumps(name)}:{token}" for name, token in members) + "}")
        maker.fields = ["a", "b", "c"]
        scenario["messages"].append({"step": 0, "topic": 0, "partition": 0, "ts": record_ms + index * 1000,
                                     "value": "[" + ",".join(texts) + "]"})


# ---- batches ----

def scenario_of(rng: random.Random, name: str, options: Json) -> Json:
    shape = time_shape(rng, options["is_plain_time"])
    scenario: Json = {"name": name, "topics": rng.choice([[1], [1], [2], [1, 1]]), "tables": table_set(rng), "messages": []}
    text = json.dumps(scenario["tables"])
    scenario.update(by_reading=options["by_reading"], needs_n='"n"' in text, needs_i='"i"' in text, shape=shape,
                    deletes='"tombstone"' in text)
    kind = rng.choices(["mixed", "duel", "crowd"], [5, 3, 2])[0]
    steps, delay_ms = options["steps"], options["delay_ms"]
    if kind == "duel" and shape["spec"] != "record" and not shape.get("is_spread"):
        duel(rng, scenario, steps, delay_ms)
    else:
        if kind == "crowd" and shape["spec"] != "record" and not shape.get("is_spread"):
            scenario["topics"] = [1]
            crowd(rng, scenario, shape)
        else:
            scenario["messages"] = Messages(rng, scenario, shape).all(steps)
        share = options["fault_share"] * rng.choice([0, 0.5, 1, 2])
        scenario["faults"] = faults(rng, scenario, steps, share, delay_ms)
        if rng.random() < 0.2:
            for table in scenario["tables"].values():
                table["splits"] = ["h3", "h6"]
    if not options["is_plain_time"]:
        for table in scenario["tables"].values():
            table["time"] = shape["spec"]
    for extra in ("by_reading", "needs_n", "needs_i", "deletes", "shape"):
        del scenario[extra]
    return scenario


def batch_events(rng: random.Random, steps: int) -> list[Json]:
    kind = rng.choices(["none", "resets", "gateway", "restart", "kill", "join", "dead_letters", "kafka", "mixed"],
                       [3, 3, 1, 4, 3, 2, 2, 1, 1])[0]
    at = rng.randrange(1, steps)
    if kind == "none":
        return []
    if kind == "resets":
        return [{"step": step, "do": "reset"} for step in range(1, steps) if rng.random() < 0.6]
    if kind == "join":
        return [{"step": at, "do": "join"}] + [{"step": min(at + 2, steps - 1), "do": "leave"}] * (rng.random() < 0.7)
    if kind == "dead_letters":
        return [{"step": at, "do": "dead_letters_fail"}, {"step": min(at + 1, steps - 1), "do": "dead_letters_repair"}]
    if kind == "kafka":
        return [{"step": at, "do": rng.choice(["commits_fail", "fetches_fail"])}]
    if kind == "mixed":
        return [{"step": step, "do": rng.choice(["reset", "restart", "gateway", "commits_fail"])} for step in range(1, steps, 2)]
    return [{"step": at, "do": kind}]


def patience(rng: random.Random, steps: int, events: set[str]) -> tuple[int, int, list[int]]:
    """hbase.uncertain_timeout in seconds, how late an abandoned call lands, and the pauses: it must land within settle of being
    abandoned, after a second or by a reset, with time to spare, and behind what the next owner of the partition writes."""
    pauses_ms = [rng.choice([50, 300, 1200, 1200]) for _ in range(steps)]
    if "kill" in events:  # the dead member's session is waited for
        return 15, rng.choice([1600, 12_500]), pauses_ms
    if events & {"restart", "join"}:
        return 10, rng.choice([1600, 8000, 8000]), [rng.choice([400, 1300]) for _ in range(steps)]
    return 5, rng.choice([900, 1600, 3000, 3000]), pauses_ms


def dead_letters_of(readings: Json, scenarios: list[Json]) -> int:
    """The messages that may become dead letters."""
    count = 0
    for scenario in scenarios:
        oracle = Oracle({"readings": readings, "tables": scenario["tables"]}, MAX_CELL, 0)
        for one in scenario["messages"]:
            value = one["value"]
            raw = bytes.fromhex(value["hex"]) if isinstance(value, dict) else value.encode() if value is not None else None
            outcome = oracle.outcome(Message("t", 0, 0, b"h1", raw, one["ts"], []))
            count += bool(outcome.bad) or any(row.is_long for row in outcome.rows)
    return count


def batch_of(seed: int, n_scenarios: int) -> Json:
    """The batch of this seed."""
    rng = random.Random(f"{seed}/{n_scenarios}")
    steps = rng.choice([3, 4, 5])
    long_settle = rng.random() < 0.2
    events = batch_events(rng, steps)
    if long_settle:
        events = [event for event in events if event["do"] in ("reset", "gateway", "fetches_fail")]
    is_plain_time = rng.random() < 0.4
    readings: Json = {"format": "json", "max_message_size": 16384,
                      "on_bad_message": rng.choices(["dead_letter", "skip", "stop"], [8, 1, 1])[0],
                      "on_bad_reading": rng.choice(["message", "reading"])}
    if is_plain_time:
        readings["time"] = {"field": "ts", "format": "epoch_ms"}
    if rng.random() < 0.2:
        readings["booleans"] = "number"
    if rng.random() < 0.2:
        readings["arrays"] = rng.choice(["index", "reject"])
    if is_plain_time and rng.random() < 0.2:
        readings["time"]["on_future"] = "history"
    settle_s, delay_ms, pauses_ms = patience(rng, steps, {event["do"] for event in events})
    options: Json = {"steps": steps, "delay_ms": delay_ms, "is_plain_time": is_plain_time, "by_reading": readings["on_bad_reading"] == "reading",
                     "fault_share": rng.choice([0, 0.1, 0.3])}
    config: Json = {
        "kafka": {"threads": rng.choice([1, 1, 2]), "session_timeout": "6s", "commit_interval": "100ms"},
        "hbase": {"writers": 8, "connect_timeout": "1s", "call_timeout": "1s", "uncertain_timeout": "1h" if long_settle else f"{settle_s}s",
                  "retry_min": "20ms", "retry_max": "200ms", "region_refresh": "5s"},
        "readings": readings,
        "dead_letters": {"place": rng.choice(["topic", "topic", "file"]), "max_ratio": rng.choice([1, 0.1, 0.1])},
        "limits": {"drain_timeout": "3s"},
    }
    if rng.random() < 0.3:
        config["batch"] = {"max_rows": rng.choice([1, 3, 50]), "latest_window": rng.choice(["0s", "5ms", "200ms"])}
    scenarios = [scenario_of(rng, f"s{index}", options) for index in range(n_scenarios)]
    if readings["on_bad_message"] == "stop":  # a refused row would stop its partition, too
        for scenario in scenarios:
            scenario["messages"] = [one for one in scenario["messages"] if "x" * LONG not in str(one["value"])]
    # A hundred dead letters are looked at, by dead_letters.max_ratio: half of them may come twice.
    if dead_letters_of(readings, scenarios) >= 50:
        config["dead_letters"]["max_ratio"] = 1
    batch: Json = {"seed": seed, "max_cell": MAX_CELL, "steps": steps, "long_settle": long_settle, "events": events,
                   "pauses_ms": pauses_ms, "config": config, "scenarios": scenarios}
    add_outside(random.Random(f"outside/{seed}/{n_scenarios}"), batch)
    return batch
