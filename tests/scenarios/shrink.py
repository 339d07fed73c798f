"""Makes a failing batch small: the scenario that fails alone, then less and less of it, as long as it still fails.

The candidates of one round share a daemon run, each a scenario of its own: a round costs one run, however many they are.
"""
from __future__ import annotations

import copy
import json
import time
from typing import Any, Callable, Iterator

from batch import Problem
from oracle import DECODER, Pairs, json_text

Json = dict[str, Any]
Run = Callable[[Json], list[Problem]]

MAX_CANDIDATES = 30
COPIES = 10  # of a scenario that may fail by chance


def renamed(scenario: Json, index: int) -> Json:
    return {**copy.deepcopy(scenario), "name": f"s{index}"}


def size_of(scenario: Json) -> int:
    return len(json.dumps(scenario)) + 20 * len(scenario["messages"])


# ---- smaller scenarios ----

def without_messages(scenario: Json) -> Iterator[Json]:
    messages = scenario["messages"]
    piece = len(messages)
    while piece > 1:
        piece = (piece + 1) // 2
        for start in range(0, len(messages), piece):
            yield {**scenario, "messages": messages[:start] + messages[start + piece:]}


def without_faults(scenario: Json) -> Iterator[Json]:
    found = scenario.get("faults", [])
    if found:
        yield {**scenario, "faults": []}
    for index in range(len(found)):
        yield {**scenario, "faults": found[:index] + found[index + 1:]}


def without_offsets(scenario: Json) -> Iterator[Json]:
    found = scenario.get("offsets", [])
    for index in range(len(found)):
        yield {**scenario, "offsets": found[:index] + found[index + 1:]}


def without_tables(scenario: Json) -> Iterator[Json]:
    tables = scenario["tables"]
    for name in tables:
        rest = {other: table for other, table in tables.items() if other != name and table.get("index_of") != name}
        if rest:
            yield {**scenario, "tables": rest}
    for name, table in tables.items():
        for option in ("when", "splits", "ttl", "cell_time", "tombstone"):
            if option in table:
                yield {**scenario, "tables": {**tables, name: {key: one for key, one in table.items() if key != option}}}
        if table["columns"] != {"family": "M", "from": "*"}:
            yield {**scenario, "tables": {**tables, name: {**table, "columns": {"family": "M", "from": "*"}}}}


def parsed(message: Json) -> list[Any] | None:
    """The readings of a message; None where it is no list of objects."""
    try:
        value = DECODER.decode(message["value"])
    except (ValueError, TypeError):
        return None
    values = [value] if isinstance(value, Pairs) else value
    return values if isinstance(values, list) and values and all(isinstance(one, Pairs) for one in values) else None


def with_readings(message: Json, readings: list[Any]) -> Json:
    return {**message, "value": json_text(readings[0]) if len(readings) == 1 else json_text(readings)}


def with_message(scenario: Json, index: int, message: Json) -> Json:
    return {**scenario, "messages": [message if at == index else one for at, one in enumerate(scenario["messages"])]}


def without_readings(scenario: Json) -> Iterator[Json]:
    for index, message in enumerate(scenario["messages"]):
        readings = parsed(message) or []
        for at in range(len(readings) if len(readings) > 1 else 0):
            yield with_message(scenario, index, with_readings(message, readings[:at] + readings[at + 1:]))
        for extra in ("key", "headers"):
            if extra in message:
                yield with_message(scenario, index, {name: one for name, one in message.items() if name != extra})


def without_fields(scenario: Json) -> Iterator[Json]:
    names = {name for message in scenario["messages"] for reading in parsed(message) or [] for name, _ in reading}
    for name in sorted(names):
        smaller = []
        for message in scenario["messages"]:
            readings = parsed(message)
            smaller.append(message if readings is None else with_readings(
                message, [Pairs(one for one in reading if one[0] != name) for reading in readings]))
        yield {**scenario, "messages": smaller}


def on_one_partition(scenario: Json) -> Iterator[Json]:
    if scenario["topics"] != [1]:
        yield {**scenario, "topics": [1], "messages": [{**one, "topic": 0, "partition": 0} for one in scenario["messages"]],
               "offsets": [{**one, "topic": 0, "partition": 0} for one in scenario.get("offsets", [])[:1]]}


