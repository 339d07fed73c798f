#!/usr/bin/env python3
"""Writes the manual's pages at build time, by scdoc: from the output of `--help`, which comes from the tables of commands
and options, and from docs/. The name of a PAGE selects its content: tidemark.1, tidemark-scan.1, tidemark.yaml.5.

    write_pages.py TIDEMARK SCDOC DATE VERSION DOCUMENT... PAGE...

A document ends in .md. The heading "tidemark NAME" begins the text of a command, in any document but those of CONFIGURATION, which
become the sections of tidemark.yaml.5.
"""
import calendar
import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path

from help_text import commands_of, help_of, items_of

# The pages of the configuration, in the order of their sections.
CONFIGURATION = ("configuration.md", "input.md", "event-time.md", "tables.md", "connections.md", "options.md")

# Code, bold and links; and characters in other text that scdoc would interpret.
_MARKS = re.compile(r"<a id=[^>]*></a>|`([^`]+)`|\*\*(.+?)\*\*|\[((?:`[^`]*`|[^\[\]])*)\]\(([^)]*)\)|([\\*_])")
_BULLET = re.compile(r"( *)- ")
_TABLE_RULE = re.compile(r"\| ?-")
_CONTENTS = re.compile(r"(?m)^- (?:\w+: )?\[[^]]*\]\(#.*\n(?:  .*\n)*")  # a list of a page's sections
_COMMAND = re.compile(r"(?ms)^(##?) tidemark ([a-z-]+)\n(.*?)(?=^\1 |\Z)")


def target_of(link):
    """The page or document that a link in the documents refers to; empty if readers of the page cannot use it."""
    path, _, section = link.partition("#")
    if "://" in link or not path.endswith(".md"):
        return ""
    if path in CONFIGURATION:
        return "tidemark.yaml(5)"
    if path == "commands.md":
        return "tidemark(1)"
    if section.startswith("tidemark-"):
        return f"{section}(1)"
    if path in ("init.md", "load.md", "verify.md"):
        return f"tidemark-{path[:-3]}(1)"
    return path[3:] if path.startswith("../") else f"docs/{path}"


def escaped(text):
    return re.sub(r"([\\*_])", r"\\\1", text)


def inline(text):
    """Converts Markdown's marks in text to scdoc's."""
    def replaced(match):
        code, bold, label, link, special = match.groups()
        if not any(match.groups()):
            return ""  # an anchor
        if special is not None:
            return "\\" + special
        if label is None:
            return f"*{escaped((code or bold).replace('`', ''))}*"
        target = escaped(target_of(link))
        if target and label.endswith(".md"):
            return target
        return inline(label) + (f" ({target})" if target else "")

    return _MARKS.sub(replaced, text)


def paragraph(text):
    """One line, so that only its first byte could make it another kind of block; that byte is escaped."""
    text = inline(" ".join(text.split()))
    return "\\" + text if text[:1] in tuple("#-[]|`;") else text


def item(name, text):
    return f"{name}\n\t{paragraph(text)}\n"


def bold_item(name, text):
    bold = re.match(r"[^\[=]*", name)[0]
    return item(f"*{escaped(bold)}*{escaped(name[len(bold):])}", text)


def verbatim(lines):
    return "\n".join(["```", *(line.replace("\\", "\\\\") for line in lines), "```", ""])


def row_of_table(line):
    """An item: the first cell is its name, the last its text, and the cells between are in brackets."""
    name, *between, text = (cell.strip() for cell in line.removeprefix("|").removesuffix(" |").split(" |"))
    if len(between) > 1 and between[-1] not in ("required", "not set"):
        between[-1] = f"default {between[-1]}"
    return item(paragraph(f"{name} ({'; '.join(between)})" if between else name), text)


def markdown(text):
    """Headings, paragraphs, lists, fenced blocks and tables of the documents."""
    blocks, lines = [], [line for line in text.splitlines() if not line.startswith("<!--")]
    is_open = False  # the last block continues in the next line
    while lines:
        line = lines.pop(0)
        bullet = _BULLET.match(line)
        if line.lstrip().startswith("```"):
            end = next(i for i, other in enumerate(lines) if other.lstrip().startswith("```"))
            blocks.append(verbatim(textwrap.dedent("\n".join(lines[:end])).splitlines()))
            del lines[:end + 1]
        elif line.startswith("#"):
            blocks.append(f"## {inline(line.lstrip('# '))}\n")
        elif line.startswith("|"):
            if not _TABLE_RULE.match(line) and not (lines and _TABLE_RULE.match(lines[0])):
                blocks.append(row_of_table(line))
        elif bullet or not is_open:
            if line.strip():
                blocks.append((bullet, line[bullet.end():] if bullet else line))
                is_open = True
                continue
        elif line.strip():
            blocks[-1] = (blocks[-1][0], blocks[-1][1] + " " + line)
            continue
        is_open = False
    text = "\n".join(block if isinstance(block, str) else listed(*block) for block in blocks)
    return re.sub(r"(?m)^(\t*- .*\n)\n(?=\t*- )", r"\1", text)


