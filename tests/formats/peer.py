"""What the decoders of all formats share."""

from __future__ import annotations

import random
from typing import Any, Mapping, Optional, Union


class Refused(Exception):
    """A message is not in the format."""


class Unsure(Exception):
    """The other decoder is known to read this in a way of its own."""


class Text(str):
    """A number as it was written: it is to be kept so."""


class Raw(str):
    """A list whose text is kept."""
    value: Optional[list[Any]]  # what the text must mean; None: anything

    def __new__(cls, text: str, value: Optional[list[Any]] = None) -> "Raw":
        raw = super().__new__(cls, text)
        raw.value = value
        return raw


# Values: a Text is a number by its text, an int or float one by its value, a str a string.
Value = Union[None, bool, int, float, Text, Raw, str]
Reading = Mapping[str, Optional[Value]]


def letters(draw: random.Random, alphabet: str, least: int, most: int) -> str:
    return "".join(draw.choice(alphabet) for _ in range(draw.randint(least, most)))


def broken(draw: random.Random, message: bytes, words: list[bytes]) -> bytes:
    """@message with a few bytes taken out, put in, put elsewhere, or cut off."""
    for _ in range(draw.randint(1, 3)):
        at, end = sorted((draw.randint(0, len(message)), draw.randint(0, len(message))))
        end = min(end, at + draw.randint(1, 4))
        kind = draw.randrange(5)
        if kind == 0:
            message = message[:at]
        elif kind == 1:
            message = message[:at] + message[end:]
        elif kind == 2:
            message = message[:at] + message[at:end] + message[at:]
        else:
            message = message[:at] + draw.choice(words) + message[end if kind == 3 else at:]
    return message
