/* Where the messages come from that tables are compared with: topics, or files in their place. */
#include "commands/cli/message_lines.h"
#include "commands/verify/verification.h"
#include "util/error.h"

gboolean
tide_verify_input_take_files(TideVerifyInput *input, const GPtrArray *paths, GError **error)
{
  input->parts = tide_topic_parts_new();
  for (guint i = 0; i < paths->len; i++) {
    const char *path = g_ptr_array_index(paths, i);
    gboolean is_lasting = g_file_test(path, G_FILE_TEST_IS_REGULAR) || g_file_test(path, G_FILE_TEST_IS_DIR) ||
                          !g_file_test(path, G_FILE_TEST_EXISTS);
    /* There may be several passes, and what is at a file's place is read anew in each. */
    if (strcmp(path, "-") == 0 || !is_lasting)
      return tide_fail(
          error, TIDE_ERROR_USAGE,
          "'%s' cannot be read twice, and '--memory' may ask for several passes: write what comes from it into a "
          "file, and compare that",
          path);
    TideTopicPart part = {.topic = g_canonicalize_filename(path, NULL),
                          .first = 1,
                          .last = TIDE_TOPIC_END,
                          .begin = 1,
                          .end = TIDE_TOPIC_END};
    g_array_append_val(input->parts, part);
  }
  return TRUE;
}

/* One reading of one file. */
typedef struct Reading {
  const TideVerifyInput *input; /* borrowed, all */
  const TideTopicSpan *span;
  TideTopicFunc func;
  gpointer func_data;
} Reading;

static gboolean
go_on(gpointer data)
{
  return *((const Reading *)data)->input->stop == 0;
}

static gint64
hand_over(const TideMessage *message, gpointer data)
{
  const Reading *reading = data;
  return reading->func(message, reading->span->part, reading->func_data);
}

/* @ret_wanted: TIDE_TOPIC_STOP: no more is, of any file */
static gboolean
read_file(Reading *reading, gint64 *ret_wanted, GError **error)
{
  const char *path = g_array_index(reading->input->parts, TideTopicPart, reading->span->part).topic;
  TideFileMark start = TIDE_FILE_MARK_START;
  TideFileReaderOptions options = {.path = path,
                                   .decode = &reading->input->source->readings->decode,
                                   .mark = &start,
                                   .go_on = go_on,
                                   .go_on_data = reading};
  TideFileReader *reader = tide_file_reader_open(&options, error);
  if (reader == NULL)
    return FALSE;
  TideMessageFile file = {.reader = reader, .path = path, .begin = reading->span->begin, .end = reading->span->end};
  *ret_wanted = tide_message_file_read(&file, hand_over, go_on, reading);
  const char *problem = tide_file_reader_problem(reader);
  gboolean good = go_on(reading) && problem == NULL;
  if (!go_on(reading))
    g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_CANCELLED, "stopped");
  else if (problem != NULL)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA, "cannot compare all of the file: %s", problem);
  tide_file_reader_free(reader);
  return good;
}

gboolean
tide_verify_input_read(const TideVerifyInput *input, const GArray *spans, TideTopicFunc func, gpointer data,
                       GError **error)
{
  gint64 wanted = 0;
  if (input->topics != NULL)
    return tide_topic_reader_read(input->topics, input->parts, spans, func, data, error);
  for (guint i = 0; i < spans->len && wanted != TIDE_TOPIC_STOP; i++) {
    const TideTopicSpan *span = &g_array_index(spans, TideTopicSpan, i);
    Reading reading = {.input = input, .span = span, .func = func, .func_data = data};
    if (span->begin < span->end && !read_file(&reading, &wanted, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
tide_verify_input_refresh(const TideVerifyInput *input, GError **error)
{
  /* Files hold what they held. */
  return input->topics == NULL || tide_topic_reader_refresh(input->topics, input->parts, error);
}
