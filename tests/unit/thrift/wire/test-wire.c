/* The bounded reader: what it reads, and everything that it refuses. */
#include "thrift/wire/wire_reader.h"
#include "unit/test_case.h"
#include "util/error.h"

static TideWireReader
reader_over(TideWireProtocol protocol, const char *bytes, gsize len)
{
  TideWireReader reader;
  tide_wire_reader_init(&reader, protocol, tide_bytes(bytes, len));
  return reader;
}

TEST("/wire/names-are-those-of-the-configuration")
{
  g_assert_cmpstr(tide_wire_protocol_name(TIDE_WIRE_BINARY), ==, "binary");
  g_assert_cmpstr(tide_wire_protocol_name(TIDE_WIRE_COMPACT), ==, "compact");
  g_assert_cmpstr(tide_framing_name(TIDE_FRAMING_FRAMED), ==, "framed");
  g_assert_cmpstr(tide_framing_name(TIDE_FRAMING_UNFRAMED), ==, "unframed");
}

TEST("/wire/numbers-are-read-in-both-protocols")
{
  TideWireReader binary = reader_over(TIDE_WIRE_BINARY, "\xff\xff\xff\xfe\x80\0\0\0\0\0\0\0\x7f\x80\0\x01", 16);
  g_assert_cmpint(tide_wire_read_i32(&binary), ==, -2);
  g_assert_cmpint(tide_wire_read_i64(&binary), ==, G_MININT64);
  g_assert_cmpint(tide_wire_read_byte(&binary), ==, 127);
  g_assert_cmpint(tide_wire_read_i16(&binary), ==, -32768);
  g_assert_true(tide_wire_read_bool(&binary));
  g_assert_cmpint(binary.status, ==, TIDE_WIRE_OK);
  g_assert_cmpuint(binary.offset, ==, 16);

  TideWireReader compact = reader_over(TIDE_WIRE_COMPACT,
                                       "\x03"                                     /* -2 */
                                       "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" /* the smallest i64 */
                                       "\x7f"
                                       "\xff\xff\x03" /* the smallest i16 */
                                       "\x01",
                                       16);
  g_assert_cmpint(tide_wire_read_i32(&compact), ==, -2);
  g_assert_cmpint(tide_wire_read_i64(&compact), ==, G_MININT64);
  g_assert_cmpint(tide_wire_read_byte(&compact), ==, 127);
  g_assert_cmpint(tide_wire_read_i16(&compact), ==, -32768);
  g_assert_true(tide_wire_read_bool(&compact));
  g_assert_cmpint(compact.status, ==, TIDE_WIRE_OK);
  g_assert_cmpuint(compact.offset, ==, 16);
}

TEST("/wire/fields-are-read-in-both-protocols")
{
  struct {
    TideWireProtocol protocol;
    const char *bytes;
    gsize len;
  } cases[] = {
      {TIDE_WIRE_BINARY, "\x02\0\x01\x01\x08\0\x05\0\0\0\x07\x02\0\x1e\0\0", 16},
      {TIDE_WIRE_COMPACT, "\x11\x45\x0e\x02\x3c\0", 6}, /* the third field's id in its long form */
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideWireReader reader = reader_over(cases[i].protocol, cases[i].bytes, cases[i].len);
    TideWireField field = {0};
    g_assert_true(tide_wire_read_field(&reader, &field));
    g_assert_cmpint(field.id, ==, 1);
    g_assert_cmpint(field.type, ==, TIDE_WIRE_BOOL);
    g_assert_true(tide_wire_read_bool(&reader));
    g_assert_true(tide_wire_read_field(&reader, &field));
    g_assert_cmpint(field.id, ==, 5);
    g_assert_cmpint(tide_wire_read_i32(&reader), ==, 7);
    g_assert_true(tide_wire_read_field(&reader, &field));
    g_assert_cmpint(field.id, ==, 30);
    g_assert_false(tide_wire_read_bool(&reader));
    g_assert_false(tide_wire_read_field(&reader, &field));
    g_assert_cmpint(reader.status, ==, TIDE_WIRE_OK);
    g_assert_cmpuint(reader.offset, ==, cases[i].len);
  }
}

