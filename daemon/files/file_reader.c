#include "files/file_reader.h"

#include "files/avro_text.h"
#include "util/error.h"
#include "util/lock.h"

#include <stdatomic.h>
#include <string.h>
#include <zlib.h>

/* Bytes read at once. */
#define CHUNK_BYTES (128u << 10)

/* Passed bytes are removed when there are at least this many, and at least as many as remain. */
#define SLACK_BYTES (1u << 20)
#define SLACK_RECORDS 16384u

/* Before the mark, go_on() is called after this many bytes. */
#define ASK_BYTES (16u << 20)

/* A record. If the last line has no line break yet, the mark after it stays before it: the line is read again when it
 * has grown. */
typedef struct Entry {
  guint64 start; /* position of its first byte, counting all bytes that the window ever held */
  guint32 len;
  guint32 crc32;          /* for the mark */
  guint64 position_bytes; /* for the mark */
  gint64 mark_offset;
  gint64 offset;
  gint64 next_offset;
} Entry;

struct TideFileReader {
  /* read-only */
  char *path; /* owned */
  TideFileFraming framing;
  TideFileState opened; /* state of the file at that time */
  guint64 passed_bytes; /* bytes of the file before the mark, before decompression */
  /* one thread */
  TideFileText *text; /* owned; NULL: the file has ended */
  TideAvroText *avro; /* owned: reader of the text of an Avro container; NULL: it is not one */
  struct {
    guint32 n_lines;       /* remaining header lines, see begin_line() */
    guint32 names_at;      /* value of n_lines at the line of names, which may have quotes; 0: there is none */
    gboolean has_quotes;   /* of csv */
    gboolean groups_lines; /* after the header */
  } head;
  struct {
    gboolean is_under_way; /* the rest of a line that is too long is being dropped ... */
    Entry entry;           /* ... and this is kept of it */
  } cut;
  gsize next; /* index in entries of the next one to deliver */
  struct {
    gint64 end_offset;
    guint64 position_bytes; /* of the text */
    guint32 crc32;          /* of all text before */
  } framed;                 /* position up to which the text was framed */
  char *problem;            /* owned */
  TideFileMark mark;        /* after the passed records */
  _Atomic guint64 raw_bytes;
  TideBuffer made; /* a record after its header */
  /* other threads need the lock to read these, and the consumer's thread to change them */
  TideMutex lock;
  TideBuffer header; /* with its line break; empty: there is none */
  struct {
    TideBuffer bytes;
    guint64 base;       /* number of bytes dropped before its first one */
    gsize framed_bytes; /* framed bytes of it */
  } window;
  GArray *entries; /* owned (element-type Entry) */
  gsize first;     /* index in entries of the first one not passed */
};

static Entry *
entry_at(const TideFileReader *reader, gsize index)
{
  return &g_array_index(reader->entries, Entry, index);
}

/* ---- lifetime ---- */

void
tide_file_reader_free(TideFileReader *reader)
{
  if (reader == NULL)
    return;
  tide_avro_text_free(reader->avro);
  tide_file_text_free(reader->text);
  tide_buffer_clear_memory(&reader->header);
  tide_buffer_clear_memory(&reader->window.bytes);
  tide_buffer_clear_memory(&reader->made);
  g_array_unref(reader->entries);
  tide_mutex_clear(&reader->lock);
  g_free(reader->problem);
  g_free(reader->path);
  g_free(reader);
}

static gboolean
read_text(TideFileReader *reader, guint8 *to, gsize capacity, gsize *ret_n_bytes, GError **error)
{
  return reader->avro != NULL ? tide_avro_text_read(reader->avro, to, capacity, ret_n_bytes, error)
                              : tide_file_text_read(reader->text, to, capacity, ret_n_bytes, error);
}

static gboolean
is_changed(const TideFileReader *reader, GError **error)
{
  return tide_fail(error, TIDE_ERROR_DATA,
                   "'%s' has changed since it was partly loaded: its beginning differs from what was read then, so "
                   "nothing more of it is loaded; use '--again' to load it from its beginning",
                   reader->path);
}

