"""What comes from outside of the daemon: offsets that the group has before the start, answers of brokers, coordinators
that move, clocks that are set, and topics of dead letters that take no more than so much. Made from a seed, and what must
become of each partition, written from docs/guarantees.md and docs/configuration.md."""
from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

# What brokers may answer, by request; -195 cuts the connection.
CODES = {
    "offset-fetch": [-1, 3, 7, 14, 15, 16, 22, 25, 29, 30, 88, -195],
    "offset-commit": [-1, 3, 7, 12, 14, 15, 16, 22, 25, 27, 28, 29, 30, -195],
    "join-group": [-1, 14, 15, 16, 23, 24, 25, 26, 30, 79, 81, 82, -195],
    "sync-group": [-1, 14, 15, 16, 22, 25, 27, 30, -195],
    "heartbeat": [15, 16, 22, 25, 27, -195],
    "fetch": [-1, 1, 3, 5, 6, 7, 9, 29, 56, 70, 71, 74, 75, 78, -195],
    "list-offsets": [-1, 3, 5, 6, 7, 9, 29, 43, 56, 74, 75, 78, -195],
    "find-coordinator": [-1, 15, 30, -195],
}

BASE_MS = 1_748_736_000_000  # 2025-06-01T00:00:00Z
JUMPS_S = [-3600, -120, -20, 20, 120, 3600]
OFFSET_OUT_OF_RANGE, MSG_SIZE_TOO_LARGE, FENCED_INSTANCE_ID = 1, 10, 82
FILLERS = 8  # of 900 kB: a partition of the mock keeps 5 MiB

# Beside an offset: nothing, what another tool wrote, notes of a daemon that ended well, of one that was killed, and of
# halts: because the offset was beyond the end, messages were deleted, another consumer took them, the topic was recreated.
NOTES = ["", "", "by hand", "tidemark 1 closed span=1000000", "tidemark 1 running span=1000000"]
HALT_NOTES = [f"tidemark 1 closed span=1000000 start=-{offset}{cause}" for offset, cause in ((50, 1), (7, 2), (3, 3), (12, 4))]
CAUSES = {"beyond": 1, "deleted": 2, "taken": 3, "recreated": 4}


# ---- what must become of it ----

@dataclass
class Stand:
    """Where a partition is read on; a halted one is not read."""
    offset: int               # what is read first; of a halted one the log's beginning, which is committed
    cause: int = 0            # of a halt, as in the note
    wanted: int = -1          # of a halt: the offset that was to be read next
    left_out: tuple[str, int] = ("", 0)  # reason, messages
    is_unsigned: bool = False  # nobody knows who committed that


