#!/usr/bin/env python3
"""Each check finds what it is there to find, in a small project made for it, and finds nothing in one that is right."""
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOOD_HEADER = "/* What it is for. */\n#pragma once\n"


class Project(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check(self, name, *arguments):
        result = subprocess.run([sys.executable, str(HERE / f"check_{name}.py"), *arguments, str(self.root)],
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.stderr, "")
        return result.returncode, result.stdout

    def assert_clean(self, name):
        code, output = self.check(name)
        self.assertEqual((code, output.count("\n")), (0, 1), output)

    def assert_finds(self, name, *parts):
        code, output = self.check(name)
        self.assertEqual(code, 1, output)
        for part in parts:
            self.assertIn(part, output)


class CountTests(Project):
    """What `meson test` wrote, as tests/count_tests.py counts it."""

    def log(self, log, results, output=""):
        self.write(f"{log}.json", "".join(json.dumps({"name": f"tidemark:fault / {name}", "stdout": output, "result": result})
                                          + "\n" for name, result in results.items()))
        suites = "".join(f'<testsuite name="tidemark.tidemark:fault / {name}"><testcase name="one"/>'
                         f'<testcase name="two">{"" if result == "OK" else "<failure/>"}</testcase></testsuite>'
                         for name, result in results.items())
        self.write(f"{log}.junit.xml", f"<testsuites>{suites}</testsuites>")

    def counted(self, *options):
        script = HERE.parent / "count_tests.py"
        return subprocess.run([sys.executable, str(script), str(self.root), *options], capture_output=True, text=True,
                              check=True).stdout

    def test_a_failure_counts_until_it_has_passed_alone(self):
        self.log("testlog", {"a": "OK", "b": "FAIL"})
        self.assertEqual(self.counted(), "3 1 0\n")
        self.assertEqual(self.counted("--to-repeat"), "b\n")
        self.assertEqual(self.counted("--unstable"), "")
        self.log("again", {"b": "FAIL"})
        self.assertEqual(self.counted(), "3 1 0\n")
        self.assertEqual(self.counted("--unstable"), "")
        self.log("again", {"b": "OK"})
        self.assertEqual(self.counted(), "4 0 0\n")
        self.assertEqual(self.counted("--unstable"), "b\n")

    def test_many_failures_are_not_repeated(self):
        self.log("testlog", dict.fromkeys("abcd", "FAIL"))
        self.assertEqual(self.counted("--to-repeat"), "")

    def test_what_a_sanitizer_found_is_not_repeated(self):
        for report in ["==1==ERROR: AddressSanitizer: heap", "WARNING: ThreadSanitizer: data race", "a.c:1:2: runtime error: x"]:
            self.log("testlog", {"a": "FAIL"}, output=report)
            self.assertEqual(self.counted("--to-repeat"), "")


class MutantsTests(Project):
    def setUp(self):
        super().setUp()
        self.write("tests/mutation/one.mutants", "@ never-ends daemon/a.c a\n# it ends\n- i++;\n+ ;\n")

    def test_a_mutant_whose_text_is_there_once_is_clean(self):
        self.write("daemon/a.c", "i++;\n")
        self.assert_clean("mutants")

    def test_a_mutant_whose_line_or_file_is_another_by_now(self):
        self.assert_finds("mutants", "never-ends", "daemon/a.c")
        for text in ("i += 1;\n", "i++;\ni++;\n"):
            self.write("daemon/a.c", text)
            self.assert_finds("mutants", "never-ends", "daemon/a.c")


class Layers(Project):
    def test_lower_and_own_layers_may_be_included(self):
        self.write("daemon/util/error.h", GOOD_HEADER)
        self.write("thrift/wire/wire.h", GOOD_HEADER + '#include "util/error.h"\n')
        self.write("daemon/write/lanes.c", '#include "thrift/wire/wire.h"\n#include "lanes.h"\n#include <glib.h>\n')
        self.write("daemon/write/lanes.h", GOOD_HEADER)
        self.write("daemon/main.c", '#include "write/lanes.h"\n')
        self.assert_clean("layers")

    def test_a_higher_layer_may_not(self):
        self.write("daemon/write/lanes.h", GOOD_HEADER)
        self.write("config/config.h", GOOD_HEADER)
        self.write("daemon/util/log.c", '\n#include "config/config.h"\n')
        self.write("thrift/wire/wire.c", '#  include "daemon/write/lanes.h"\n')
        self.assert_finds("layers", "daemon/util/log.c:2: layer 'daemon/util' includes 'config/config.h'",
                          "thrift/wire/wire.c:1: layer 'thrift/wire'", "2 findings")

    def test_rooms_beside_each_other_do_not_know_each_other(self):
        self.write("daemon/kafka/source.h", GOOD_HEADER)
        self.write("daemon/tables/check.c", '#include "kafka/source.h"\n')
        self.assert_finds("layers", "daemon/tables/check.c:1: layer 'daemon/tables' includes 'kafka/source.h' of the layer beside it",
                          "1 findings")

    def test_a_comment_or_a_string_includes_nothing(self):
        self.write("daemon/write/lanes.h", GOOD_HEADER)
        self.write("daemon/util/log.c", '/*\n#include "write/lanes.h"\nrd_kafka_poll */\nconst char *s = "MHD_YES";\n')
        self.assert_clean("layers")

    def test_a_wall_stops_headers_and_names(self):
        self.write("daemon/write/writer.c", "#include <librdkafka/rdkafka.h>\n")
        self.write("daemon/write/lanes.c", "void f(void) { rd_kafka_poll(0, 0); }\n")
        self.write("daemon/kafka/kafka_source.c", "#include <librdkafka/rdkafka.h>\nrd_kafka_t *handle;\n")
        self.write("daemon/util/log.c", "#include <systemd/sd-journal.h>\n")
        self.write("daemon/model/row.c", "#include <yaml.h>\n#include <thrift/c_glib/thrift.h>\n")
        self.write("daemon/commands/run.c", "#include <crypt.h>\n#include <hbase_types.h>\n")
        self.write("daemon/rows/heals.c", "void g(void) { tide_thread_start(0, 0, 0); }\n")
        self.assert_finds("layers", "daemon/write/writer.c:1", "daemon/write/lanes.c:1: names 'rd_kafka_",
                          "daemon/util/log.c:1", "daemon/model/row.c:1", "daemon/model/row.c:2",
                          "daemon/commands/run.c:1", "daemon/commands/run.c:2", "daemon/rows/heals.c:1", "8 findings")



class Circles(Project):
    def setUp(self):
        super().setUp()
        self.write("daemon/write/lanes.h", GOOD_HEADER + '#include "write/lane.h"\n')
        self.write("daemon/write/lane.h", GOOD_HEADER)
        self.write("daemon/write/lane.c", '#include "write/lanes.h"\n')

    def test_a_circle_is_found_and_its_files_are_named(self):
        self.assert_finds("circles", "daemon/write/README.md:1: include each other", "`lane`, `lanes`")

    def test_a_circle_that_is_one_module_by_design_is_none(self):
        self.write("daemon/write/README.md", "# write\n\nOne module: `lane` and `lanes`. A lane has `other` names.\n")
        self.assert_clean("circles")

    def test_another_module_s_name_does_not_count(self):
        self.write("daemon/write/README.md", "One module: `lane`, `lanes` and `writer`. Why.\n")
        self.assert_finds("circles", "include each other", "no longer include each other: lane, lanes, writer")

    def test_files_without_a_circle_are_clean(self):
        self.write("daemon/write/lanes.h", GOOD_HEADER)
        self.assert_clean("circles")


class Source(Project):
    def test_good_text_is_clean(self):
        self.write("daemon/util/log.h", GOOD_HEADER)
        self.write("daemon/util/log.c", '/* No goto, GMutex or sleep() here. */\nconst char *s = "goto";\n')
        self.write("tests/unit/util/test-log.c", "int sleeper;\nvoid asleep (void);\n")
        self.assert_clean("source")

    def test_forbidden_words(self):
        self.write("daemon/util/a.c", "void f(void)\n{\n  goto end;\nend:;\n}\nGMutex m;\nint x = g_async_queue_length(0);\n")
        self.write("tests/unit/test-a.c", "void g(void) { g_usleep(5); sleep(1); goto x; x:; }\n")
        self.assert_finds("source", "daemon/util/a.c:3: 'goto'", "daemon/util/a.c:6: 'GMutex'", "daemon/util/a.c:7:",
                          "test-a.c:1: 'g_usleep('", "test-a.c:1: 'sleep('", "test-a.c:1: 'goto'", "6 findings")

    def test_blanks_tabs_and_ends(self):
        self.write("daemon/util/a.c", "int a; \n\tint b;\nint c;\r\nint d;")
        self.write("docs/a.md", "text \n")
        self.assert_finds("source", "a.c:1: ends in a blank", "a.c:2: has a tab", "a.c:3: ends in a blank",
                          "a.c:4: the last line", "docs/a.md:1:", "5 findings")

    def test_tabs_of_messages_that_a_document_shows(self):
        self.write("docs/a.md", "as a line:\n```text\nhost:a\tcpu:1\n```\nafter\n")
        self.write("tests/unit/test-a.c", 'const char *line = "host:a\\tcpu:1";\n')
        self.assert_clean("source")
        self.write("docs/a.md", "```text\na\n```\nhost:a\tcpu:1\n")
        self.write("tests/unit/test-a.c", 'const char *line = "host:a\tcpu:1";\n')
        self.write("tests/a.py", "if 1:\n\tpass\n")
        self.assert_finds("source", "docs/a.md:4: has a tab", "test-a.c:1: has a tab", "a.py:2: has a tab", "3 findings")

    def test_long_lines_and_files(self):
        self.write("daemon/util/a.c", "int a;\n" * 901)
        self.write("daemon/util/b.c", "int " + "b" * 130 + ";\n")
        self.assert_finds("source", "a.c:901: has 901 lines", "b.c:1: is 135 characters", "2 findings")

    def test_unfinished_work(self):
        self.write("daemon/util/a.c", "/* TO" "DO: the rest */\n")
        self.write("daemon/util/b.c", "int a; // XXX\n\n/* as it is;\n * XXX later */\n/* FIX" "ME */ int b; /* XXX: why */\n")
        self.assert_finds("source", "a.c:1: says that something is unfinished", "b.c:1:", "b.c:4:", "b.c:5:", "5 findings")

    def test_what_looks_unfinished_in_a_string_or_a_pattern_is_not(self):
        self.write("daemon/util/a.c", 'const char *s = "TO" "DO", *t = "XXX: \\" /* FIX' 'ME */";\n'
                   "/* The zone's offset: XXX is +01:00, XXXX +0100. */\nint XXX;\n")
        self.assert_clean("source")

    def test_headers_say_what_they_are_for(self):
        self.write("daemon/util/a.h", "#pragma once\nint a;\n")
        self.write("daemon/util/b.h", "/* For b. */\nint b;\n")
        self.assert_finds("source", "a.h:1: a header begins", "b.h:1: a header has", "3 findings")

    def test_python_that_is_none(self):
        self.write("tests/stack/a.py", "def f(:\n")
        self.assert_finds("source", "a.py:1: is not Python")


SOURCE_WITH_METRICS = '''
void f(void)
{
  a = tide_metrics_counter(metrics, "tidemark_rows_total", "Rows that "
                           "readings made", NULL);
  b = tide_metrics_gauge_milli(metrics, "tidemark_oldest_seconds", "Age of the oldest", label); /* "tidemark_not" */
  n = tide_metrics_sum(metrics, "tidemark_elsewhere_total", NULL);
}
static const Row rows[] = {{"tidemark_ends_total", "Ends"}};
'''
TABLE = ("| metric | type | meaning |\n|---|---|---|\n"
         "| `tidemark_ends_total` | counter | Ends |\n"
         "| `tidemark_oldest_seconds` | gauge | Age of the oldest |\n"
         "| `tidemark_rows_total` | counter | Rows that readings made |\n")


def document(table):
    return f"# Metrics\n<!-- metrics: begin -->\n{table}<!-- metrics: end -->\nafter\n"


class MetricsDocs(Project):
    def setUp(self):
        super().setUp()
        self.write("daemon/write/a.c", SOURCE_WITH_METRICS)

    def test_the_table_agrees(self):
        self.write("docs/metrics.md", document(TABLE))
        self.assert_clean("metrics_docs")

    def test_write_makes_it_agree_and_keeps_the_rest(self):
        self.write("docs/metrics.md", document("old\n"))
        self.assertEqual(self.check("metrics_docs", "--write")[0], 0)
        self.assertEqual((self.root / "docs/metrics.md").read_text(encoding="utf-8"), document(TABLE))

    def test_missing_stale_and_changed_rows(self):
        changed = TABLE.replace("| `tidemark_ends_total` | counter | Ends |\n", "").replace("Age", "The age")
        self.write("docs/metrics.md", document(changed + "| `tidemark_gone_total` | counter | Gone |\n"))
        self.assert_finds("metrics_docs", "'tidemark_ends_total' is registered and not documented",
                          "'tidemark_gone_total' is documented and not registered",
                          "'tidemark_oldest_seconds' has another type or help", "3 findings")

    def test_two_registrations_agree(self):
        self.write("docs/metrics.md", document(TABLE))
        self.write("daemon/write/b.c", 'x = tide_metrics_counter(m, "tidemark_rows_total", "Rows", NULL);\n')
        self.assert_finds("metrics_docs", "b.c:1: 'tidemark_rows_total' has another type or help than in daemon/write/a.c:4")

    def test_names_follow_the_convention(self):
        self.write("docs/metrics.md", document(TABLE))
        self.write("daemon/write/b.c", 'x = tide_metrics_counter(m, "tidemark_calls", "Calls", NULL);\n'
                                      'x = tide_metrics_gauge(m, "tidemark_left_total", "Left", NULL);\n'
                                      'x = tide_metrics_gauge(m, "tidemark_age_ms", "Age.", NULL);\n'
                                      'const char *name = "tidemark_unknown";\n')
        self.assert_finds("metrics_docs", "'tidemark_calls': a counter's name", "'tidemark_left_total': a counter's name",
                          "'tidemark_age_ms': base units", "'tidemark_age_ms': the help", "'tidemark_unknown': its type")


SOURCE_OF_COMMAND = '''/* reads */

static const TideOption read_options[] = {
    {"limit", "N", TIDE_COUNT(ReadOptions, limit), "so many"},
    {"format", "FORMAT", TIDE_CHOICE(ReadOptions, format), "json"},
};

const TideCommand tide_command_read = {
    .name = "read",
};
'''


class CommandDocs(Project):
    def setUp(self):
        super().setUp()
        self.write("daemon/commands/read.c", SOURCE_OF_COMMAND)

    def test_the_text_agrees(self):
        self.write("docs/read.md", "# Rows\n## tidemark read\n`--limit` ends it.\n## Others\nprogram --other\n")
        self.assert_clean("command_docs")

    def test_an_option_that_is_not_there(self):
        self.write("docs/read.md", "# tidemark read\n\n`--limits` ends it.\n## More\n`--limit`, `--more`\n")
        self.assert_finds("command_docs", "read.md:3: no command has an option '--limits'",
                          "read.md:5: no command has an option '--more'", "2 findings")

    def test_commands_without_a_text(self):
        self.write("docs/commands.md", "## read\n")
        self.assert_finds("command_docs", "'read' has no text with the heading 'tidemark read'", "1 finding")


class ExitCodes(Project):
    def setUp(self):
        super().setUp()
        self.write("daemon/util/error.h", "typedef enum {\n  TIDE_EXIT_OK = 0,\n  TIDE_EXIT_CONFIG = 78, /* why */\n} TideExit;\n")
        self.write("daemon/a.c", '"the key of "\n  "table \'%s\' was changed"\n')
        self.write("README.md", "")
        self.write("systemd/tidemark.service.in", "RestartPreventExitStatus=78\n")
        self.write("docs/operate.md", "| 78 | leaves it failed: so |\n")
        self.write("docs/commands.md", "## Exit codes\n| 0 | done |\n| 78 | wrong |\n## other\n| 5 | a figure |\n")

    def test_documents_agree(self):
        self.write("docs/more.md", "| ends with 78, `the key of table ... was changed` | so |\nIt ends with 0.\n")
        self.assert_clean("exit_codes")

    def test_codes_that_are_none_or_left_out(self):
        self.write("docs/commands.md", "## Exit codes\n| 0 | done |\n| 77 | no |\n")
        self.write("docs/more.md", "\nexit code 77\n")
        self.write("docs/operate.md", "| 64, 78 | leaves it failed: so |\n")
        self.assert_finds("exit_codes", "exit code 78 is not told", "exit code 77 is none of TideExit",
                          "more.md:2: no command ends with 77", "systemd leaves the unit failed after 78", "4 findings")

    def test_commands_and_their_table_agree(self):
        self.write("daemon/util/error.h", "typedef enum {\n  TIDE_EXIT_OK = 0,\n  TIDE_EXIT_FINDINGS = 1,\n"
                                          "  TIDE_EXIT_CONFIG = 78,\n} TideExit;\n")
        self.write("docs/commands.md", "## Exit codes\n| 0 | done |\n| 1 | `get KEY`: no row |\n| 78 | wrong |\n## other\n")
        command = 'const TideCommand tide_command_{0} = {{\n    .name = "{0}",\n    .exits = {{{1}}},\n}};\n'
        self.write("daemon/commands/get.c", command.format("get", '{TIDE_EXIT_FINDINGS, "no row"}, {TIDE_EXIT_CONFIG}'))
        self.assert_clean("exit_codes")
        self.write("daemon/commands/get.c", command.format("get", "{TIDE_EXIT_CONFIG}"))
        self.write("daemon/commands/scan.c", command.format("scan", "{TIDE_EXIT_FINDINGS}"))
        self.assert_finds("exit_codes", "get.c:1: exit code 1 of 'get' is named by docs/commands.md, but not by its --help",
                          "scan.c:1: exit code 1 of 'scan' is named by its --help, but not by docs/commands.md", "2 findings")

    def test_a_symptom_that_nothing_says(self):
        self.write("docs/more.md", "| exits with 78, `cannot read the key` | so |\n")
        self.assert_finds("exit_codes", "more.md:1: no source says 'cannot read the key'", "1 finding")


class Faults(Project):
    def rows(self, **shown_by):
        last = {"A": 31, "B": 12, "C": 20, "D": 24, "E": 20}
        names = [f"{part}{number}" for part, end in last.items() for number in range(1, end + 1)]
        return "".join(f"| {name} | a fault | what happens | {shown_by.get(name, 'a reason')} |\n" for name in names)

    def test_rows_that_name_tests_are_right(self):
        self.write("tests/fault/test-a.c", '#define ADD(path, f) g_test_add_func("/a/" path, f)\n'
                   'ADD("group/D5-D8-cut-calls", cut);\ng_test_add_func("/a/D1-refused", refused);\n'
                   '{"D2-silent"}, {"D3-closed"}, "/a/more-%u/%s", "/a/group/"\n')
        cut = "`/a/group/D5-D8-cut-calls`"
        self.write("docs/faults.md", self.rows(D1="`/a/D1-refused`", D2="`/a/more-12/D2-silent`",
                                               D3="`/a/group/D3-closed`", D5=cut, D8=cut))
        self.assert_clean("faults")

    def test_a_test_that_is_gone_or_is_for_another_fault_is_found(self):
        self.write("tests/fault/test-a.c", '"/a/" "D5-cut-calls"\n')
        self.write("docs/faults.md", self.rows(D6="`/a/D5-cut-calls`", D7="`/a/D7-gone`"))
        self.assert_finds("faults", "D6: the test 'D5-cut-calls' does not carry the id",
                          "D7: no test is called '/a/D7-gone'", "2 findings")

    def test_a_path_without_its_group_or_of_another_source_is_found(self):
        self.write("tests/fault/test-a.c", '"/a/" path\nADD("group/D5-cut-calls", cut) /* "D5-cut-calls" */\n')
        self.write("tests/fault/test-b.c", '"/b/" path\n')
        self.write("docs/faults.md", self.rows(D5="`/a/D5-cut-calls` `/b/group/D5-cut-calls`"))
        self.assert_finds("faults", "'/a/D5-cut-calls'", "'/b/group/D5-cut-calls'", "2 findings")

    def test_a_row_with_neither_test_nor_reason_is_found(self):
        self.write("docs/faults.md", self.rows(D5=""))
        self.assert_finds("faults", "D5 names neither a test nor a reason", "1 findings")

    def test_each_fault_has_one_row(self):
        self.write("docs/faults.md", self.rows().replace("| E20 |", "| E19 |"))
        self.assert_finds("faults", "E19 has two rows", "E20 has no row")


class Formats(Project):
    def test_a_format_that_a_place_does_not_know(self):
        places = re.findall(r'^    "([^"]+)": "', (HERE / "check_formats.py").read_text(encoding="utf-8"), re.M)
        self.write("daemon/decode/decode_options.h", '  F("json", TIDE_FORMAT_JSON, json) \\\n  F("ltsv", TIDE_FORMAT_LTSV, ltsv)\n')
        for place in places:
            self.write(place, "case TIDE_FORMAT_JSON: ltsv\n")
        self.assert_clean("formats")
        self.write(places[1], "json, influx\n")
        self.assert_finds("formats", f"{places[1]}:1: does not name the format 'ltsv'", "1 findings")
        self.write(places[1], "ltsv, json\n")
        self.write(places[-1], "json\n")
        self.assert_finds("formats", f"{places[-1]}:1: does not name the format 'ltsv'", "1 findings")


class Walk(Project):
    def setUp(self):
        super().setUp()
        self.write("daemon/kafka/source.c", "int\ntide_poll(int n)\n{\n  return read_one(n);\n}\n/*\ngone(\n*/\n")

    def walk(self, *steps, after=""):
        self.write("docs/internals.md", "# Inside\n\n## One message, from poll to commit\n\n" + "\n".join(steps) + "\n\n" + after)

    def test_steps_that_name_a_function_of_their_file_are_right(self):
        self.walk("1. `tide_poll()` in\n   `daemon/kafka/source.c`: polls.", "2. **Again.** `tide_poll()` in `daemon/kafka/source.c`.",
                  after="## Elsewhere\n\n1. No function here.\n")
        self.assert_clean("walk")

    def test_functions_that_are_only_called_or_gone_are_found(self):
        self.walk("1. `tide_poll()` in `daemon/kafka/source.c`", "2. `read_one()` in `daemon/kafka/source.c`",
                  "3. `gone()` in `daemon/kafka/source.c`", after="`tide_poll()` in `daemon/gone.c`\n")
        self.assert_finds("walk", "internals.md:6: 'daemon/kafka/source.c' does not define read_one()", "define gone()",
                          "internals.md:9: 'daemon/gone.c' does not define tide_poll()", "internals.md:9: no file 'daemon/gone.c'",
                          "4 findings")

    def test_threads_are_those_that_there_are(self):
        self.write("daemon/kafka/watch.c", 'tide_thread_start("tide-watch", run, watch);\nname = g_strdup_printf("tide-writer-%u", i);\n')
        step = "1. `tide_poll()` in `daemon/kafka/source.c`"
        self.walk(step, after="| `tide-writer-N` | writes |\n| `tide-watch` | watches |\n")
        self.assert_clean("walk")
        self.walk(step, after="| `tide-writer-N` | writes |\n| `tide-gone` | |\n")
        self.assert_finds("walk", "watch.c:1: starts the thread 'tide-watch', which no table", "no thread is called 'tide-gone'", "2 findings")

    def test_steps_name_one_function_each_and_are_few(self):
        step = "`tide_poll()` in `daemon/kafka/source.c`"
        self.walk(f"1. {step} and {step}", "3. Nothing.", f"3. {step}, then `other()`")
        self.assert_finds("walk", "step 1 does not", "step 3 should be 2", "step 2 does not", "step 3 does not", "4 findings")
        self.walk(*(f"{number}. {step}" for number in range(1, 17)))
        self.assert_finds("walk", "has 16 steps")
        self.walk()
        self.assert_finds("walk", "has 0 steps")


class CountTests(Project):
    """The last line of ./check rests on this one."""

    def count(self, suites, programs):
        self.write("testlog.junit.xml", f"<testsuites>{suites}</testsuites>")
        self.write("testlog.json", "".join(f'{{"name": "{name}", "result": "{result}"}}\n' for name, result in programs))
        return subprocess.run([sys.executable, str(HERE.parent / "count_tests.py"), str(self.root)], capture_output=True,
                              text=True, check=True).stdout.strip()

    def test_cases_are_counted(self):
        self.assertEqual("1 1 1", self.count(
            '<testsuite name="t.t:unit / a"><testcase name="1"/><testcase name="2"><failure/></testcase>'
            '<testcase name="3"><skipped/></testcase></testsuite>', [("t:unit / a", "FAIL")]))

    def test_a_program_that_aborts_is_a_failure(self):
        self.assertEqual("1 1 0", self.count('<testsuite name="t.t:unit / a"><testcase name="1"/></testsuite>',
                                             [("t:unit / a", "ERROR")]))
        self.assertEqual("1 2 0", self.count('<testsuite name="t.t:unit / a"><testcase name="1"/></testsuite>',
                                             [("t:unit / a", "OK"), ("t:unit / b", "ERROR"), ("t:unit / c", "TIMEOUT")]))

    def test_nothing_is_a_failure(self):
        self.assertEqual("0 1 0", self.count("", []))


class Shape(Project):
    def setUp(self):
        super().setUp()
        self.write("daemon/room/pair.h", GOOD_HEADER + "typedef struct Pair {\n  int left, right;\n} Pair;\n")
        self.write("daemon/room/one.c", '#include "room/pair.h"\n' + self.function("one", 70))
        self.write("daemon/room/two.c", '#include "room/pair.h"\n')
        self.write("tests/style/budgets.txt", "daemon/room 120 0 # reason\n")

    @staticmethod
    def function(name, n_lines):
        return f"static int\n{name}(void)\n{{\n" + "  ;\n" * n_lines + "}\n"

    def test_a_room_within_its_budget_is_clean(self):
        self.assert_clean("shape")

    def test_long_functions(self):
        self.write("daemon/room/one.c", '#include "room/pair.h"\n' + self.function("one", 101))
        self.assert_finds("shape", "daemon/room/one.c:3: one() has 101 lines")

    def test_many_functions_that_are_nearly_long(self):
        self.write("tests/style/budgets.txt", "daemon/room 500 0\n")
        self.write("daemon/room/three.c", self.function("three", 72))
        self.assert_finds("shape", "1 of 2 functions have more than 70 lines")

    def test_wide_structs_but_those_that_are_listed(self):
        wide = "typedef struct Wide {\n" + "".join(f"  int field_{i};\n" for i in range(21)) + "} Wide;\n"
        self.write("daemon/room/two.c", '#include "room/pair.h"\n' + wide)
        self.write("tests/style/budgets.txt", "daemon/room 140 0\n")
        self.assert_finds("shape", "daemon/room/two.c:2: Wide has 21 fields, more than 20")
        self.write("tests/style/budgets.txt", "daemon/room 140 0\nstruct Wide 21\n")
        self.assert_clean("shape")

    def assert_functions(self, name, text, *expected):
        """As they are called in findings, each with 101 lines in place of BODY; and one finding on all of them."""
        self.write("tests/style/budgets.txt", "daemon/room 9999 0\n")
        self.write(name, text.replace("BODY", "  ;\n" * 101))
        self.assert_finds("shape", *(f"{one} has 101 lines" for one in expected), f"{len(expected) + 1} findings")

    def test_functions_however_they_are_declared(self):
        self.assert_functions("daemon/room/three.c", """G_DEFINE_AUTOPTR_CLEANUP_FUNC(Pair, pair_free)

static G_GNUC_PRINTF(1, 2) void
say(const char *format, ...)
{
BODY}

static void G_GNUC_PRINTF(1, 2) tell(const char *format,
                                     ...)
{
BODY}

int
each(void (*call)(int (*)(void), int), int n) G_GNUC_NO_INSTRUMENT
{
BODY}
""", "three.c:4: say()", "three.c:109: tell()", "three.c:216: each()")

    def test_functions_of_headers(self):
        self.assert_functions("daemon/room/pair.h", GOOD_HEADER + "static inline int\nleft(int a)\n{\nBODY}\nint right(int a);\n",
                              "pair.h:4: left()")

    def test_members_of_classes(self):
        self.assert_functions("daemon/room/three.cc", """class Fault : public Base {
 public:
  bool add(const std::string &name,
           int n) override
  {
BODY  }
};

Walk::Walk(int n) noexcept
    : n_(n), list_{n, n}
{
BODY}

std::map<int, int>
Walk::n_of(int n) const
{
BODY}

Walk::~Walk()
{
BODY}
""", "three.cc:3: add()", "three.cc:110: Walk::Walk()", "three.cc:217: Walk::n_of()", "three.cc:322: Walk::~Walk()")

    def test_a_prototype_or_a_table_is_no_function(self):
        self.write("tests/style/budgets.txt", "daemon/room 9999 0\n")
        self.write("daemon/room/three.c", "int one(int);\nstatic const int table[] = {\n" + "  1,\n" * 101 + "};\nTIDE_CASES(table)\n")
        self.assert_clean("shape")

    def test_fields_are_what_a_struct_has_on_its_own_level(self):
        few = """typedef struct Few {
  unsigned a : 3, b : 4;
  int (*call)(int (*)(int, int), int, int), table[MAX(1, 2)][3];
  struct {
    int x, y, z;
  } named;
  union {
    int u, v;
  };
#ifdef WIDE
  int w;
#endif
} Few;
"""
        def write(fields):
            self.write("daemon/room/two.c", '#include "room/pair.h"\n' + fields)
        self.write("tests/style/budgets.txt", "daemon/room 9999 0\nstruct Few 7\n")
        write(few)
        self.assert_clean("shape")
        self.write("tests/style/budgets.txt", "daemon/room 9999 0\nstruct Few 6\n")
        self.assert_finds("shape", "two.c:2: Few has 7 fields, more than 6")
        # Members of a struct without a name are the outer one's.
        write(few.replace("  } named;", "  };"))
        self.assert_finds("shape", "Few has 9 fields")

    def test_wide_structs_however_they_are_declared(self):
        wide = "".join(f"  int field_{i};\n" for i in range(21)) + "}"
        self.write("tests/style/budgets.txt", "daemon/room 9999 0\n")
        self.write("daemon/room/three.c", "typedef struct {\n" + wide + " Late;\nstatic const struct {\n" + wide + " table[] = {{0}};\n"
                   "struct __attribute__((packed)) Packed {\n" + wide + ";\nstatic struct Packed\nf(void)\n{\n" + "  ;\n" * 30 + "}\n")
        self.assert_finds("shape", "three.c:1: Late has 21 fields", "three.c:24: table has 21", "three.c:47: Packed has 21", "3 findings")

    def test_fields_of_classes(self):
        methods = "".join(f"  void method_{i}(int a, int b) const;\n" for i in range(21))
        self.write("tests/style/budgets.txt", "daemon/room 9999 0\n")
        self.write("daemon/room/three.cc", "class Wide final : public Base<int> {\n public:\n  using Base::Base;\n" + methods +
                   "  int get() const { return 1; }\n  std::map<int, int> map;\n};\n")
        self.assert_clean("shape")
        self.write("tests/style/budgets.txt", "daemon/room 9999 0\nstruct Wide 0\n")
        self.assert_finds("shape", "three.cc:1: Wide has 1 fields")

    def test_rooms_above_their_budget_or_without_one(self):
        self.write("tests/style/budgets.txt", "daemon/room 80 0\n")
        self.assert_finds("shape", "daemon/room has 81 lines, above its budget of 80")
        self.write("tests/style/budgets.txt", "daemon/other 100 0\n")
        self.assert_finds("shape", "has no row for daemon/room")

    def test_headers_with_one_user(self):
        self.write("daemon/room/two.c", "")
        self.assert_finds("shape", "1 headers with one user, above 0", "daemon/room/pair.h (daemon/room/one.c)")


class WithoutBuild(unittest.TestCase):
    """Who runs a test of the suite `style` by hand, or before the build is made, is told what it needs."""

    def test_each_says_what_it_needs(self):
        needing = []
        for path in sorted(HERE.parent.glob("*/meson.build")):
            for call in path.read_text(encoding="utf-8").split("test(")[1:]:
                script = re.search(r"files\('([^']*\.py)'\), (?:meson.project_build_root\(\)|unit\b)", call)
                if script and "'style'" in call:
                    needing.append(path.parent / script[1])
        self.assertGreater(len(needing), 4)
        for script in needing:
            for arguments in ([], [tempfile.gettempdir()]):
                done = subprocess.run([sys.executable, str(script), *arguments], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 1, script)
                self.assertRegex(done.stderr, rf"\A{script.name}: .*(needs a|has no) .*\n\Z")


@unittest.skipIf(shutil.which("shellcheck") is None, "shellcheck is not installed")
class Scripts(Project):
    def test_scripts_and_parts_of_check_are_looked_at(self):
        self.write("run", '#!/usr/bin/env bash\necho "$1"\n')
        self.write("notes.sh", "cd $1\n")  # no script
        self.write("tests/check.d/part.sh", 'say "$theirs"\n')
        self.assert_clean("scripts")
        self.write("run", "#!/bin/sh\ncd $1\n")
        self.write("tests/check.d/part.sh", "say $theirs\n")
        self.assert_finds("scripts", "run:2", "SC2164", "tests/check.d/part.sh:1", "SC2086")


class Documents(Project):
    def test_links_lead_to_files_and_headings(self):
        self.write("docs/b.md", "# B\n\n## The `key`, and more\n")
        self.write("README.md", "[b](docs/b.md#the-key-and-more) [c](https://example.com/x#y)\n```text\n[no](gone.md)\n```\n")
        self.assert_clean("documents")
        self.write("docs/a.md", "text\n[b](b.md#the-keys) [c](c.md) [d](#here)\n")
        self.assert_finds("documents", "docs/a.md:2: 'b.md' has no heading or anchor '#the-keys'", "docs/a.md:2: no file 'c.md'",
                          "docs/a.md:2: 'a.md' has no heading or anchor '#here'", "3 findings")

    def test_pages_that_the_program_names_exist(self):
        self.write("docs/b.md", "# B\n")
        self.write("daemon/a.c", '"see docs/b.md"\n')
        self.assert_clean("documents")
        self.write("daemon/a.c", '"see docs/b.md"\n/* docs/gone.md */\n')
        self.assert_finds("documents", "daemon/a.c:2: no file 'docs/gone.md'", "1 findings")

    def test_a_long_page_lists_its_sections(self):
        page = "# A\n\n- [One](#one)\n\n## One\n" + "line\n" * 130
        self.write("docs/a.md", page)
        self.assert_clean("documents")
        self.write("docs/a.md", page + "## Two\n")
        self.assert_finds("documents", "no list of sections names '#two'", "1 findings")

    def test_a_measured_figure_stands_on_one_page(self):
        self.write("docs/a.md", "It takes 4.2 us, and 30 s at most.\n")
        self.write("docs/b.md", "After 30 s it is over. `sleep 4.2 us`\n")
        self.assert_clean("documents")
        self.write("docs/b.md", "A reading costs\n4.2\nus of CPU.\n")
        self.assert_finds("documents", "docs/b.md:2: '4.2 us' stands in a.md, too", "1 findings")


@unittest.skipIf(shutil.which("codespell") is None, "codespell is not installed")
class Spelling(Project):
    def test_misspelt_words_are_found_but_those_of_the_list(self):
        self.write("README.md", "the option 'unsecure'\n")
        self.assert_clean("spelling")
        self.write("docs/a.md", "a line\nto %s\n" % ("rec" "ieve"))
        self.assert_finds("spelling", "docs/a.md:2")

    def test_what_is_escaped_is_no_part_of_the_word_behind_it(self):
        self.write("tests/unit/test-a.c", '"host:a\\%s\\%s";\n' % ("t" "eh", "nad"))
        self.assert_clean("spelling")
        self.write("tests/unit/test-a.c", '"host:a\\t%s";\n' % ("t" "eh"))
        self.assert_finds("spelling", "test-a.c:1")


class Spdx(Project):
    """The project's own lists, with one dependency more, or one less."""

    def setUp(self):
        super().setUp()
        for name in ("meson.build", "systemd/debian/control", "tests/packages.txt", "docs/tidemark.spdx"):
            self.write(name, (HERE.parents[1] / name).read_text(encoding="utf-8"))

    def change(self, name, old, new):
        text = (self.root / name).read_text(encoding="utf-8")
        self.assertIn(old, text)
        self.write(name, text.replace(old, new))

    def test_right(self):
        self.assert_clean("spdx")

    def test_new_dependency(self):
        self.change("meson.build", "zlib_dep =", "lz4_dep = dependency('liblz4')\nzlib_dep =")
        self.assert_finds("spdx", "'liblz4' has no licence")

    def test_build_depends_and_versions(self):
        self.change("systemd/debian/control", "libyaml-dev,\n", "")
        self.change("meson.build", "'>= 7.85'", "'>= 7.88'")
        self.assert_finds("spdx", "no line 'libyaml-dev", "no line 'libcurl4-openssl-dev (>= 7.88)'", "docs/tidemark.spdx differs")


class Waits(Project):
    """The project's own, with one sentence, row or test another than the others know."""

    def setUp(self):
        super().setUp()
        for name in ("daemon/service/bottleneck.c", "docs/status.md", "docs/metrics.md", "config/prometheus/alerts.yaml",
                     "tests/integration/test_waits.py"):
            self.write(name, (HERE.parents[1] / name).read_text(encoding="utf-8"))
        for name in set(re.findall(r'"(tests/\S+) ', (self.root / "tests/integration/test_waits.py").read_text(encoding="utf-8"))):
            self.write(name, (HERE.parents[1] / name).read_text(encoding="utf-8"))

    def change(self, name, old, new):
        text = (self.root / name).read_text(encoding="utf-8")
        self.assertIn(old, text)
        self.write(name, text.replace(old, new))

    def test_right(self):
        self.assert_clean("waits")

    def test_sentence_without_a_row_and_row_without_a_sentence(self):
        self.change("daemon/service/bottleneck.c", "allows no more: raise it", "allows no more: lower it")
        self.assert_finds("waits", "no row of docs/status.md is 'rate: ..., as '...' allows no more: lower it",
                          "no sentence of daemon/service/bottleneck.c is 'rate: ..., as '...' allows no more: raise it")

    def test_row_of_a_metric_and_an_alert_that_there_are_not(self):
        self.change("docs/metrics.md", "| `tidemark_dead_letters_blocked` |", "|")
        self.change("config/prometheus/alerts.yaml", "alert: TidemarkNotReady", "alert: Tidemark")
        self.assert_finds("waits", "there is no metric 'tidemark_dead_letters_blocked'", "there is no alert 'TidemarkNotReady'")

    def test_wait_that_nothing_shows(self):
        self.change("tests/integration/test_waits.py", 'self.look(daemon, "rate: ",', 'self.look(daemon, "no row: ",')
        self.change("tests/unit/service/test-service.c", "/bottleneck/cpu", "/bottleneck/other")
        self.assert_finds("waits", "nothing shows 'rate: ", "'no row: ' is not of one row", "there is no test tests/unit/service/test-service.c")


if __name__ == "__main__":
    unittest.main()
