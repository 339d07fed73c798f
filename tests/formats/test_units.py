#!/usr/bin/env python3
"""Compares numbers in other units, as the daemon makes them, with Python's decimal: every digit, and what is refused.

    test_units.py BUILD/tests/formats/change-units [--numbers N] [--seed N]
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal

MAX_BYTES = 64
CHANGE_DIGITS = 32
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
EXACT = Context(prec=100000, Emax=MAX_EMAX, Emin=MIN_EMIN)


def digits(draw: random.Random, most: int) -> str:
    return "".join(draw.choice("0123456789" if draw.random() < 0.8 else "09") for _ in range(draw.randint(1, most)))


def number(draw: random.Random, most: int, exponents: int) -> str:
    text = draw.choice(["", "", "-", "+"]) + digits(draw, most)
    if draw.random() < 0.6:
        text += "." + ("" if draw.random() < 0.05 else digits(draw, most))
    if draw.random() < 0.3:
        text += draw.choice("eE") + draw.choice(["", "-", "+"]) + str(draw.randint(0, exponents))
    return text


def broken(draw: random.Random, text: str) -> str:
    at = draw.randint(0, len(text))
    word = draw.choice(["", "-", ".", "e", "E+", "x", "NaN", "Infinity", "_", ",", "0x1", "\x00", "\xe9", "9" * 70])
    return text[:at] + word + text[at + draw.randint(0, 2):]


def lines(draw: random.Random, n: int, n_broken: int) -> list[tuple[str, str, str]]:
    made = []
    for i in range(n + n_broken):
        most, exponents = draw.choice([(3, 3), (6, 10), (15, 30), (31, 70), (40, 400)])
        scale, offset = (number(draw, min(most, 16), min(exponents, 20)) for _ in range(2))
        value = number(draw, most, exponents)
        if draw.random() < 0.1:  # what takes all of it away
            exact = EXACT.multiply(Decimal(value), Decimal(scale))
            offset = format(-exact, "f") if draw.random() < 0.5 else str(-exact)
        if i >= n:
            value = broken(draw, value)
        made.append((scale, offset, value))
    return made


def of_a_change(text: str) -> bool:
    """Whether it can be a scale or an offset."""
    value = Decimal(text)
    if len(text) > MAX_BYTES:
        return False
    if value == 0:
        return True
    _, figures, exponent = EXACT.normalize(value).as_tuple()
    assert isinstance(exponent, int)
    return len(figures) <= CHANGE_DIGITS and exponent >= -CHANGE_DIGITS and exponent + len(figures) <= CHANGE_DIGITS


def expected(scale: str, offset: str, text: str) -> str:
    if not of_a_change(scale) or not of_a_change(offset):
        return "no such change"
    if not NUMBER.fullmatch(text) or len(text) > MAX_BYTES:
        return "refused"
    mantissa, _, exponent = text.lower().partition("e")
    is_zero = Decimal(mantissa) == 0 or Decimal(scale) == 0
    if not is_zero and abs(int(exponent or 0)) > 1000:
        return "refused"  # hundreds of digits, whatever the change
    number = Decimal(0) if is_zero else Decimal(text)
    value = EXACT.add(EXACT.multiply(number, Decimal(scale)), Decimal(offset))
    plain = "0" if value == 0 else format(EXACT.normalize(value), "f")
    return plain if len(plain) <= MAX_BYTES else "refused"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--numbers", type=int, default=120000)
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    made = [line for line in lines(random.Random(options.seed), options.numbers, options.numbers // 20)
            if not set("".join(line)) & set("\n\x00 ")]
    done = subprocess.run([options.program], input="".join(" ".join(line) + "\n" for line in made).encode("utf-8"),
                          stdout=subprocess.PIPE, check=True)
    answers = done.stdout.decode("utf-8").split("\n")[:-1]
    assert len(answers) == len(made), f"{len(answers)} answers to {len(made)} lines"
    wanted = [expected(*line) for line in made]
    different = [(line, answer, want) for line, answer, want in zip(made, answers, wanted) if answer != want]
    taken = sum(want not in ("refused", "no such change") for want in wanted)
    for line, answer, want in different[:10]:
        print(f"# {line}: {answer}, but by Python's decimal {want}")
    print(f"# {len(made)} numbers, {taken} taken, {len(different)} differ")
    good = not different and taken > len(made) // 2
    print("1..1\n" + ("ok 1" if good else "not ok 1") + " - every digit is that of Python's decimal")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