def noted_halt(note: str) -> tuple[int, int] | None:
    """Cause and offset."""
    match = re.match(r"tidemark 1 .*\bstart=-(\d+)\b", note)
    return (int(match[1]) % 10, int(match[1]) // 10) if match else None


def stand_of(committed: int | None, note: str, begin: int, end: int, config: Json, has_begun: bool) -> Stand:
    """@begin, @end: of the log when the daemon starts; @has_begun: the group had started before."""
    goes_on = config.get("on_lost_offsets", "halt") == "continue"
    if committed is None:
        at_end = config.get("start", "earliest") == "latest" and not has_begun
        return Stand(end, left_out=("start", end - begin)) if at_end else Stand(begin)
    halt = noted_halt(note)
    if halt and not (halt[0] == CAUSES["deleted"] and goes_on):
        return Stand(begin, *halt)
    if committed < begin:
        lost = ("retention", begin - committed)
        return Stand(begin, left_out=lost) if goes_on else Stand(begin, CAUSES["deleted"], committed, lost)
    if committed > end:
        return Stand(begin, CAUSES["beyond"], committed)
    return Stand(committed, is_unsigned=not note.startswith("tidemark 1"))


# ---- made from a seed ----

def offsets_of(rng: random.Random, scenario: Json) -> list[Json]:
    """What is committed of partitions before the start; one that is filled begins behind its first messages."""
    found: list[Json] = []
    for topic, count in enumerate(scenario["topics"]):
        for partition in range(count):
            waiting = sum(one["step"] == 0 and (one.get("topic", 0), one.get("partition", 0)) == (topic, partition)
                          for one in scenario["messages"])
            kind = rng.choice(["none", "none", "inside", "inside", "beyond", "beyond", "noted", "filled"])
            place: Json = {"topic": topic, "partition": partition}
            if kind == "inside":
                found.append({**place, "offset": rng.randint(0, waiting), "note": rng.choice(NOTES)})
            elif kind == "beyond":  # by so little that the log may grow beyond it
                found.append({**place, "offset": waiting + rng.choice([1, 1, 2, 5, 1000]), "note": rng.choice(NOTES)})
            elif kind == "noted":
                found.append({**place, "offset": 0, "note": rng.choice(HALT_NOTES)})
            elif kind == "filled" and '"tombstone"' not in str(scenario["tables"]).replace("'", '"') and rng.random() < 0.3:
                found.append({**place, "fill": FILLERS, "offset": rng.choice([0, 1, FILLERS, FILLERS + waiting]),
                              "note": rng.choice(NOTES)})
    return found


def kind_of(one: Json) -> str:
    """Of an element of offsets_of(), in words."""
    halt = noted_halt(one["note"])
    if halt:
        return "noted halt: " + next(name for name, cause in CAUSES.items() if cause == halt[0])
    return ("log truncated" if one.get("fill") else "") or ("by tidemark" if one["note"].startswith("tidemark") else "foreign")


def broker_events(rng: random.Random, steps: int, first: int) -> list[Json]:
    events: list[Json] = []
    for _ in range(rng.choice([1, 2, 4])):
        request = rng.choice([*CODES, "offset-fetch", "list-offsets", "offset-commit"])
        code = rng.choice(CODES[request])
        if rng.random() < 0.2:
            request, code = "fetch", OFFSET_OUT_OF_RANGE
        event = {"step": rng.choice([first, rng.randrange(first, steps)]), "after_ms": rng.choice([0, 0, 100, 600, 2000]),
                 "do": "errors", "request": request, "code": code, "n": rng.choice([1, 2, 3, 8])}
        if code == FENCED_INSTANCE_ID:  # each ends the program, and a batch starts it again a few times only
            event["n"] = min(event["n"], 3)
        events.append(event)
    return events


def add_offsets(rng: random.Random, batch: Json) -> None:
    kafka = batch["config"]["kafka"]
    batch["before"] = True
    if rng.random() < 0.5:
        kafka["on_lost_offsets"] = "continue"
    if rng.random() < 0.5:
        kafka["start"] = "latest"
        batch["remembered"] = rng.random() < 0.5
    if kafka.get("start") != "latest" or rng.random() < 0.2:
        for scenario in batch["scenarios"]:
            if rng.random() < 0.35:
                scenario["offsets"] = offsets_of(rng, scenario)


def duel_of_owners(step: int, delay_ms: int, is_plain_time: bool) -> Json:
    """A value that lands late, and one of the same time that the next owner of its partition reads."""
    table: Json = {"latest": "merge", "key": [{"field": "host"}], "columns": {"family": "M", "from": "*"}}
    if not is_plain_time:
        table["time"] = {"field": "ts", "format": "epoch_ms"}
    return {"topics": [1], "tables": {"A": table},
            "messages": [{"step": at, "ts": BASE_MS + 1000, "value": f'{{"host":"h1","ts":{BASE_MS},"a":"v{at}"}}'}
                         for at in (step - 1, step)],
            "faults": [{"step": step - 1, "table": "A", "do": "none", "words": [f"delay-apply-ms={delay_ms}", "max-hits=1"]}]}


def add_clocks(rng: random.Random, batch: Json, moves: list[int], first: int) -> None:
    """The clocks of the daemons, in the order of their starts. Where the next owner's is ahead, no doubt may end early."""
    clocks_s = batch["clocks_s"] = [rng.choice([0, *JUMPS_S]) for _ in range(3)]
    is_next_ahead = bool(moves) and moves[0] > first
    if rng.random() < 0.6:
        step, by_s = rng.randrange(1, batch["steps"]), rng.choice(JUMPS_S)
        batch["events"].append({"step": step, "after_ms": 0, "do": "clock", "by_s": abs(by_s) if is_next_ahead else by_s})
    if is_next_ahead:
        clocks_s[1] = clocks_s[0] + rng.choice([20, 120, 3600])
        batch["pauses_ms"][moves[0] - 1] = 400
        # A group waits for up to 10 s for a member that left; the call of the first owner lands behind what the next writes.
        batch["config"]["hbase"]["uncertain_timeout"] = "20s"
        for scenario in batch["scenarios"][-3:]:
            name = scenario["name"]
            scenario.clear()
            scenario.update(duel_of_owners(moves[0], 15_000, "time" in batch["config"]["readings"]), name=name)


def add_outside(rng: random.Random, batch: Json) -> None:
    """Adds to @batch what comes from outside; the rest of it stays as it is."""
    steps, events = batch["steps"], batch["events"]
    draws = [rng.random() for _ in range(5)]
    if batch["long_settle"]:
        return
    if draws[0] < 0.6:
        add_offsets(rng, batch)
    # A group of which nothing is committed yet begins where it is when it does: not before that is committed.
    first = 1 if batch["config"]["kafka"].get("start") == "latest" else 0
    if draws[1] < 0.5:
        events += broker_events(rng, steps, first)
    if draws[2] < 0.25:
        batch["brokers"] = 2
        events += [{"step": rng.randrange(first, steps), "after_ms": rng.choice([0, 100, 300, 600, 1000, 3000]),
                    "do": "coordinator", "broker": rng.choice([1, 2])} for _ in range(rng.choice([1, 2, 6]))]
    moves = [event["step"] for event in events if event["do"] in ("restart", "join")]  # to a next owner, by one that ends well
    if draws[3] < (0.8 if moves else 0.3):
        add_clocks(rng, batch, moves, first)
    is_topic = batch["config"]["dead_letters"]["place"] == "topic"
    if draws[4] < 0.3 and is_topic and not any(event["do"].startswith("dead_letters") for event in events):
        refusals = rng.choice([[[MSG_SIZE_TOO_LARGE, 1]], [[MSG_SIZE_TOO_LARGE, 1000]],
                               [[MSG_SIZE_TOO_LARGE, 1], [0, 1]] * 100,
                               [[MSG_SIZE_TOO_LARGE, 2], [0, 19], [MSG_SIZE_TOO_LARGE, 1000]]])
        if sum(n for _, n in refusals) == 1:  # behind all messages, which it would hit, too
            events.append({"step": steps - 1, "after_ms": 0, "do": "refuse", "codes": refusals})
        else:
            begin = rng.randrange(1, steps - 1)
            events.append({"step": begin, "do": "refuse", "codes": refusals})
            events.append({"step": rng.randrange(begin + 1, steps), "after_ms": 1000, "do": "accept"})
    events.sort(key=lambda event: (event["step"], event.get("after_ms", -1)))
