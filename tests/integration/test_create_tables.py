"""Tables as `tables create` makes them, seen by HBase's Java client: settings and split points of every kind."""

from typing import Any

from case import Case

TIME = {"time": "epoch_ms"}
HOST = {"field": "host"}


def table(*key: Any, **options: Any) -> dict[str, Any]:
    return {"key": list(key), "columns": {"family": "M", "from": "*"}, **options}


class CreateTables(Case):

    def borders(self, name: str) -> list[bytes]:
        """The first key of each region but the first one."""
        starts = [bytes.fromhex(line[1]) for line in self.stack.oracle.describe(name) if line[0] == "region"]
        self.assertEqual(starts[0], b"")
        return starts[1:]

    def settings(self, name: str, family: str) -> dict[str, str]:
        line = next(line for line in self.stack.oracle.describe(name) if line[:2] == ["family", family])
        return dict(setting.split("=", 1) for setting in line[2:])

    def attributes(self, name: str) -> dict[str, str]:
        return {line[1]: line[2] for line in self.stack.oracle.describe(name) if line[0] == "attribute"}

    def test_settings_and_split_points(self) -> None:
        """What is declared is what is made; `show` finds what was made otherwise."""
        number, hashed, salted, listed, replaced = names = [
            f"{self.name}_{kind}" for kind in ("NUMBER", "HASH", "SALT", "LISTED", "REPLACED")]
        self.drop_later(*names)
        (self.work / "points.txt").write_text("g\nhex:73ff\nz\n", encoding="ascii")
        m = {"compression": "gz", "bloom": "rowcol", "encoding": "fast_diff", "block_size": "16KiB", "versions": 5,
             "ttl": "30d", "in_memory": True}
        tables = {
            number: table({"field": "meter", "width": 10, "pad": "0", "range": [0, 9999]}, "#", TIME, regions=4,
                          families={"M": m}),
            hashed: table({"hash": "md5", "of": ["host"], "bytes": 4, "as": "raw"}, HOST, "#", TIME, regions=4),
            salted: table({"salt": 5, "of": ["host"], "first": 1}, "#", HOST, "#", TIME),
            listed: table(HOST, "#", TIME, splits={"file": "points.txt"}),
            replaced: {**table(HOST), "latest": "replace", "purge_deletes_after": "2d"},
        }
        config = ("--config", str(self.daemon(tables=tables).config_path))
        self.command("tables", "create", *config)
        self.command("tables", "show", *config)
        self.command("check", *config, code=1)  # there is no topic

        self.assertEqual(self.borders(number), [b"0000002500", b"0000005000", b"0000007500"])
        self.assertEqual([border.ljust(4, b"\0") for border in self.borders(hashed)],
                         [b"\x40\0\0\0", b"\x80\0\0\0", b"\xc0\0\0\0"])
        self.assertEqual(self.borders(salted), [b"2", b"3", b"4", b"5"])
        self.assertEqual(self.borders(listed), [b"g", b"\x73\xff", b"z"])
        wanted = {"COMPRESSION": "GZ", "BLOOMFILTER": "ROWCOL", "DATA_BLOCK_ENCODING": "FAST_DIFF", "BLOCKSIZE": "16384",
                  "VERSIONS": "5", "TTL": str(30 * 24 * 3600), "IN_MEMORY": "true"}
        self.assertLessEqual(wanted.items(), self.settings(number, "M").items())
        self.assertEqual(self.attributes(replaced)["hbase.hstore.time.to.purge.deletes"], str(2 * 24 * 3600 * 1000))
        for name in names:
            self.assertIn("tidemark scheme 1: ", self.attributes(name)["TIDEMARK_SCHEME"])

        self.stack.oracle.drop(number)
        self.stack.oracle.create(number, "M", (b"0000005000",))
        shown = self.command("tables", "show", *config, number, code=1).lower()
        for difference in ("compression", "bloom", "encoding", "block", "versions", "ttl", "1 of 3"):
            self.assertIn(difference, shown)
        self.command("tables", "show", *config, *names[1:])