/* Reads up to the mark, and compares. */
static gboolean
read_up_to(TideFileReader *reader, const TideFileReaderOptions *options, GError **error)
{
  const TideFileMark *mark = options->mark;
  g_autofree guint8 *bytes = g_malloc(CHUNK_BYTES);
  guint64 asked = 0;
  guint32 crc = 0;
  for (guint64 at = 0; at < mark->position_bytes;) {
    gsize n;
    if (!read_text(reader, bytes, (gsize)MIN(CHUNK_BYTES, mark->position_bytes - at), &n, error))
      return FALSE;
    if (n == 0)
      return is_changed(reader, error);
    crc = (guint32)crc32(crc, bytes, (uInt)n);
    at += n;
    if (at - asked < ASK_BYTES)
      continue;
    asked = at;
    if (!options->go_on(options->go_on_data))
      return tide_fail(error, TIDE_ERROR_UNAVAILABLE, "'%s' was not read up to its mark", reader->path);
  }
  return crc == mark->crc32 || is_changed(reader, error);
}

static gboolean
go_to_mark(TideFileReader *reader, const TideFileReaderOptions *options, GError **error)
{
  const TideFileMark *mark = options->mark;
  reader->mark = (TideFileMark){.offset = mark->offset, .position_bytes = mark->position_bytes, .crc32 = mark->crc32};
  reader->framed.end_offset = mark->offset;
  reader->framed.position_bytes = mark->position_bytes;
  reader->framed.crc32 = mark->crc32;
  if (mark->position_bytes == 0)
    return TRUE;
  gboolean is_same = tide_file_mark_is_of(mark, &reader->opened);
  return (is_same && reader->avro == NULL && tide_file_text_seek(reader->text, mark->position_bytes)) ||
         read_up_to(reader, options, error);
}

/* Reads the header of a partly loaded file. */
static gboolean
read_header(TideFileReader *reader, const TideFileReaderOptions *options, GError **error)
{
  TideFileMark start = TIDE_FILE_MARK_START;
  TideFileReaderOptions from_start = *options;
  from_start.text = NULL;
  from_start.mark = &start;
  TideFileReader *other = tide_file_reader_open(&from_start, error);
  if (other == NULL)
    return FALSE;
  while (other->head.n_lines > 0 && !tide_file_reader_is_at_end(other))
    tide_file_reader_fill(other);
  tide_buffer_append_bytes(&reader->header, tide_buffer_bytes(&other->header));
  tide_file_reader_free(other);
  return TRUE;
}

/* Lines before the first record are prepended to each record, including those that csv_lines.c skips: a dead letter of
 * the record can then be read like any other message. Skipped lines end at any line break, as there. */
static void
begin_line(TideFileReader *reader)
{
  guint32 n = reader->head.n_lines;
  reader->framing.quotes = reader->head.has_quotes && (n == 0 || n == reader->head.names_at);
  reader->framing.is_grouped = reader->head.groups_lines && n == 0;
}

TideFileReader *
tide_file_reader_open(const TideFileReaderOptions *options, GError **error)
{
  TideFileText *text = options->text != NULL ? options->text : tide_file_text_open(options->path, error);
  if (text == NULL)
    return NULL;
  TideFileReader *reader = g_new0(TideFileReader, 1);
  reader->path = g_strdup(options->path);
  reader->framing = tide_file_framing_of(options->decode);
  reader->text = text;
  reader->opened = tide_file_text_state(text);
  reader->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
  tide_mutex_init(&reader->lock);
  gboolean is_begun = options->mark->position_bytes > 0;
  gboolean is_avro = options->decode->format == TIDE_FORMAT_AVRO;
  gboolean is_csv = options->decode->format == TIDE_FORMAT_CSV;
  const TideCsvOptions *csv = &options->decode->csv;
  gboolean has_names = is_avro || (is_csv && csv->columns == NULL);
  reader->head.names_at = has_names ? 1 + (is_csv ? csv->skip_after_header : 0) : 0;
  guint32 n_head_lines = reader->head.names_at + (is_csv ? csv->skip_lines : 0);
  reader->avro = is_avro ? tide_avro_text_new(text) : NULL;
  reader->head.n_lines = is_begun ? 0 : n_head_lines;
  reader->head.has_quotes = reader->framing.quotes;
  reader->head.groups_lines = has_names && options->decode->scanned.is_scanned;
  begin_line(reader);
  if (go_to_mark(reader, options, error) && (n_head_lines == 0 || !is_begun || read_header(reader, options, error))) {
    reader->passed_bytes = tide_file_text_raw_bytes(reader->text);
    atomic_store_explicit(&reader->raw_bytes, reader->passed_bytes, memory_order_relaxed);
    return reader;
  }
  tide_file_reader_free(reader);
  return NULL;
}

