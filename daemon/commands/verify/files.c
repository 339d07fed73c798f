#include "commands/verify/files.h"

#include "files/file_reader.h"
#include "util/clock.h"
#include "util/error.h"

#include <string.h>

/* There may be several passes, and what is at a file's place is read anew in each. */
static gboolean
check_can_be_read_again(const char *path, GError **error)
{
  gboolean is_input = strcmp(path, "-") == 0;
  if (!is_input && (!g_file_test(path, G_FILE_TEST_EXISTS) || g_file_test(path, G_FILE_TEST_IS_REGULAR) ||
                    g_file_test(path, G_FILE_TEST_IS_DIR)))
    return TRUE;
  return tide_fail(
      error, TIDE_ERROR_USAGE,
      "'%s' cannot be read twice, and '--memory' may ask for several passes: write what comes from it into a "
      "file, and compare that",
      path);
}

gboolean
tide_verify_files_check(const GPtrArray *paths, GError **error)
{
  for (guint i = 0; i < paths->len; i++)
    if (!check_can_be_read_again(g_ptr_array_index(paths, i), error))
      return FALSE;
  return TRUE;
}

GArray *
tide_verify_files_parts(const GPtrArray *paths)
{
  GArray *parts = tide_topic_parts_new();
  for (guint i = 0; i < paths->len; i++) {
    TideTopicPart part = {.topic = g_canonicalize_filename(g_ptr_array_index(paths, i), NULL),
                          .first = 1,
                          .last = TIDE_TOPIC_END,
                          .begin = 1,
                          .end = TIDE_TOPIC_END};
    g_array_append_val(parts, part);
  }
  return parts;
}

/* One reading of one file. */
typedef struct Reading {
  const TideVerifyFiles *files; /* borrowed, all */
  const TideTopicPart *part;
  const TideTopicSpan *span;
  TideTopicFunc func;
  gpointer func_data;
} Reading;

/* What @func says of the next record: the offset that is wanted next. */
static gint64
hand_over(const Reading *reading, const TideFileRecord *record)
{
  TideMessage message = {.topic = tide_bytes_of_string(reading->part->topic),
                         .offset = record->offset,
                         .timestamp_ms = tide_wall_clock_epoch_ms(),
                         .is_append_time = TRUE,
                         .value = record->text,
                         .has_value = TRUE};
  return reading->func(&message, reading->span->part, reading->func_data);
}

/* Those records of the reader that are in hand. Returns: the offset that is wanted next. */
static gint64
take_records(const Reading *reading, TideFileReader *reader, gint64 wanted)
{
  TideFileRecord record;
  while (wanted >= 0 && wanted < reading->span->end && tide_file_reader_next(reader, &record)) {
    if (record.offset >= wanted && record.offset < reading->span->end)
      wanted = hand_over(reading, &record);
    (void)tide_file_reader_pass(reader, record.offset + 1);
  }
  return wanted;
}

static gboolean
go_on(gpointer data)
{
  return *((const Reading *)data)->files->stop == 0;
}

/* @ret_wanted: TIDE_TOPIC_STOP: no more is, of any file */
static gboolean
read_file(Reading *reading, gint64 *ret_wanted, GError **error)
{
  TideFileMark start = TIDE_FILE_MARK_START;
  TideFileReaderOptions options = {.path = reading->part->topic,
                                   .decode = &reading->files->source->readings->decode,
                                   .mark = &start,
                                   .go_on = go_on,
                                   .go_on_data = reading};
  TideFileReader *reader = tide_file_reader_open(&options, error);
  if (reader == NULL)
    return FALSE;
  gint64 wanted = reading->span->begin;
  while (wanted >= 0 && wanted < reading->span->end && !tide_file_reader_is_at_end(reader) && go_on(reading)) {
    tide_file_reader_fill(reader);
    wanted = take_records(reading, reader, wanted);
  }
  const char *problem = tide_file_reader_problem(reader);
  if (!go_on(reading))
    g_set_error_literal(error, TIDE_ERROR, TIDE_ERROR_CANCELLED, "stopped");
  else if (problem != NULL)
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_DATA, "cannot compare all of the file: %s", problem);
  gboolean good = go_on(reading) && problem == NULL;
  *ret_wanted = wanted;
  tide_file_reader_free(reader);
  return good;
}

static gboolean
read_files(gpointer data, const GArray *parts, const GArray *spans, TideTopicFunc func, gpointer func_data,
           GError **error)
{
  gint64 wanted = 0;
  for (guint i = 0; i < spans->len && wanted != TIDE_TOPIC_STOP; i++) {
    const TideTopicSpan *span = &g_array_index(spans, TideTopicSpan, i);
    Reading reading = {.files = data,
                       .part = &g_array_index(parts, TideTopicPart, span->part),
                       .span = span,
                       .func = func,
                       .func_data = func_data};
    if (span->begin < span->end && !read_file(&reading, &wanted, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
refresh(gpointer data, GArray *parts, GError **error)
{
  return TRUE; /* they hold what they held */
}

TideVerifyInput
tide_verify_files_input(TideVerifyFiles *files)
{
  return (TideVerifyInput){.read = read_files, .refresh = refresh, .data = files};
}
