/* Lines of a dead-letter file that somebody edited, cut or mixed up. What is taken for a dead letter must be written
 * and read again as the same, byte for byte. */
#include "dead_letters/dead_letter_json.h"

#include <stdint.h>

#define REQUIRE(condition)                                                                                             \
  do {                                                                                                                 \
    if (!(condition))                                                                                                  \
      g_error("%s", #condition);                                                                                       \
  } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static gboolean
parse(TideDeadLetterParser *parser, TideBytes line, TideDeadLetter *dead_letter)
{
  TideBytes kept_at;
  g_autoptr(GError) error = NULL;
  gboolean is_dead_letter = tide_dead_letter_parser_parse(parser, line, dead_letter, &kept_at, &error);
  REQUIRE(is_dead_letter == (error == NULL));
  return is_dead_letter;
}

static gboolean
optional_equal(gboolean has_a, TideBytes a, gboolean has_b, TideBytes b)
{
  return has_a == has_b && tide_bytes_equal(a, b);
}

static void
require_same(const TideDeadLetter *a, const TideDeadLetter *b)
{
  REQUIRE(tide_bytes_equal(a->topic, b->topic) && a->partition == b->partition && a->offset == b->offset);
  REQUIRE(a->timestamp_ms == b->timestamp_ms);
  REQUIRE(optional_equal(a->has_key, a->key, b->has_key, b->key));
  REQUIRE(optional_equal(a->has_value, a->value, b->has_value, b->value));
  REQUIRE(a->n_headers == b->n_headers);
  for (guint32 i = 0; i < a->n_headers; i++) {
    REQUIRE(tide_bytes_equal(a->headers[i].name, b->headers[i].name));
    REQUIRE(optional_equal(a->headers[i].has_value, a->headers[i].value, b->headers[i].has_value, b->headers[i].value));
  }
  REQUIRE(a->original_is_gone == b->original_is_gone);
  REQUIRE(tide_bytes_equal(a->reason, b->reason) && tide_bytes_equal(a->text, b->text));
  REQUIRE(tide_bytes_equal(a->source, b->source));
  REQUIRE(tide_bytes_equal(a->table, b->table) && tide_bytes_equal(a->row_key, b->row_key));
  REQUIRE(a->reading_index == b->reading_index && a->attempts == b->attempts);
  REQUIRE(tide_bytes_equal(a->version, b->version));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  g_autoptr(TideDeadLetterParser) parser = tide_dead_letter_parser_new(), again = tide_dead_letter_parser_new();
  TideDeadLetter dead_letter, same;
  if (!parse(parser, tide_bytes(data, size), &dead_letter))
    return 0;
  g_auto(TideBuffer) line = {0};
  tide_dead_letter_json_append(&line, &dead_letter, 0);
  REQUIRE(parse(again, tide_buffer_bytes(&line), &same));
  require_same(&dead_letter, &same);
  return 0;
}
