/* Random files cut into records. However the text comes, in pieces of any size, the same records are found, none
 * overlaps another, and between two of them there is nothing but what belongs to them. */
#include "files/file_framing.h"

#include <stdint.h>
#include <string.h>

#define REQUIRE(condition)                                                                                             \
  do {                                                                                                                 \
    if (!(condition))                                                                                                  \
      g_error("%s", #condition);                                                                                       \
  } while (0)

/* Enough to tell records apart: a sum over where each begins and what is in it. */
typedef struct Found {
  guint64 n_records;
  guint64 n_lines;
  guint64 sum;
  TideFrameResult end;
} Found;

static void
note(Found *found, gsize at, TideBytes record)
{
  found->n_records++;
  found->sum = found->sum * 31 + at;
  for (gsize i = 0; i < record.len; i++)
    found->sum = found->sum * 31 + record.data[i];
}

/* The records of @text, of which @step bytes more are known whenever more are asked for. */
static Found
find_records(const TideFileFraming *framing, TideBytes text, gsize step)
{
  Found found = {0};
  gsize at = 0, known = MIN(step, text.len);
  for (;;) {
    TideFrame frame;
    g_autoptr(GError) error = NULL;
    gboolean is_last = known == text.len;
    /* A copy as long as what is known, so that reading behind it is seen. */
    g_autofree guint8 *copy = g_memdup2(text.data + at, known - at);
    found.end = tide_file_framing_next(framing, tide_bytes(copy, known - at), is_last, &frame, &error);
    REQUIRE((found.end == TIDE_FRAME_BROKEN) == (error != NULL));
    if (found.end == TIDE_FRAME_MORE && !is_last) {
      known = MIN(known + step, text.len);
      continue;
    }
    if (found.end != TIDE_FRAME_FOUND)
      return found;
    REQUIRE(frame.end > 0 && frame.end <= known - at && frame.start + frame.len <= frame.end);
    REQUIRE(frame.len <= (gsize)framing->max_bytes + 1 && frame.n_lines > 0);
    if (frame.is_cut) { /* what follows is thrown away: where it ends depends on what is known */
      const guint8 *end = memchr(text.data + at + frame.end - 1, '\n', text.len - at - frame.end + 1);
      frame.end = end != NULL ? (gsize)(end - text.data) + 1 - at : text.len - at;
      known = MAX(known, at + frame.end);
    }
    if (!frame.is_blank)
      note(&found, at, tide_bytes(text.data + at + frame.start, frame.len));
    found.n_lines += frame.n_lines;
    at += frame.end;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const TideReadingFormat formats[] = {TIDE_FORMAT_JSON, TIDE_FORMAT_CSV, TIDE_FORMAT_MSGPACK,
                                              TIDE_FORMAT_PROTOBUF, TIDE_FORMAT_INFLUX};
  if (size < 2)
    return 0;
  TideFileFraming framing = {.format = formats[data[0] % G_N_ELEMENTS(formats)],
                             .delimiter = (data[0] & 16) != 0 ? ';' : ',',
                             .quotes = (data[0] & 32) != 0,
                             .max_bytes = (data[0] & 64) != 0 ? 24 : 1 << 20};
  TideBytes text = tide_bytes(data + 2, size - 2);
  Found whole = find_records(&framing, text, MAX(text.len, 1));
  Found in_pieces = find_records(&framing, text, 1 + data[1] % 16);
  /* What is too long for a record is cut where that is known, and a quote that does not end within it is none then. */
  gboolean has_quotes = framing.format == TIDE_FORMAT_INFLUX || (framing.format == TIDE_FORMAT_CSV && framing.quotes);
  if (size - 2 > framing.max_bytes && has_quotes)
    return 0;
  REQUIRE(whole.n_records == in_pieces.n_records);
  REQUIRE(whole.sum == in_pieces.sum);
  REQUIRE(whole.end == in_pieces.end);
  REQUIRE(!tide_file_framing_is_of_lines(&framing) || whole.end == TIDE_FRAME_MORE);
  return 0;
}
