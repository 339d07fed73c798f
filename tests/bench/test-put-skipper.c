/* Tests the null gateway's parser: however the stream is split, it counts the same rows and ends at the same bytes. */
#include "bench/put_skipper.h"
#include "fault/gateway/fake_wire.h"

typedef struct TideMode {
  gboolean framed;
  gboolean compact;
} TideMode;

static const TideMode modes[] = {{FALSE, FALSE}, {FALSE, TRUE}, {TRUE, FALSE}, {TRUE, TRUE}};

static void
write_cell(TideFakeWriter *writer, guint i)
{
  g_autofree char *value = g_strnfill(i % 7 == 0 ? 300 : i % 50, 'v');
  fake_writer_struct_begin(writer);
  fake_writer_string_field(writer, 1, "M");
  fake_writer_string_field(writer, 2, "qualifier");
  fake_writer_string_field(writer, 3, value);
  fake_writer_i64_field(writer, 4, (gint64)1426535612045 * i);
  fake_writer_struct_end(writer);
}

/* With what is in no put of ours, too: a map, a bool, a byte, nested lists. */
static void
write_put(TideFakeWriter *writer, guint n_cells)
{
  fake_writer_struct_begin(writer);
  fake_writer_string_field(writer, 1, "row");
  fake_writer_list_field(writer, 2, TIDE_FAKE_STRUCT, n_cells);
  for (guint i = 0; i < n_cells; i++)
    write_cell(writer, i);
  fake_writer_map_field(writer, 5, TIDE_FAKE_BINARY, TIDE_FAKE_BINARY, 1);
  fake_writer_binary(writer, TIDE_BYTES_LITERAL("_ttl"));
  fake_writer_binary(writer, TIDE_BYTES_LITERAL("12345678"));
  fake_writer_i32_field(writer, 6, 1);
  fake_writer_bool_field(writer, 40, TRUE);
  fake_writer_byte_field(writer, 41, 7);
  fake_writer_list_field(writer, 42, TIDE_FAKE_I32, 2);
  fake_writer_i32(writer, 5);
  fake_writer_i32(writer, -500000);
  fake_writer_map_field(writer, 43, TIDE_FAKE_I32, TIDE_FAKE_I32, 0);
  fake_writer_struct_end(writer);
}

static void
append_puts(TideBuffer *stream, TideFakeWriter *writer, gint32 sequence_id, guint n_puts)
{
  fake_writer_message_begin(writer, "putMultiple", TIDE_FAKE_CALL, sequence_id);
  fake_writer_struct_begin(writer);
  fake_writer_string_field(writer, 1, "TABLE");
  fake_writer_list_field(writer, 2, TIDE_FAKE_STRUCT, n_puts);
  for (guint i = 0; i < n_puts; i++)
    write_put(writer, i % 25);
  fake_writer_struct_end(writer);
  fake_writer_message_end(writer);
  tide_buffer_append_bytes(stream, tide_buffer_bytes(&writer->out));
}

static void
append_other(TideBuffer *stream, TideFakeWriter *writer, gint32 sequence_id)
{
  fake_writer_message_begin(writer, "tableExists", TIDE_FAKE_CALL, sequence_id);
  fake_writer_struct_begin(writer);
  fake_writer_struct_field(writer, 1);
  fake_writer_struct_begin(writer);
  fake_writer_string_field(writer, 2, "TABLE");
  fake_writer_struct_end(writer);
  fake_writer_struct_end(writer);
  fake_writer_message_end(writer);
  tide_buffer_append_bytes(stream, tide_buffer_bytes(&writer->out));
}

static TideBuffer
make_stream(const TideMode *mode)
{
  TideBuffer stream = {0};
  TideFakeWriter writer;
  fake_writer_init(&writer, mode->framed, mode->compact);
  append_puts(&stream, &writer, 1, 3);
  append_other(&stream, &writer, 2);
  append_puts(&stream, &writer, 3, 0);
  append_puts(&stream, &writer, 4, 40);
  append_other(&stream, &writer, 500);
  append_puts(&stream, &writer, 501, 14);
  fake_writer_clear(&writer);
  return stream;
}