/* ---- reading ---- */

static TideBytes
unframed(const TideFileReader *reader)
{
  return tide_bytes_from(tide_buffer_bytes(&reader->window.bytes), reader->window.framed_bytes);
}

/* Framed text is before the mark of what follows. */
static void
take_text(TideFileReader *reader, const guint8 *text, gsize n_bytes)
{
  reader->framed.crc32 = (guint32)crc32_z(reader->framed.crc32, text, n_bytes);
  reader->framed.position_bytes += n_bytes;
}

/* @why: (transfer full) (nullable) */
static void
end_reading(TideFileReader *reader, char *why)
{
  g_clear_pointer(&reader->avro, tide_avro_text_free);
  g_clear_pointer(&reader->text, tide_file_text_free);
  reader->problem = why;
}

static gboolean
grows(const TideFileReader *reader)
{
  TideFileState now = tide_file_text_state(reader->text);
  return now.size_bytes != reader->opened.size_bytes || now.modified_ns != reader->opened.modified_ns;
}

static char *
growth_text(const TideFileReader *reader)
{
  return g_strdup_printf("'%s' was written to while it was loaded: the content up to then is loaded, except for an "
                         "unfinished last line; load it again when it is complete",
                         reader->path);
}

static void
add_entry(TideFileReader *reader, Entry entry, gboolean is_unended)
{
  if (!is_unended) {
    entry.mark_offset = entry.next_offset;
    entry.position_bytes = reader->framed.position_bytes;
    entry.crc32 = reader->framed.crc32;
  }
  g_array_append_val(reader->entries, entry);
}

static void
take_frame(TideFileReader *reader, const TideFrame *frame)
{
  TideBytes text = unframed(reader);
  Entry entry = {.start = reader->window.base + reader->window.framed_bytes + frame->start,
                 .len = (guint32)frame->len,
                 .offset = reader->framed.end_offset,
                 .mark_offset = reader->framed.end_offset,
                 .position_bytes = reader->framed.position_bytes,
                 .crc32 = reader->framed.crc32};
  take_text(reader, text.data, frame->end);
  reader->framed.end_offset += frame->n_lines;
  entry.next_offset = reader->framed.end_offset;
  reader->window.framed_bytes += frame->end;
  if (frame->is_cut) {
    reader->cut.is_under_way = TRUE;
    reader->cut.entry = entry;
  } else if (reader->head.n_lines > 0 && !frame->is_blank) {
    if (reader->header.len <= reader->framing.max_bytes) /* with a longer one, every record is already too large */
      tide_buffer_append(&reader->header, text.data + frame->start, frame->len);
    if (tide_file_framing_is_of_lines(&reader->framing))
      tide_buffer_append_byte(&reader->header, '\n');
    reader->head.n_lines--;
    begin_line(reader);
  } else if (!frame->is_blank)
    add_entry(reader, entry, frame->is_unended);
}

/* Drops the rest of a line that is too long from the window. TRUE: its end was found. */
static gboolean
throw_away(TideFileReader *reader, gboolean is_last)
{
  TideBytes text = unframed(reader);
  const guint8 *end = text.len > 0 ? memchr(text.data, '\n', text.len) : NULL;
  gsize n_bytes = end != NULL ? (gsize)(end - text.data) + 1 : text.len;
  take_text(reader, text.data, n_bytes);
  memmove(reader->window.bytes.data + reader->window.framed_bytes, text.data + n_bytes, text.len - n_bytes);
  reader->window.bytes.len -= n_bytes;
  if (end == NULL && !is_last)
    return FALSE;
  reader->cut.is_under_way = FALSE;
  add_entry(reader, reader->cut.entry, end == NULL);
  return TRUE;
}