def listed(bullet, text):
    """A paragraph, or an item of a list."""
    return "\t" * (len(bullet[1]) // 2) + f"- {inline(' '.join(text.split()))}\n" if bullet else paragraph(text) + "\n"


def finished(roff):
    """Makes hyphens copyable and not breakable, as commands and options need them. Moves or removes the empty
    paragraphs that scdoc writes, because mandoc warns about them."""
    roff = re.sub(r"(?m)^(?!\.|\\h).*$", lambda line: line[0].replace("-", "\\-"), roff)
    roff = re.sub(r"(?m)^\.P\n\.RE$", ".RE\n.P", roff)
    return re.sub(r"(?m)(?<=\n)(?:\.P\n)+(?=\.S[HS] |\.P$|\Z)|(?<=\n)(\.S[HS] .*\n)\.P\n", r"\1", roff)


def sections_of(document):
    """{heading: text} of a document's sections; the text before the first is called "description"."""
    _, *parts = re.split(r"(?m)^##? (.*)$", document)
    return {"description" if i == 0 else heading: text for i, (heading, text) in enumerate(zip(parts[::2], parts[1::2]))}


def configuration_sections(documents):
    """Those of the first page by themselves; each other page is one section with its title."""
    first, *others = (documents[name] for name in CONFIGURATION)
    titled = (re.match(r"# ([^\n]*)\n(.*)", text, re.S).groups() for text in others)
    return {**sections_of(first), **dict(titled)}


class Manual:
    def __init__(self, tidemark, date, version, documents):
        self.tidemark, self.version = tidemark, version
        self.environment = {"SOURCE_DATE_EPOCH": str(calendar.timegm(time.strptime(date, "%Y-%m-%d")))}
        texts = {document.name: _CONTENTS.sub("", document.read_text(encoding="utf-8")) for document in documents}
        self.common = sections_of(texts["commands.md"])
        self.configuration_sections = configuration_sections(texts)
        self.guides = {name: guide for text in texts.values() for _, name, guide in _COMMAND.findall(text)}
        self.commands = commands_of(tidemark)

    def page(self, name, section, sentence, sections):
        others = [(f"tidemark-{command}", 1) for command in self.commands]
        pages = [("tidemark", 1), *others, ("tidemark.yaml", 5)]
        see_also = ", ".join(f"*{page}*({number})" for page, number in pages if page != name)
        whole = {"name": f"{name} - {sentence}\n", **sections, "see also": see_also + "\n"}
        return "\n".join([f'{name.upper()}({section}) "tidemark {self.version}" "tidemark"\n',
                          *(f"# {inline(heading.upper())}\n\n{text}" for heading, text in whole.items() if text)])

    def program(self):
        text = ("tidemark writes sensor readings from Kafka to HBase through its Thrift gateway, by row keys that "
                "`tidemark.yaml`(5) declares, and keeps the latest value of each.")
        commands = [bold_item(f"tidemark-{name}(1)", sentence) for name, sentence in self.commands.items()]
        return self.page("tidemark", 1, "writes sensor readings from Kafka to HBase", {
            "synopsis": paragraph("`tidemark` COMMAND [OPTION…] [ARGUMENT…]") + "\n",
            "description": "\n".join([paragraph(text) + "\n", *commands]),
            "exit status": markdown(self.common["Exit codes"]),
            "bytes on a screen": markdown(self.common["Bytes on a screen"])})

    def configuration(self):
        return self.page("tidemark.yaml", 5, "the configuration of tidemark",
                         {heading: markdown(text) for heading, text in self.configuration_sections.items()})

    def command(self, name):
        text = help_of(self.tidemark, name)
        description = [paragraph(text.summary) + "\n"]
        for item_name, meaning in (item for part in text.details for item in items_of(part)):
            description.append(bold_item(item_name, meaning) if item_name else paragraph(meaning) + "\n")
        examples = list(text.examples)
        more = self.guides.get(name, "").strip("\n")
        fenced = re.match(r"```sh\n(.*?)\n```\n", more, re.S)  # examples that --help does not have
        if fenced:
            examples += [line for line in fenced[1].splitlines() if line not in "\n".join(examples)]
            more = more[fenced.end():]
        return self.page(f"tidemark-{name}", 1, self.commands[name], {
            "synopsis": re.sub(r"^tidemark \S+", lambda match: f"*{match[0]}*", escaped(text.usage)) + "\n",
            "description": "\n".join([*description, markdown(more)]),
            "options": "\n".join(bold_item(*option) for option in text.options),
            "exit status": "\n".join([*(bold_item(code, meaning) for code, meaning in text.codes),
                                      paragraph("`tidemark`(1) tells more of each.") + "\n"]),
            "examples": verbatim(examples) if examples else ""})


def main(tidemark, scdoc, date, version, *paths):
    manual = Manual(tidemark, date, version, [Path(path) for path in paths if path.endswith(".md")])
    pages = [path for path in paths if not path.endswith(".md")]
    sources = {"tidemark.1": manual.program, "tidemark.yaml.5": manual.configuration}
    sources.update({f"tidemark-{name}.1": lambda name=name: manual.command(name) for name in manual.commands})
    given = {Path(page).name: Path(page) for page in pages}
    if set(given) != set(sources):
        return f"not the pages that daemon/manual/meson.build lists: {', '.join(sorted(set(given) ^ set(sources)))}"
    for name, source in sources.items():
        page = subprocess.run([scdoc], input=source(), stdout=subprocess.PIPE, text=True, check=True, env=manual.environment)
        given[name].write_text(finished(page.stdout), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
