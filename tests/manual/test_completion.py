#!/usr/bin/env python3
"""What may stand next: as the program says it, and as bash and zsh get it from their scripts."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from built import build_of  # noqa: E402 pylint: disable=wrong-import-position

BUILD = build_of(sys.argv, "daemon/tidemark")
ROOT = Path(__file__).resolve().parents[2]
TIDEMARK = BUILD / "daemon/tidemark"
CONFIG = ROOT / "config/examples/server-metrics.yaml"


def output_of(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True, **options).stdout


def candidates(*words):
    return [line.split("\t")[0] for line in output_of(TIDEMARK, "complete", "--", *words).splitlines()]


class Program(unittest.TestCase):
    def test_commands(self):
        self.assertEqual(candidates("s"), ["status", "scan", "simulate"])
        self.assertNotIn("complete", candidates(""))

    def test_options_and_their_choices(self):
        self.assertEqual(candidates("scan", "--f"), ["--from=", "--format="])
        self.assertEqual(candidates("scan", "--format=c"), ["--format=csv"])
        self.assertEqual(candidates("scan", "-f", ""), ["table", "csv", "json"])
        self.assertIn("--help", candidates("version", "--"))

    def test_verbs(self):
        self.assertEqual(candidates("tables", ""), ["create", "show"])
        self.assertEqual(candidates("dead-letters", "re"), ["replay"])

    def test_tables_and_fields_of_the_configuration(self):
        self.assertEqual(candidates("scan", "-c", CONFIG, ""), ["METRIC", "CURRENT_METRIC"])
        self.assertEqual(candidates("scan", f"--config={CONFIG}", "--limit", "3", "METRIC", ""), ["HOSTNAME="])
        self.assertEqual(candidates("tables", "show", "--config", CONFIG, "C"), ["CURRENT_METRIC"])

    def test_somebody_who_types_sees_no_fault(self):
        for words in [(), ("nothing", ""), ("scan", "-c", "/nowhere", ""), ("scan", "-c", CONFIG, "NO", ""), ("scan", "--no=")]:
            done = subprocess.run([str(TIDEMARK), "complete", "--", *map(str, words)], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), words)


class Shells(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        (Path(folder.name) / "tidemark").symlink_to(TIDEMARK)
        self.environment = {"PATH": f"{folder.name}:/usr/bin:/bin", "HOME": folder.name, "LC_ALL": "C.UTF-8"}

    def in_bash(self, line):
        script = (f"source {ROOT}/daemon/manual/tidemark.bash; compopt() {{ :; }}; COMP_LINE=$1; COMP_POINT=${{#1}}; "
                  "_tidemark; printf '%s\\n' \"${COMPREPLY[@]}\"")
        return output_of("bash", "-c", script, "bash", line, env=self.environment).split("\n")[:-1]

    def test_bash(self):
        self.assertEqual(self.in_bash("tidemark sc"), ["scan"])
        self.assertEqual(self.in_bash(f"tidemark scan -c {CONFIG} "), ["METRIC", "CURRENT_METRIC"])
        # Only what is behind the '=' is bash's word.
        self.assertEqual(self.in_bash("tidemark scan --format=c"), ["csv"])
        self.assertEqual(self.in_bash(f"tidemark scan -c {CONFIG} METRIC HO"), ["HOSTNAME="])

    def in_zsh(self, *words):
        script = ("_describe() { print -rl -- \"whole:\" $whole \"opened:\" $opened }; _default() { print files }; words=(\"$@\"); "
                  f"CURRENT=$#; eval \"_tidemark() {{ $(<{ROOT}/daemon/manual/tidemark.zsh) }}\"; _tidemark")
        return output_of("zsh", "-f", "-c", script, "zsh", *words, env=self.environment).split("\n")[:-1]

    def test_zsh(self):
        self.assertEqual(self.in_zsh("tidemark", "tables", "c"), ["whole:", "create:", "opened:"])
        self.assertEqual(self.in_zsh("tidemark", "scan", "--to"),
                         ["whole:", "opened:", "--to=:latest event time, exclusive (no limit)"])
        self.assertEqual(self.in_zsh("tidemark", "explain", "./"), ["files"])


if __name__ == "__main__":
    unittest.main()