def smaller_scenarios(scenario: Json) -> list[Json]:
    found: list[Json] = []
    for way in (without_messages, without_tables, without_faults, without_offsets, on_one_partition, without_fields, without_readings):
        found += list(way(scenario))[:MAX_CANDIDATES // 2]
    return [one for one in found if one["messages"]][:2 * MAX_CANDIDATES]


# ---- smaller batches ----

def smaller_batches(batch: Json) -> Iterator[Json]:
    """With fewer events, or without an option of the configuration."""
    for index in range(len(batch["events"])):
        yield {**batch, "events": batch["events"][:index] + batch["events"][index + 1:]}
    for extra in ("clocks_s", "brokers"):
        if extra in batch and not (extra == "brokers" and any(event["do"] == "coordinator" for event in batch["events"])):
            yield {name: one for name, one in batch.items() if name != extra}
    for section in ("batch", "dead_letters"):
        if batch["config"].get(section):
            yield {**batch, "config": {name: one for name, one in batch["config"].items() if name != section}}
    for name in ("booleans", "arrays", "on_bad_reading"):
        if name in batch["config"].get("readings", {}):
            readings = {other: one for other, one in batch["config"]["readings"].items() if other != name}
            yield {**batch, "config": {**batch["config"], "readings": readings}}


class Shrinker:
    """@run: runs a batch and returns its problems."""

    def __init__(self, run: Run, patience_s: float = 600.0) -> None:
        self.run_batch, self.patience_s = run, patience_s
        self.n_runs = 0
        self.started = time.monotonic()

    def run(self, batch: Json) -> list[Problem]:
        self.n_runs += 1
        return self.run_batch(batch)

    def is_late(self) -> bool:
        return time.monotonic() - self.started > self.patience_s

    def failing(self, batch: Json, candidates: list[Json]) -> list[tuple[Json, list[Problem]]]:
        """Those that still fail, each with its problems, the smallest first."""
        found = []
        for start in range(0, len(candidates), MAX_CANDIDATES):
            piece = candidates[start:start + MAX_CANDIDATES]
            problems = self.run({**batch, "scenarios": [renamed(one, index) for index, one in enumerate(piece)]})
            for index, one in enumerate(piece):
                own = [problem for problem in problems if problem.scenario == f"s{index}"]
                if own:
                    found.append((one, own))
            if found or self.is_late():
                break
        return sorted(found, key=lambda pair: size_of(pair[0]))

    def shrink(self, batch: Json, problems: list[Problem]) -> tuple[Json, list[Problem]]:
        names = {problem.scenario for problem in problems} - {"batch"}
        if not names:
            return self.shrink_scenarios(batch, problems)
        suspects = sorted((one for one in batch["scenarios"] if one["name"] in names), key=size_of)
        alone = self.failing(batch, [suspect for suspect in suspects[:3] for _ in range(COPIES)])
        if not alone:
            return batch, problems
        scenario, problems = alone[0]
        batch = self.shrink_batch(batch, scenario)
        while not self.is_late():
            smaller = self.failing(batch, smaller_scenarios(scenario))
            if not smaller:
                break
            scenario, problems = smaller[0]
        return {**self.shrink_batch(batch, scenario), "scenarios": [renamed(scenario, 0)]}, problems

    def shrink_batch(self, batch: Json, scenario: Json) -> Json:
        changed = True
        while changed and not self.is_late():
            changed = False
            for smaller in smaller_batches(batch):
                if self.failing(smaller, [scenario] * COPIES):
                    batch, changed = smaller, True
                    break
        return batch

    def shrink_scenarios(self, batch: Json, problems: list[Problem]) -> tuple[Json, list[Problem]]:
        """What befalls the daemon as a whole: with half of the scenarios, as long as it still does."""
        while len(batch["scenarios"]) > 1 and not self.is_late():
            half = len(batch["scenarios"]) // 2
            for piece in (batch["scenarios"][:half], batch["scenarios"][half:]):
                found = self.run({**batch, "scenarios": piece})
                if found:
                    batch, problems = {**batch, "scenarios": piece}, found
                    break
            else:
                break
        return batch, problems
