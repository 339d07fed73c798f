/* What HBase's words say of a row that it refuses. */
#include "write/named_row.h"

#define TOO_LARGE "gateway 'h:9090': Failed 2 actions: org.apache.hadoop.hbase.DoNotRetryIOException: "
#define CELL(key) TOO_LARGE "Cell[" key "/M:v/1/Put/vlen=9/seqid=0] with size 19 exceeds limit of 8 bytes: 1 time, "

static void
test_key_is_found_as_it_is_quoted(void)
{
  static const guint8 bytes[] = {'a', 0, 0x7f, '\\', 0xff};
  g_assert_true(tide_text_names_row(CELL("host1#5"), TIDE_BYTES_LITERAL("host1#5")));
  g_assert_true(tide_text_names_row("Timestamp for KV out of range host1/M:v/9/Put/vlen=1/seqid=0 (too.new=1)",
                                    TIDE_BYTES_LITERAL("host1")));
  g_assert_true(tide_text_names_row(CELL("a\\x00\\x7F\\x5C\\xFF"), tide_bytes(bytes, sizeof bytes)));
  g_assert_true(tide_text_names_row(CELL("first") CELL("second"), TIDE_BYTES_LITERAL("second")));
  g_assert_true(tide_text_names_row(CELL("a/b"), TIDE_BYTES_LITERAL("a/b")));
}

static void
test_other_keys_are_not(void)
{
  static const guint8 zero[] = {'a', 0};
  g_assert_false(tide_text_names_row(CELL("host1#5"), TIDE_BYTES_LITERAL("host1#55")));
  g_assert_false(tide_text_names_row(CELL("host1#55"), TIDE_BYTES_LITERAL("host1#5")));
  g_assert_false(tide_text_names_row(CELL("a\\x01"), tide_bytes(zero, sizeof zero)));
  g_assert_false(tide_text_names_row(TOO_LARGE "Cell with size 19 exceeds limit of 8 bytes", TIDE_BYTES_LITERAL("a")));
  g_assert_false(tide_text_names_row("Cell[a", TIDE_BYTES_LITERAL("a")));
  g_assert_false(tide_text_names_row("Cell[a\\x0", tide_bytes(zero, sizeof zero)));
  g_assert_false(tide_text_names_row("", TIDE_BYTES_LITERAL("a")));
}

static void
test_limit_is_what_hbase_says_last(void)
{
  g_assert_cmpuint(tide_text_cell_limit(CELL("host1#5")), ==, 8);
  g_assert_cmpuint(tide_text_cell_limit(TOO_LARGE "Cell with size 70000 exceeds limit of 65536 bytes"), ==, 65536);
  g_assert_cmpuint(tide_text_cell_limit(CELL("a exceeds limit of 5 bytes")), ==, 8);
  g_assert_cmpuint(tide_text_cell_limit("Timestamp for KV out of range host1/M:v/9/Put/vlen=1"), ==, 0);
  g_assert_cmpuint(
      tide_text_cell_limit("Timestamp for KV out of range a: Cell with size 9 exceeds limit of 5 bytes/M:v/9"), ==, 0);
  g_assert_cmpuint(tide_text_cell_limit(CELL("Timestamp for KV out of range a")), ==, 8);
  g_assert_cmpuint(tide_text_cell_limit("row exceeds limit of bytes"), ==, 0);
  g_assert_cmpuint(tide_text_cell_limit("it exceeds limit of 5 rows"), ==, 0);
  g_assert_cmpuint(tide_text_cell_limit("it exceeds limit of -5 bytes"), ==, 0);
  g_assert_cmpuint(tide_text_cell_limit("it exceeds limit of "), ==, 0);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/named-row/key-is-found-as-it-is-quoted", test_key_is_found_as_it_is_quoted);
  g_test_add_func("/named-row/other-keys-are-not", test_other_keys_are_not);
  g_test_add_func("/named-row/limit-is-what-hbase-says-last", test_limit_is_what_hbase_says_last);
  return g_test_run();
}