/* Removes passed bytes, rarely enough that the cost is negligible. */
static void
forget_passed(TideFileReader *reader)
{
  gsize left = reader->entries->len - reader->first;
  guint64 next_start =
      reader->cut.is_under_way ? reader->cut.entry.start : reader->window.base + reader->window.framed_bytes;
  guint64 start = left > 0 ? entry_at(reader, reader->first)->start : next_start;
  gsize passed_bytes = (gsize)(start - reader->window.base);
  if (left > 0 && (reader->first < SLACK_RECORDS || reader->first < left) &&
      (passed_bytes < SLACK_BYTES || passed_bytes < reader->window.bytes.len / 2))
    return;
  if (reader->first == 0 && passed_bytes == 0)
    return;
  g_array_remove_range(reader->entries, 0, (guint)reader->first);
  reader->next -= reader->first;
  reader->first = 0;
  tide_file_text_drop(&reader->window.bytes, passed_bytes);
  reader->window.framed_bytes -= passed_bytes;
  reader->window.base = start;
}

static char *
place_text(const TideFileReader *reader, const char *what)
{
  return g_strdup_printf("'%s' cannot be read after byte %" G_GUINT64_FORMAT
                         " of its text: %s; everything before is loaded",
                         reader->path, reader->framed.position_bytes, what);
}

/* Finds the records in the bytes read. */
static void
frame(TideFileReader *reader, gboolean is_last)
{
  if (reader->cut.is_under_way && !throw_away(reader, is_last))
    return;
  for (;;) {
    TideFrame found;
    g_autoptr(GError) error = NULL;
    switch (tide_file_framing_next(&reader->framing, unframed(reader), is_last, &found, &error)) {
    case TIDE_FRAME_FOUND:
      if (found.is_unended && grows(reader)) {
        end_reading(reader, growth_text(reader));
        return;
      }
      take_frame(reader, &found);
      if (reader->cut.is_under_way && !throw_away(reader, is_last))
        return;
      break;
    case TIDE_FRAME_MORE:
      if (is_last && unframed(reader).len > 0)
        end_reading(reader, place_text(reader, "it ends within a record"));
      return;
    case TIDE_FRAME_BROKEN:
      end_reading(reader, place_text(reader, error->message));
      return;
    }
  }
}

void
tide_file_reader_fill(TideFileReader *reader)
{
  g_autoptr(GError) error = NULL;
  if (reader->text == NULL)
    return;
  gsize n = 0;
  tide_mutex_lock(&reader->lock);
  guint8 *to = tide_buffer_reserve(&reader->window.bytes, CHUNK_BYTES);
  tide_mutex_unlock(&reader->lock);
  gboolean good = read_text(reader, to, CHUNK_BYTES, &n, &error);
  gboolean has_ended =
      reader->avro != NULL ? tide_avro_text_has_ended(reader->avro) : tide_file_text_has_ended(reader->text);
  gboolean is_last = good && n == 0 && has_ended;
  atomic_store_explicit(&reader->raw_bytes, tide_file_text_raw_bytes(reader->text), memory_order_relaxed);
  tide_mutex_lock(&reader->lock);
  reader->window.bytes.len += n;
  if (!good)
    end_reading(reader, place_text(reader, error->message));
  else {
    frame(reader, is_last);
    if (is_last && reader->text != NULL)
      end_reading(reader, grows(reader) ? growth_text(reader) : NULL);
  }
  if (reader->first == reader->entries->len) /* empty lines are not delivered, so no consumer passes them */
    forget_passed(reader);
  tide_mutex_unlock(&reader->lock);
}

