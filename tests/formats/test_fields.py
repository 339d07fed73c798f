#!/usr/bin/env python3
"""Compares what the steps of readings.fields make of random messages with a plain model of each step.

    test_fields.py BUILD/tests/formats/decode-messages [--messages N] [--seed N]

The model takes what Python's own parsers and numbers give: json, base64, decimal, str.split().
"""

import argparse
import base64
import json
import random
import sys
from decimal import Decimal, getcontext
from typing import Any, Callable, Optional

from agree import decoded

getcontext().prec = 200
Field = tuple[str, str, str]  # name, kind, text
Reading = list[Field]
NAMES = ["a", "b", "temp", "v/1", "\u00fc", "", "x.y", "$k"]
FIRST_ABSOLUTE_S = 1 << 28


class Refused(Exception):
    """The message is no reading."""


class Number(str):
    """A number of JSON as it is written."""


def scalar(rng: random.Random) -> Any:
    return rng.choice([None, True, False, Number(str(rng.randint(-10**20, 10**20))), Number(f"{rng.uniform(-9, 9):.4f}"),
                       Number("1e3"), "", "x", "\u00fc\n\"", "[1]", "{}", "N/A", rng.choice("abc/|{}[]") * rng.randint(1, 9)])


def value(rng: random.Random, depth: int = 2) -> Any:
    kind = rng.random()
    if depth and kind < 0.2:
        return {rng.choice(NAMES): value(rng, depth - 1) for _ in range(rng.randint(0, 3))}
    if depth and kind < 0.3:
        return [value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    return scalar(rng)


def written(what: Any) -> str:
    if isinstance(what, Number):
        return str(what)
    if isinstance(what, dict):
        return "{" + ",".join(f"{json.dumps(k)}:{written(v)}" for k, v in what.items()) + "}"
    if isinstance(what, list):
        return "[" + ",".join(map(written, what)) + "]"
    return json.dumps(what)


def parsed(text: str) -> Any:
    def no_constant(_: str) -> Any:
        raise Refused
    try:
        return json.loads(text, parse_float=Number, parse_int=Number, parse_constant=no_constant)
    except ValueError as error:
        raise Refused from error


def field(name: str, what: Any) -> Field:
    if what is None:
        return name, "null", ""
    if isinstance(what, bool):
        return name, "bool", "true" if what else "false"
    if isinstance(what, Number):
        return name, "number", str(what)
    return (name, "json", written(what)) if isinstance(what, list) else (name, "string", what)


def flat(prefix: str, members: dict[str, Any]) -> Reading:
    result: Reading = []
    for name, what in members.items():
        if isinstance(what, dict):
            result += flat(f"{prefix}{name}/", what)
        else:
            result.append(field(prefix + name, what))
    return result


def take(reading: Reading, name: str) -> Optional[Field]:
    found = next((one for one in reading if one[0] == name and one[1] != "null"), None)
    if found:
        reading.remove(found)
    return found


def opened(reading: Reading) -> Reading:
    found = take(reading, "o")
    if found is None:
        return reading
    if found[1] != "string" or not found[2].lstrip(" \t\r\n").startswith("{"):
        raise Refused
    return reading + flat("o/", parsed(found[2]))


def named(one: Any) -> str:
    if not isinstance(one, str):
        raise Refused
    return one


def list_of(found: Field) -> list[Any]:
    if found[1] not in ("string", "json") or not found[2].lstrip(" \t\r\n").startswith("["):
        raise Refused
    return parsed(found[2])


def pivoted(reading: Reading) -> Reading:
    found = take(reading, "l")
    if found is None:
        return reading
    for item in list_of(found):
        if not isinstance(item, dict):
            raise Refused
        members = {name: (kind, text) for name, kind, text in flat("", item)}
        if members.get("n", ("null",))[0] not in ("string", "number"):
            raise Refused
        values = [one for one in (item.get("v"), item.get("w", {}).get("x")) if one is not None]
        name, what = members["n"][1], values[0] if values else None
        reading += flat(f"{name}/", what) if isinstance(what, dict) else [field(name, what)]
    return reading


def paired(reading: Reading) -> Reading:
    found = take(reading, "l")
    if found is None:
        return reading
    names = take(reading, "names")
    if names is None:
        raise Refused
    if names[1] != "json" or found[1] != "json":
        raise Refused
    names_list, values = list_of(names), list_of(found)
    if len(names_list) != len(values) or any(isinstance(one, (list, dict)) for one in values + names_list):
        raise Refused
    for name, what in zip(map(named, names_list), values):
        reading.append(field(f"p/{name}", what))
    return reading


def parted(reading: Reading) -> Reading:
    found = take(reading, "s")
    if found is None:
        return reading
    parts = found[2].split("||", 2)
    if found[1] not in ("string", "number") or len(parts) < 3:
        raise Refused
    return reading + [("first", "string", parts[0]), ("rest", "string", parts[2])]


def exact(reading: Reading) -> Reading:
    for place, (name, kind, text) in enumerate(reading):
        if name == "d" and kind != "null":
            try:
                raw = base64.b64decode(text, validate=True) if kind == "string" and text and len(text) % 4 == 0 else None
            except ValueError as error:
                raise Refused from error
            if raw is None:
                raise Refused
            number = Decimal(int.from_bytes(raw, "big", signed=True)).scaleb(-3)
            if len(f"{number:f}") > 64:
                raise Refused
            reading[place] = (name, "number", f"{number:f}")
    return reading


def added(*texts: str) -> str:
    total = sum(map(Decimal, texts))
    plain = f"{total.normalize():f}" if total else "0"
    if any(len(Decimal(text).as_tuple().digits) > 30 or abs(Decimal(text).adjusted()) > 30 for text in texts if Decimal(text)):
        raise Refused
    return plain


def resolved(message: Any) -> list[Reading]:
    bases: dict[str, Field] = {}
    result = []
    for record in message if isinstance(message, list) else [message]:
        reading = flat("", record)
        bases.update({one[0]: one for one in reading if one[0] in ("bn", "bt", "bu", "bv", "bs") and one[1] != "null"})
        own = {one[0]: one for one in reading if one[1] != "null"}
        # A base value is the record's own where it has none, nor anything in place of one.
        valued = {"v"} if "bv" in bases and not {"v", "vs", "vb", "vd", "s"} & set(own) else set(own)
        made: Reading = []
        for name, base in (("n", "bn"), ("t", "bt"), ("u", "bu"), ("v", "bv"), ("s", "bs")):
            both = [one for one in (bases.get(base), own.get(name)) if one]
            wanted = "string" if name in "nu" else "number"
            if any(one[1] != wanted for one in both) and (name in "nut" or name in valued):
                raise Refused
            text = ""
            if name == "n":
                text = "".join(one[2] for one in both)
            elif name == "u" and both:
                text = both[-1][2]
            elif name == "t" or name in valued:
                text = added("0", *(one[2] for one in both))
            if name == "t" and int(Decimal(text)) < FIRST_ABSOLUTE_S:
                raise Refused  # the record has no time
            if text:
                made.append((name, wanted, text))
        replaced = {"bn", "bt", "bu", "bv", "bs", "bver", "n", "t", "u", "v", "s"}
        result.append([one for one in reading if one[0] not in replaced] + made)
    return result


def random_record(rng: random.Random) -> Any:
    numbers = ["0", "1.5", "-0.25", "1e9", "1.3e9", "268435456", "268435455.9", "1795871383.123", "20", "1E-3", "-5", "12345678901234567890"]
    record = {}
    for name in rng.sample(["bn", "bt", "bu", "bv", "bs", "bver", "n", "t", "u", "v", "s", "vs", "x"], rng.randint(1, 9)):
        is_text = name in ("bn", "n", "bu", "u", "vs")
        wrong = rng.random() < 0.02
        record[name] = (rng.choice(["a", "b:", "Cel", "\u00fc"]) if is_text != wrong else Number(rng.choice(numbers)))
        if rng.random() < 0.03:
            record[name] = None
    return record


def random_pack(rng: random.Random) -> Any:
    """Most say a time that is absolute, without which all are refused: the record has none."""
    pack = [random_record(rng) for _ in range(rng.randint(1, 4))]
    return [{"bt": Number("1320067464")} | pack[0] if rng.random() < 0.9 else pack[0]] + pack[1:]


def mostly(rng: random.Random, good: Callable[[], str]) -> str:
    text = good()
    if rng.random() < 0.15 and text:
        place = rng.randrange(len(text))
        text = text[:place] + rng.choice(["", "}", "\"", ",", "x", "[", " ", "{}"]) + text[place + rng.randint(0, 1):]
    return text


def random_open(rng: random.Random) -> Any:
    inner = {rng.choice(NAMES): value(rng) for _ in range(rng.randint(0, 4))}
    return {"z": scalar(rng), "o": mostly(rng, lambda: written(inner)) if rng.random() < 0.8 else value(rng, 1)}


def random_item(rng: random.Random) -> Any:
    item: dict[str, Any] = {"n": rng.choice(NAMES)} if rng.random() < 0.9 else {"n": value(rng, 1)}
    if rng.random() < 0.7:
        item["v"] = value(rng, 1)
    if rng.random() < 0.5:
        item["w"] = {"x": scalar(rng)}
    return item


def random_pivot(rng: random.Random) -> Any:
    items = [random_item(rng) if rng.random() < 0.97 else scalar(rng) for _ in range(rng.randint(0, 4))]
    return {"l": items if rng.random() < 0.6 else mostly(rng, lambda: written(items))}


def random_pair(rng: random.Random) -> Any:
    length = rng.randint(0, 4)
    names = [rng.choice(NAMES) if rng.random() < 0.95 else value(rng, 1) for _ in range(length)]
    values = [value(rng, 1) for _ in range(length if rng.random() < 0.9 else rng.randint(0, 4))]
    message = {"l": values if rng.random() < 0.7 else mostly(rng, lambda: written(values)), "names": names}
    return message if rng.random() < 0.95 else {"l": values}


def random_split(rng: random.Random) -> Any:
    return {"s": "".join(rng.choice(["||", "|", "a", "\u00fc", ""]) for _ in range(rng.randint(0, 9)))
            if rng.random() < 0.9 else value(rng, 1)}


def random_decimal(rng: random.Random) -> Any:
    length = rng.choice([0, 1, 1, 2, 3, 8, 12, 26, 28])
    number = bytes([rng.choice([0, 0xFF])] * rng.randint(0, 2)) + rng.randbytes(length)
    return {"d": mostly(rng, lambda: base64.b64encode(number).decode()) if rng.random() < 0.9 else scalar(rng)}


def by_reading(step: Callable[[Reading], Reading]) -> Callable[[Any], list[Reading]]:
    return lambda message: [step(flat("", message))]


STEPS: dict[str, tuple[str, Callable[[random.Random], Any], Callable[[Any], list[Reading]]]] = {
    "open": ("{ open: o }", random_open, by_reading(opened)),
    "pivot": ("{ pivot: l, name: n, value: [v, w/x], into: \"\" }", random_pivot, by_reading(pivoted)),
    "pairs": ("{ pivot: l, names: names, into: p }", random_pair, by_reading(paired)),
    "split": ("{ split: s, by: \"||\", into: [first, _, rest] }", random_split, by_reading(parted)),
    "decimal": ("{ decimal: d, scale: 3 }", random_decimal, by_reading(exact)),
    "senml": ("{ resolve: senml }", random_pack, resolved),
}


def expected(model: Callable[[Any], list[Reading]], message: Any) -> Optional[list[Reading]]:
    try:
        readings = model(message)
    except Refused:
        return None
    twice = any(len({one[0] for one in reading}) != len(reading) for reading in readings)
    return None if twice else readings


def spaceless(readings: Optional[list[Reading]]) -> Optional[list[Reading]]:
    """Lists as they stand may have spaces between their values; no text in them has."""
    return readings and [[(name, kind, text.replace(" ", "") if kind == "json" else text) for name, kind, text in reading]
                         for reading in readings]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--messages", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(f"1..{len(STEPS)}")
    n_bad = 0
    for number, (name, (step, draw, model)) in enumerate(STEPS.items(), 1):
        rng = random.Random(f"{arguments.seed} {name}")
        messages = [draw(rng) for _ in range(arguments.messages)]
        config = f"readings: {{ time: record, fields: [{step}] }}\n"
        answers = decoded(arguments.program, config, [written(message).encode() for message in messages])
        unlike, n_good = [], 0
        for message, answer in zip(messages, answers):
            made = None if isinstance(answer, dict) else [[tuple(one) for one in reading] for reading in answer]
            n_good += made is not None
            wanted = expected(model, message)
            if spaceless(made) != spaceless(wanted):
                unlike.append((message, answer, wanted))
        # A step that refuses nearly all, or nothing, is compared with nothing.
        is_good = not unlike and arguments.messages // 5 < n_good < arguments.messages
        print(f"{'' if is_good else 'not '}ok {number} {name}: {n_good} of {len(messages)} are readings")
        for message, answer, wanted in unlike[:3]:
            print(f"# {written(message)}\n#   became {answer}\n#   expected {wanted}")
        n_bad += not is_good
    return 1 if n_bad else 0


if __name__ == "__main__":
    sys.exit(main())
