"""What the style checks share: the files of the project, and C text without its comments or strings."""
import re
import subprocess
import sys
from pathlib import Path

# Folders that hold our own C and C++. Generated code is in the build directory and never seen here.
SOURCE_FOLDERS = ("daemon", "thrift", "config")
TEST_FOLDERS = ("tests",)
C_SUFFIXES = (".c", ".h", ".cc", ".cpp")

_COMMENT_OR_LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


class Findings:
    """Collects what is wrong as `path:line: text`, and ends the check."""

    def __init__(self, root):
        self.root = root
        self.lines = []

    def add(self, path, line, text):
        self.lines.append(f"{path.relative_to(self.root)}:{line}: {text}")

    def report(self, what_was_checked):
        for line in self.lines:
            print(line)
        print(f"{what_was_checked}: {len(self.lines)} findings")
        return 1 if self.lines else 0


def project_root():
    """The root is the first argument that is no option, or where this file is."""
    paths = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    return Path(paths[0]).resolve() if paths else Path(__file__).resolve().parents[2]


def files_below(root, folders, suffixes):
    """All files with one of the suffixes below the folders of root, in a stable order."""
    found = []
    for folder in folders:
        for path in (root / folder).rglob("*"):
            if path.is_file() and path.name.endswith(tuple(suffixes)) and "__pycache__" not in path.parts:
                found.append(path)
    return sorted(set(found))


def listed_files(root):
    """The files that git has or would add, below root and relative to it; elsewhere, all files."""
    listing = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True,
                             text=True, check=False)
    names = listing.stdout.splitlines() if listing.returncode == 0 else [str(p.relative_to(root)) for p in root.rglob("*")]
    return sorted(Path(name) for name in set(names) if (root / name).is_file())


def _blank(text):
    """As long as text, with as many lines."""
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    """C text with comments blanked out; strings stay."""
    return _COMMENT_OR_LITERAL.sub(lambda m: m[0] if m[0][0] in "\"'" else _blank(m[0]), text)


def comments_only(text):
    """C text with all but its comments blanked out."""
    kept, end = [], 0
    for match in _COMMENT_OR_LITERAL.finditer(text):
        kept += [_blank(text[end:match.start()]), _blank(match[0]) if match[0][0] in "\"'" else match[0]]
        end = match.end()
    return "".join(kept) + _blank(text[end:])


def code_only(text):
    """C text with comments, strings and character constants blanked out. #include lines keep their names."""
    return _COMMENT_OR_LITERAL.sub(_keep_includes(text), text)


def _keep_includes(text):
    def replace(match):
        line_start = text.rfind("\n", 0, match.start()) + 1
        if match[0][0] == '"' and re.fullmatch(r"\s*#\s*include\s*", text[line_start:match.start()]):
            return match[0]
        return _blank(match[0])
    return replace


def read(path):
    """As it is: line ends are not translated."""
    return path.read_bytes().decode("utf-8")


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