static TideBytes
text_of(const TideFileReader *reader, const Entry *entry)
{
  return tide_bytes(reader->window.bytes.data + (entry->start - reader->window.base), entry->len);
}

gboolean
tide_file_reader_next(TideFileReader *reader, TideFileRecord *ret_record)
{
  if (reader->next == reader->entries->len)
    return FALSE;
  const Entry *entry = entry_at(reader, reader->next++);
  *ret_record = (TideFileRecord){.offset = entry->offset, .text = text_of(reader, entry)};
  if (reader->header.len > 0) {
    tide_buffer_set(&reader->made, tide_buffer_bytes(&reader->header));
    tide_buffer_append_bytes(&reader->made, ret_record->text);
    ret_record->text = tide_buffer_bytes(&reader->made);
  }
  return TRUE;
}

/* ---- questions ---- */

int
tide_file_reader_waited_fd(const TideFileReader *reader)
{
  return reader->text != NULL ? tide_file_text_waited_fd(reader->text) : -1;
}

gboolean
tide_file_reader_is_at_end(const TideFileReader *reader)
{
  return reader->text == NULL && reader->next == reader->entries->len;
}

const char *
tide_file_reader_problem(const TideFileReader *reader)
{
  return reader->problem;
}

gint64
tide_file_reader_end_offset(const TideFileReader *reader)
{
  return reader->framed.end_offset;
}

gsize
tide_file_reader_window_bytes(const TideFileReader *reader)
{
  return reader->window.bytes.len + reader->entries->len * sizeof(Entry);
}

guint64
tide_file_reader_passed_bytes(const TideFileReader *reader)
{
  return reader->passed_bytes;
}

guint64
tide_file_reader_raw_bytes(const TideFileReader *reader)
{
  return atomic_load_explicit(&reader->raw_bytes, memory_order_relaxed);
}

/* ---- rewinding and passing ---- */

/* Returns the first entry at or after @offset. */
static gsize
find_entry(const TideFileReader *reader, gint64 offset)
{
  gsize low = reader->first, high = reader->entries->len;
  while (low < high) {
    gsize middle = low + (high - low) / 2;
    if (entry_at(reader, middle)->offset < offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void
tide_file_reader_move(TideFileReader *reader, gint64 offset)
{
  reader->next = find_entry(reader, offset);
}

TideFileMark
tide_file_reader_pass(TideFileReader *reader, gint64 offset)
{
  gsize first = find_entry(reader, offset);
  TideFileMark *mark = &reader->mark;
  if (first > reader->first) {
    const Entry *last = entry_at(reader, first - 1);
    mark->offset = last->mark_offset;
    mark->position_bytes = last->position_bytes;
    mark->crc32 = last->crc32;
    tide_mutex_lock(&reader->lock);
    reader->first = first;
    forget_passed(reader);
    tide_mutex_unlock(&reader->lock);
  }
  if (reader->text == NULL && reader->first == reader->entries->len &&
      reader->window.bytes.data != NULL) { /* a load may have many files, whose readers stay until its end */
    tide_mutex_lock(&reader->lock);
    tide_buffer_clear_memory(&reader->header);
    tide_buffer_clear_memory(&reader->window.bytes);
    tide_buffer_clear_memory(&reader->made);
    g_array_unref(reader->entries);
    reader->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
    reader->first = reader->next = 0;
    tide_mutex_unlock(&reader->lock);
  }
  mark->file = reader->opened;
  mark->is_finished = reader->text == NULL && reader->problem == NULL && reader->first == reader->entries->len;
  return *mark;
}

gboolean
tide_file_reader_copy(TideFileReader *reader, gint64 offset, TideBuffer *out)
{
  tide_mutex_lock(&reader->lock);
  gsize index = find_entry(reader, offset);
  gboolean is_there = index < reader->entries->len && entry_at(reader, index)->offset == offset;
  if (is_there) {
    tide_buffer_append_bytes(out, tide_buffer_bytes(&reader->header));
    tide_buffer_append_bytes(out, text_of(reader, entry_at(reader, index)));
  }
  tide_mutex_unlock(&reader->lock);
  return is_there;
}