TEST("/wire/lists-and-maps-are-read")
{
  TideWireContainer container;
  TideWireReader reader = reader_over(TIDE_WIRE_BINARY, "\x08\0\0\0\x01\0\0\0\x09", 9);
  g_assert_true(tide_wire_read_list(&reader, &container));
  g_assert_cmpint(container.element_type, ==, TIDE_WIRE_I32);
  g_assert_cmpuint(container.count, ==, 1);

  reader = reader_over(TIDE_WIRE_COMPACT, "\xf5\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 18);
  g_assert_true(tide_wire_read_list(&reader, &container));
  g_assert_cmpint(container.element_type, ==, TIDE_WIRE_I32);
  g_assert_cmpuint(container.count, ==, 16);

  reader = reader_over(TIDE_WIRE_COMPACT, "\0", 1);
  g_assert_true(tide_wire_read_map(&reader, &container));
  g_assert_cmpuint(container.count, ==, 0);

  reader = reader_over(TIDE_WIRE_COMPACT, "\x01\x88\x01k\x01v", 6);
  g_assert_true(tide_wire_read_map(&reader, &container));
  g_assert_cmpint(container.key_type, ==, TIDE_WIRE_STRING);
  g_assert_cmpint(container.element_type, ==, TIDE_WIRE_STRING);
  g_assert_true(tide_bytes_equal(tide_wire_read_string(&reader), TIDE_BYTES_LITERAL("k")));
  g_assert_true(tide_bytes_equal(tide_wire_read_string(&reader), TIDE_BYTES_LITERAL("v")));
}

/* A struct of the outermost level, skipped as a whole. */
static void
check_refused(TideWireProtocol protocol, const char *bytes, gsize len, const char *problem)
{
  TideWireReader reader = reader_over(protocol, bytes, len);
  tide_wire_skip(&reader, TIDE_WIRE_STRUCT);
  g_assert_cmpint(reader.status, !=, TIDE_WIRE_OK);
  g_autoptr(GError) error = NULL;
  g_assert_false(tide_wire_reader_check(&reader, "a test", &error));
  g_assert_error(error, TIDE_ERROR, TIDE_ERROR_PROTOCOL);
  if (strstr(error->message, problem) == NULL)
    g_error("expected '%s' in '%s'", problem, error->message);
}

#define REFUSED(protocol, bytes, problem) check_refused(protocol, bytes, sizeof(bytes) - 1, problem)

TEST("/wire/negative-length-is-refused")
{
  REFUSED(TIDE_WIRE_BINARY, "\x0b\0\x01\xff\xff\xff\xff", "a negative length at byte 7 of 7");
  REFUSED(TIDE_WIRE_COMPACT, "\x18\xff\xff\xff\xff\x0f", "a negative length");
  REFUSED(TIDE_WIRE_BINARY, "\x0f\0\x01\x08\xff\xff\xff\xff", "a negative count");
  REFUSED(TIDE_WIRE_COMPACT, "\x19\xf5\xff\xff\xff\xff\x0f", "a negative count");
  REFUSED(TIDE_WIRE_BINARY, "\x0d\0\x01\x0b\x0b\x80\0\0\0", "a negative count");
}

TEST("/wire/length-past-the-end-is-refused")
{
  REFUSED(TIDE_WIRE_BINARY,
          "\x0b\0\x01\x7f\xff\xff\xff"
          "abc",
          "a length exceeds the end");
  REFUSED(TIDE_WIRE_COMPACT,
          "\x18\xff\xff\xff\xff\x07"
          "abc",
          "a length exceeds the end");
  REFUSED(TIDE_WIRE_BINARY,
          "\x0b\0\x01\0\0\0\x04"
          "abc",
          "a length exceeds the end");
  REFUSED(TIDE_WIRE_BINARY, "\x0f\0\x01\x08\0\0\0\x03\0\0\0\0\0\0\0\0", "a count exceeds the end");
  REFUSED(TIDE_WIRE_BINARY, "\x0f\0\x01\x0c\x7f\xff\xff\xff\0\0", "a count exceeds the end");
  REFUSED(TIDE_WIRE_COMPACT, "\x19\xfc\xff\xff\xff\xff\x07\0\0", "a count exceeds the end");
  REFUSED(TIDE_WIRE_BINARY, "\x0d\0\x01\x0b\x0b\0\0\0\x02\0\0\0\0\0\0\0\0", "a count exceeds the end");
}

TEST("/wire/deep-nesting-is-refused")
{
  /* lists in lists, and structs in structs, one level more than allowed */
  for (guint depth = TIDE_WIRE_DEPTH_MAX - 1; depth <= TIDE_WIRE_DEPTH_MAX; depth++) {
    g_autoptr(GByteArray) lists = g_byte_array_new();
    g_byte_array_append(lists, (const guint8 *)"\x0f\0\x01", 3);
    for (guint i = 1; i < depth; i++)
      g_byte_array_append(lists, (const guint8 *)"\x0f\0\0\0\x01", 5);
    g_byte_array_append(lists, (const guint8 *)"\x03\0\0\0\0\0", 6); /* no bytes, and the stop */
    TideWireReader reader;
    tide_wire_reader_init(&reader, TIDE_WIRE_BINARY, tide_bytes(lists->data, lists->len));
    tide_wire_skip(&reader, TIDE_WIRE_STRUCT);
    g_assert_cmpint(reader.status, ==, depth < TIDE_WIRE_DEPTH_MAX ? TIDE_WIRE_OK : TIDE_WIRE_BAD);

    g_autoptr(GByteArray) structs = g_byte_array_new();
    for (guint i = 0; i < depth; i++)
      g_byte_array_append(structs, (const guint8 *)"\x1c", 1);
    for (guint i = 0; i <= depth; i++)
      g_byte_array_append(structs, (const guint8 *)"\0", 1);
    tide_wire_reader_init(&reader, TIDE_WIRE_COMPACT, tide_bytes(structs->data, structs->len));
    tide_wire_skip(&reader, TIDE_WIRE_STRUCT);
    g_assert_cmpint(reader.status, ==, depth < TIDE_WIRE_DEPTH_MAX ? TIDE_WIRE_OK : TIDE_WIRE_BAD);
  }
  /* two million lists: the stack is not touched */
  gsize n = 2000000;
  g_autofree guint8 *bytes = g_malloc0(3 + 5 * n);
  memcpy(bytes, "\x0f\0\x01", 3);
  for (gsize i = 0; i < n; i++)
    memcpy(bytes + 3 + 5 * i, "\x0f\0\0\0\x01", 5);
  check_refused(TIDE_WIRE_BINARY, (const char *)bytes, 3 + 5 * n, "nesting too deep");
}

TEST("/wire/field-that-comes-twice-is-refused")
{
  REFUSED(TIDE_WIRE_BINARY,
          "\x0b\0\x01\0\0\0\x01"
          "a"
          "\x0b\0\x01\0\0\0\x01"
          "b"
          "\0",
          "a repeated field");
  REFUSED(TIDE_WIRE_COMPACT,
          "\x18\x01"
          "a"
          "\x08\x02\x01"
          "b"
          "\0",
          "a repeated field");
}

TEST("/wire/unknown-types-and-overlong-numbers-are-refused")
{
  REFUSED(TIDE_WIRE_BINARY, "\x01\0\x01\0\0", "an unknown type");
  REFUSED(TIDE_WIRE_BINARY, "\x10\0\x01\0\0", "an unknown type");
  REFUSED(TIDE_WIRE_COMPACT, "\x1d\0\0", "an unknown type");
  REFUSED(TIDE_WIRE_BINARY, "\x0f\0\x01\0\0\0\0\x01\0", "an element without a type");
  REFUSED(TIDE_WIRE_COMPACT, "\x16\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\0", "too large for its type");
  REFUSED(TIDE_WIRE_COMPACT, "\x15\xff\xff\xff\xff\x1f\0", "too large for its type");
  REFUSED(TIDE_WIRE_COMPACT, "\x15\xff\xff\xff\xff\xff\x01\0", "a number");
  REFUSED(TIDE_WIRE_COMPACT, "\x03\xfe\xff\x07\x01\x13\x01\0", "a field id out of range");
}

TEST("/wire/every-truncation-is-refused")
{
  static const char binary[] = "\x0b\0\x01\0\0\0\x01"
                               "a"
                               "\x0a\0\x02\0\0\0\0\0\0\0\x01\x0d\0\x03\x0b\x08\0\0\0\x01\0\0\0\x01"
                               "k\0\0\0\x05\0";
  static const char compact[] = "\x18\x01"
                                "a"
                                "\x16\x02\x1b\x01\x85\x01"
                                "k\x0a\x00";
  gsize lens[] = {sizeof binary - 1, sizeof compact - 1};
  const char *all[] = {binary, compact};
  for (guint protocol = 0; protocol < 2; protocol++) {
    for (gsize len = 0; len <= lens[protocol]; len++) {
      TideWireReader reader = reader_over((TideWireProtocol)protocol, all[protocol], len);
      tide_wire_skip(&reader, TIDE_WIRE_STRUCT);
      g_assert_cmpint(reader.status == TIDE_WIRE_OK, ==, len == lens[protocol]);
    }
  }
}

TEST("/wire/first-failure-sticks")
{
  TideWireReader reader = reader_over(TIDE_WIRE_BINARY, "\0\0\0\x01", 4);
  tide_wire_reader_fail(&reader, "first");
  tide_wire_reader_fail(&reader, "second");
  g_assert_cmpint(tide_wire_read_i32(&reader), ==, 0);
  g_assert_cmpuint(tide_wire_read_string(&reader).len, ==, 0);
  TideWireField field = {0};
  g_assert_false(tide_wire_read_field(&reader, &field));
  g_assert_cmpstr(reader.problem, ==, "first");
}

/* ---- the scanner ---- */

/* A reply to "get" with strings, numbers, a list and a map in it. */
static const char message_binary[] = "\x80\x01\0\x02\0\0\0\x03get\0\0\0\x07"
                                     "\x0c\0\0\x0b\0\x01\0\0\0\x05hello\x0f\0\x02\x08\0\0\0\x02\0\0\0\x01\0\0\0\x02\0"
                                     "\x0d\0\x05\x0b\x02\0\0\0\x01\0\0\0\x01k\x01\x04\0\x06\0\0\0\0\0\0\0\0\0";
static const char message_compact[] = "\x82\x41\x07\x03get"
                                      "\x0c\0\x18\x05hello\x19\x25\x02\x04\0"
                                      "\x5b\x01\x81\x01k\x01\x17\0\0\0\0\0\0\0\0\x11\0";

TEST("/scanner/end-is-found-whatever-the-pieces")
{
  const char *messages[] = {message_binary, message_compact};
  gsize lens[] = {sizeof message_binary - 1, sizeof message_compact - 1};
  for (guint protocol = 0; protocol < 2; protocol++) {
    for (gsize step = 1; step <= lens[protocol]; step++) {
      TideMessageScanner scanner;
      tide_message_scanner_init(&scanner, (TideWireProtocol)protocol, 1 << 20);
      g_autoptr(GByteArray) arrived = g_byte_array_new();
      TideWireStatus status = TIDE_WIRE_SHORT;
      while (status == TIDE_WIRE_SHORT) {
        gsize more = MIN(step, lens[protocol] - arrived->len);
        g_assert_cmpuint(more, >, 0); /* it must not want more than there is */
        g_byte_array_append(arrived, (const guint8 *)messages[protocol] + arrived->len, (guint)more);
        status = tide_message_scanner_feed(&scanner, tide_bytes(arrived->data, arrived->len));
      }
      g_assert_cmpint(status, ==, TIDE_WIRE_OK);
      g_assert_cmpuint(scanner.offset, ==, lens[protocol]);
    }
  }
}

TEST("/scanner/next-message-is-left-alone")
{
  g_autofree char *two = g_malloc(2 * sizeof message_binary);
  memcpy(two, message_binary, sizeof message_binary - 1);
  memcpy(two + sizeof message_binary - 1, message_binary, sizeof message_binary - 1);
  TideMessageScanner scanner;
  tide_message_scanner_init(&scanner, TIDE_WIRE_BINARY, 1 << 20);
  g_assert_cmpint(tide_message_scanner_feed(&scanner, tide_bytes(two, 2 * (sizeof message_binary - 1))), ==,
                  TIDE_WIRE_OK);
  g_assert_cmpuint(scanner.offset, ==, sizeof message_binary - 1);
}

TEST("/scanner/other-services-are-refused")
{
  struct {
    TideWireProtocol protocol;
    const char *bytes;
  } cases[] = {
      {TIDE_WIRE_BINARY, "HTTP/1.1 400 Bad Request\r\n"}, {TIDE_WIRE_COMPACT, "HTTP/1.1 400 Bad Request\r\n"},
      {TIDE_WIRE_BINARY, "SSH-2.0-OpenSSH_9.2\r\n"},      {TIDE_WIRE_COMPACT, "\x80\x01"},
      {TIDE_WIRE_BINARY, "\x82\x41\x01\x03get"},          {TIDE_WIRE_COMPACT, "\x82\x42\x01\x03get"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    TideMessageScanner scanner;
    tide_message_scanner_init(&scanner, cases[i].protocol, 1 << 20);
    g_assert_cmpint(tide_message_scanner_feed(&scanner, tide_bytes_of_string(cases[i].bytes)), ==, TIDE_WIRE_BAD);
    g_assert_nonnull(scanner.problem);
  }
}

TEST("/scanner/message-has-a-limit")
{
  TideMessageScanner scanner;
  tide_message_scanner_init(&scanner, TIDE_WIRE_BINARY, 1000);
  /* a string of 1000 bytes announced: it cannot fit in */
  static const char begun[] = "\x80\x01\0\x02\0\0\0\x03get\0\0\0\x07\x0b\0\0\0\0\x03\xe8";
  g_assert_cmpint(tide_message_scanner_feed(&scanner, tide_bytes(begun, sizeof begun - 1)), ==, TIDE_WIRE_BAD);
}

/* A reply of 8 MiB of small elements in pieces of 64 KiB: looked at once, not once a piece. */
TEST("/scanner/large-reply-is-looked-at-once")
{
  gsize n = 2 << 20;
  g_autoptr(GByteArray) message = g_byte_array_new();
  g_byte_array_append(message, (const guint8 *)"\x80\x01\0\x02\0\0\0\x03get\0\0\0\x07\x0f\0\0\x08\0\x20\0\0", 23);
  g_byte_array_set_size(message, (guint)(message->len + 4 * n));
  g_byte_array_append(message, (const guint8 *)"\0", 1);
  TideMessageScanner scanner;
  tide_message_scanner_init(&scanner, TIDE_WIRE_BINARY, 64 << 20);
  gsize looked_at = 0;
  for (gsize have = 65536; have < message->len; have += 65536) {
    gsize before = scanner.offset;
    g_assert_cmpint(tide_message_scanner_feed(&scanner, tide_bytes(message->data, have)), ==, TIDE_WIRE_SHORT);
    g_assert_cmpuint(have - scanner.offset, <, 4); /* its place is at the end of what came */
    looked_at += scanner.offset - before;
  }
  g_assert_cmpint(tide_message_scanner_feed(&scanner, tide_bytes(message->data, message->len)), ==, TIDE_WIRE_OK);
  g_assert_cmpuint(looked_at, <=, message->len);
}
