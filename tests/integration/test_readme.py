"""README.md's first configuration and commands do what it says."""

import re
from pathlib import Path

from case import Case

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
