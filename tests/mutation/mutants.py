"""Reads lists of mutants: small bugs that break a promise, as text to be replaced.

A list is a file NAME.mutants:

    # a comment, outside of a mutant
    @ name file test...        what it is called, where it goes, the tests that are nearest
    # the promise it breaks
    - old text                 stands once in the file; several lines are consecutive ones of it
    + new text
    ! why no test can notice it; without this line one must
"""
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Mutant:
    name: str
    file: str
    tests: list
    promise: str = ""
    excuse: str = ""
    old_lines: list = field(default_factory=list)
    new_lines: list = field(default_factory=list)

    def applied_to(self, source):
        """The mutated text; None when the old text does not stand in it once."""
        old = "\n".join(self.old_lines)
        if not old or source.count(old) != 1:
            return None
        return source.replace(old, "\n".join(self.new_lines))


def read_list(path):
    mutants = []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        mark, text = line[:1], line[2:]
        if mark == "@":
            name, file, *tests = text.split()
            mutants.append(Mutant(name, file, tests))
        elif mutants and mark == "#":
            mutants[-1].promise = text
        elif mark == "-":
            mutants[-1].old_lines.append(text)
        elif mark == "+":
            mutants[-1].new_lines.append(text)
        elif mark == "!":
            mutants[-1].excuse = text
    return mutants


def read_all(directory):
    mutants = [mutant for path in sorted(Path(directory).glob("*.mutants")) for mutant in read_list(path)]
    names = [mutant.name for mutant in mutants]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"mutants of one name: {', '.join(twice)}")
    return mutants
