"""The parts of a command's `--help`, which comes from the program's tables of commands and options."""
import re
import subprocess
from dataclasses import dataclass

_OPTION = re.compile(r" {2,6}(-\S.*?)(?: {2,}(.*))?$")


@dataclass(frozen=True)
class HelpText:
    usage: str                      # "tidemark scan [OPTION…] TABLE"
    summary: str
    options: list[tuple[str, str]]  # ("-c, --config=FILE", its meaning)
    codes: list[tuple[str, str]]    # ("78", its meaning)
    details: list[str]              # paragraphs
    examples: list[str]             # command lines


def output_of_help(tidemark, *command):
    return subprocess.run([tidemark, *command, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout


def commands_of(tidemark):
    """{name: its sentence}, in the order of `tidemark --help`."""
    return dict(re.findall(r"^  ([a-z-]+) +(\S.*)$", output_of_help(tidemark), re.M))


def help_of(tidemark, command):
    usage, summary, options, codes, *details, examples = output_of_help(tidemark, command).strip().split("\n\n")
    listed_options = []
    for line in options.splitlines()[1:]:
        option = _OPTION.match(line)
        if option:
            listed_options.append([option[1], option[2] or ""])
        else:
            listed_options[-1][1] += " " + line
    return HelpText(usage=" ".join(usage.removeprefix("Usage: ").split()), summary=" ".join(summary.split()),
                    options=[(name, " ".join(text.split())) for name, text in listed_options],
                    codes=[(code, " ".join(text.split())) for code, text in re.findall(r"^  (\d+) +(.*(?:\n {6}.*)*)", codes, re.M)],
                    details=details, examples=[line.strip() for line in examples.splitlines()[1:]])


def items_of(paragraph):
    """The pieces of a paragraph of details: (name, text) for each line that begins with "name  text", else ("", text)."""
    for part in re.split(r"\n(?=\S+(?: \S+)*  )", paragraph):
        named = re.match(r"(\S+(?: \S+)*)  +(.*)", part, re.S)
        yield (named[1], " ".join(named[2].split())) if named else ("", " ".join(part.split()))