/* Feeds the stream by @piece bytes; the events as "p1 o2 …" with their sequence ids. */
static char *
events_by_pieces(const TideMode *mode, TideBytes stream, gsize piece, guint64 *ret_rows)
{
  TidePutSkipper skipper = {.framed = mode->framed, .compact = mode->compact};
  GString *events = g_string_new(NULL);
  gsize done = 0, known = 0;
  while (known < stream.len) {
    known = MIN(known + piece, stream.len);
    TideSkipEvent event;
    do {
      gsize consumed = 0;
      TideBytes call = TIDE_BYTES_EMPTY;
      event = tide_put_skipper_step(&skipper, tide_bytes(stream.data + done, known - done), &consumed, &call);
      done += consumed;
      g_assert_cmpint(event, !=, TIDE_SKIP_BROKEN);
      if (event == TIDE_SKIP_PUTS)
        g_string_append_printf(events, "p%d ", skipper.sequence_id);
      if (event == TIDE_SKIP_OTHER) {
        g_string_append_printf(events, "o%d ", skipper.sequence_id);
        g_assert_cmpuint(call.data[call.len - 1], ==, 0);
      }
    } while (event != TIDE_SKIP_NEED_MORE);
  }
  g_assert_cmpuint(done, ==, stream.len);
  *ret_rows = skipper.n_rows;
  return g_string_free(events, FALSE);
}

static void
test_calls_and_rows_are_counted_however_the_stream_is_cut(void)
{
  for (guint m = 0; m < G_N_ELEMENTS(modes); m++) {
    g_auto(TideBuffer) stream = make_stream(&modes[m]);
    for (gsize piece = 1; piece <= stream.len; piece = piece < 40 ? piece + 1 : piece * 3) {
      guint64 n_rows = 0;
      g_autofree char *events = events_by_pieces(&modes[m], tide_buffer_bytes(&stream), piece, &n_rows);
      g_assert_cmpstr(events, ==, "p1 o2 p3 p4 o500 p501 ");
      g_assert_cmpuint(n_rows, ==, 57);
    }
  }
}

/* Bytes that are no calls must end in "broken" or in waiting, never outside of the buffer: the sanitizers look on. */
static void
test_damaged_streams_stay_inside_of_the_input(void)
{
  GRand *random = g_rand_new_with_seed(42);
  for (guint m = 0; m < G_N_ELEMENTS(modes); m++) {
    g_auto(TideBuffer) stream = make_stream(&modes[m]);
    for (guint round = 0; round < 2000; round++) {
      g_autofree guint8 *copy = g_memdup2(stream.data, stream.len);
      for (guint i = 0; i < 3; i++)
        copy[g_rand_int_range(random, 0, (gint32)stream.len)] = (guint8)g_rand_int_range(random, 0, 256);
      TidePutSkipper skipper = {.framed = modes[m].framed, .compact = modes[m].compact};
      gsize done = 0;
      TideSkipEvent event;
      do {
        gsize consumed = 0;
        TideBytes call = TIDE_BYTES_EMPTY;
        event = tide_put_skipper_step(&skipper, tide_bytes(copy + done, stream.len - done), &consumed, &call);
        done += consumed;
        g_assert_cmpuint(done, <=, stream.len);
      } while (event == TIDE_SKIP_PUTS || event == TIDE_SKIP_OTHER);
    }
  }
  g_rand_free(random);
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/put-skipper/calls-and-rows-are-counted-however-the-stream-is-cut",
                  test_calls_and_rows_are_counted_however_the_stream_is_cut);
  g_test_add_func("/put-skipper/damaged-streams-stay-inside-of-the-input",
                  test_damaged_streams_stay_inside_of_the_input);
  return g_test_run();
}
