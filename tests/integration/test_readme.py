"""README.md's first configuration and commands do what it says."""

import gzip
import json
import os
import re
import shlex
import subprocess
import time
from pathlib import Path

from case import Case
from daemon import DEADLINE_S, wait_until
from jvm_process import spawn

README = Path(__file__).resolve().parents[2] / "README.md"


class Readme(Case):

    def test_readme(self) -> None:
        """The configuration loads, and the key of the message in `explain` is the one beside the table."""
        text = README.read_text(encoding="utf-8")
        yaml = re.search(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        message = re.search(r"^echo '(.*)' \|$", text, re.MULTILINE)
        assert yaml is not None and message is not None
        promised = re.findall(r"^  (\w+): +# (\S+)$", yaml[1], re.MULTILINE)
        self.assertEqual([table for table, _ in promised], ["METRIC", "CURRENT_METRIC"])

        config = self.work / "tidemark.yaml"
        config.write_text(yaml[1], encoding="utf-8")
        self.command("check", "--offline", "-c", str(config))
        explained = self.command("explain", "--offline", "-c", str(config), stdin=f"{message[1]}\n").splitlines()
        for table, key in promised:
            self.assertIn([table, key], [line.split() for line in explained])

    def test_readme_commands(self) -> None:
        """Every command of the block behind it, in order, with the addresses of this stack."""
        text = README.read_text(encoding="utf-8")
        yaml = re.search(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        block = re.search(r"^```sh\n(tidemark check .*?)^```$", text, re.MULTILINE | re.DOTALL)
        assert yaml is not None and block is not None
        config = self.work / "tidemark.yaml"
        config.write_text(yaml[1].replace("127.0.0.1:9092", self.stack.kafka.address)
                          .replace("127.0.0.1:9090", self.stack.gateways[0].address), encoding="utf-8")
        self.create_topic(1, "metrics")
        self.drop_later("METRIC", "CURRENT_METRIC", "tidemark_schemes")
        self.send([{"host": "server1.bbb.com", "ts": int(time.time() * 1000), "CPU/CPU1_USR": 0.02}], topic="metrics")
        history = json.dumps({"host": "server1.bbb.com", "ts": int(time.time() * 1000) - 86_400_000, "CPU/CPU1_USR": 0.07})
        (self.work / "history.jsonl.gz").write_bytes(gzip.compress(history.encode()))
        ran = []
        for line in re.sub(r"\|\n", "| ", block[1]).splitlines():
            command = re.sub(r" +#.*", "", line)
            echoed = re.match(r"echo '(.*)' \| +(.*)", command)
            words = shlex.split(echoed[2] if echoed else command)
            self.assertEqual(words[0], "tidemark")
            ran.append(words[1])
            if words[1] == "run":
                self.run_until_committed(words[1:])
            else:
                done = subprocess.run([str(self.tidemark), *words[1:]], cwd=self.work, text=True, check=False, timeout=DEADLINE_S,
                                      input=f"{echoed[1]}\n" if echoed else "", capture_output=True, env=self.environment())
                self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
                if words[1] in ("latest", "scan"):
                    self.assertIn("server1.bbb.com", done.stdout)
        self.assertEqual(ran, ["check", "explain", "tables", "run", "latest", "scan", "verify", "dead-letters", "offsets", "load", "verify"])
        self.assertIn("0.07", self.command("scan", "METRIC", "-c", str(config)))

    def environment(self) -> dict[str, str]:
        """A user's, who has nothing of systemd's."""
        user = {name: value for name, value in os.environ.items() if name != "STATE_DIRECTORY"}
        return {**user, "XDG_STATE_HOME": str(self.work)}

    def run_until_committed(self, words: list[str]) -> None:
        """The daemon, stopped when the message is written."""
        log = self.work / "run.log"
        with log.open("ab") as out:
            process = spawn([str(self.tidemark), *words], self.environment(), out, owned=True, cwd=self.work)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        wait_until(lambda: self.stack.kafka.admin.committed_offsets("tidemark", "metrics").get(0) == 1,
                   lambda: log.read_text(encoding="utf-8"))
        process.terminate()
        self.assertEqual(process.wait(DEADLINE_S), 0, log.read_text(encoding="utf-8"))
