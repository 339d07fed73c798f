/* Reports the findings of a verification, for people or as JSON, one object per line: samples, then tables, then
 * totals. */
#include "commands/cli/listing.h"
#include "commands/cli/time_argument.h"
#include "commands/verify/verification.h"
#include "util/units.h"

/* Limit of a value shown to people; JSON has the whole value. */
#define SHOWN_VALUE_BYTES 80u

/* Verdicts that are not differences, with their explanations for people. */
typedef struct Remark {
  TideVerdict verdict;
  const char *text;
} Remark;

static const Remark remarks[] = {
    {TIDE_VERDICT_CONFLICT,
     "conflict: several partitions, or readings of one message, wrote different values of one time; one of them is "
     "there, and the others are lost ('tidemark explain' shows which readings collide)"},
    {TIDE_VERDICT_OVERWRITTEN,
     "overwritten: another reading had the same row, column and time, so one value is lost: add the field that "
     "distinguishes the readings to the key or the column's name ('--allow-overwritten' accepts them)"},
    {TIDE_VERDICT_CORRECTED, "corrected: a later message gave the same reading another value, which is found"},
    {TIDE_VERDICT_SUPERSEDED,
     "superseded: newer cells of the same column exist, and the family keeps no more versions"},
    {TIDE_VERDICT_BEYOND, "beyond: made by messages outside the window, such as uncommitted ones"},
    {TIDE_VERDICT_DELETED, "deleted: by a later reading or tombstone of the row"},
    {TIDE_VERDICT_EXPIRED, "expired: older than their table's retention"},
    {TIDE_VERDICT_UNEXPLAINED, "unexplained: made by none of the messages read"},
};

static guint64
count_of(const TideVerification *verify, TideVerdict verdict)
{
  guint64 count = 0;
  for (guint i = 0; i < tide_verify_tables_count(verify->tables); i++)
    count += tide_verify_tables_at(verify->tables, i)->counts[verdict];
  return count;
}

guint64
tide_verify_report_differences(const TideVerification *verify)
{
  guint64 count = 0;
  for (TideVerdict verdict = 0; verdict < TIDE_VERDICT_COUNT; verdict++)
    if (tide_verdicts[verdict].is_difference && (verdict != TIDE_VERDICT_OVERWRITTEN || !verify->allow_overwritten))
      count += count_of(verify, verdict);
  return count;
}

/* "topic 'metrics' partition 0: offsets 1000 to 1399 were ..." (transfer full) */
static char *
gap_text(const TideVerification *verify, const TideVerifyGap *gap)
{
  const TideTopicPart *part = &g_array_index(verify->input.parts, TideTopicPart, gap->part);
  g_autofree char *where = g_strdup_printf("topic '%s' partition %d", part->topic, part->partition);
  g_autofree char *range = g_strdup_printf("offsets %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, gap->from, gap->to - 1);
  switch (gap->kind) {
  case TIDE_VERIFY_GAP_LOST:
    return g_strdup_printf("%s: %s were deleted from the log before they were written: %" G_GINT64_FORMAT
                           " is committed, but the log begins at %" G_GINT64_FORMAT,
                           where, range, part->committed, gap->to);
  case TIDE_VERIFY_GAP_NOT_BEGUN:
    return g_strdup_printf("%s: %s are not written: group '%s' has committed no offset of this partition", where, range,
                           verify->group);
  case TIDE_VERIFY_GAP_HALTED:
    break;
  }
  return g_strdup_printf("%s is halted at offset %" G_GINT64_FORMAT ": %s ('tidemark offsets show %s:%d')", where,
                         gap->from, gap->halt_text, part->topic, part->partition);
}

/* ---- for people ----------------------------------------------------------------------------------------------------
 */

static char *
value_text(const TideBuffer *value)
{
  gboolean is_cut = value->len > SHOWN_VALUE_BYTES;
  g_autofree char *text = tide_text_printable(tide_bytes(value->data, MIN(value->len, SHOWN_VALUE_BYTES)));
  return is_cut ? g_strdup_printf("'%s'… (%" G_GSIZE_FORMAT " bytes)", text, value->len)
                : g_strdup_printf("'%s'", text);
}

/* "topic 'metrics' partition 0 offset 7". */
static char *
source_text(const TideVerification *verify, TideVerifySource source)
{
  const TideTopicPart *part = &g_array_index(verify->input.parts, TideTopicPart, tide_verify_source_partition(source));
  gint64 offset = tide_verify_source_offset(source);
  return verify->input.topics == NULL ? g_strdup_printf("file '%s' record %" G_GINT64_FORMAT, part->topic, offset)
                                      : g_strdup_printf("topic '%s' partition %d offset %" G_GINT64_FORMAT, part->topic,
                                                        part->partition, offset);
}

static void
print_sample(const TideVerification *verify, const TideVerifySample *sample, FILE *stream)
{
  const TideVerifyFamily *family = tide_verify_tables_family(verify->tables, sample->entry.family);
  const char *table = tide_verify_tables_at(verify->tables, sample->slot)->table->name;
  if (!sample->is_resolved) {
    fprintf(stream, "%s: %s: a cell that cannot be shown: it or its message is gone by now\n",
            tide_verdicts[sample->verdict].name, table);
    return;
  }
  g_autofree char *row = tide_bytes_printable(tide_buffer_bytes(&sample->row));
  g_autofree char *column = tide_column_text(tide_bytes_of_string(family->name), tide_buffer_bytes(&sample->qualifier));
  g_autofree char *time = tide_time_text(sample->entry.time_ms);
  g_autofree char *found = sample->has_found ? value_text(&sample->found) : g_strdup("nothing");
  g_autofree char *found_time = tide_time_text(sample->found_ms);
  gboolean is_of_other_time = sample->has_found && sample->found_ms != sample->entry.time_ms;
  fprintf(stream, "%s: %s row '%s' %s of %s: ", tide_verdicts[sample->verdict].name, table, row, column, time);
  gboolean is_unexpected = sample->verdict == TIDE_VERDICT_UNEXPECTED;
  g_autofree char *expected = is_unexpected ? g_strdup("nothing") : value_text(&sample->expected);
  fprintf(stream, "expected %s, found %s%s%s", expected, found, is_of_other_time ? " of " : "",
          is_of_other_time ? found_time : "");
  if (sample->has_message) {
    g_autofree char *where = source_text(verify, sample->entry.source);
    fprintf(stream, " (%s%s)", where, is_unexpected ? ", deleted since" : "");
  }
  if (sample->has_lost) {
    g_autofree char *value = value_text(&sample->lost_value);
    g_autofree char *where = source_text(verify, sample->lost.source);
    fprintf(stream, ", lost %s (%s)", value, where);
  }
  fputc('\n', stream);
}

/* Prints a line if @count is not 0. */
static void
print_count(FILE *stream, guint64 count, const char *one, const char *more, const char *what)
{
  g_autofree char *text = tide_count_of(count, one, more);
  if (count > 0)
    fprintf(stream, "%s%s\n", text, what);
}

static void
print_window(const TideVerification *verify, FILE *stream)
{
  const TideVerifyMessageCounts *counts = &verify->counts;
  g_autofree char *messages = tide_count_of(counts->messages, "message", NULL);
  g_autofree char *parts =
      tide_count_of(verify->input.parts->len, verify->input.topics == NULL ? "file" : "partition", NULL);
  g_autofree char *cells = tide_count_of(counts->cells, "cell", NULL);
  g_autofree char *elapsed = tide_age_text(verify->elapsed_us / 1000);
  fprintf(stream, "%s of %s", messages, parts);
  if (verify->group != NULL)
    fprintf(stream, ", up to the committed offsets of group '%s'", verify->group);
  fprintf(stream, ": %s, in %s", cells, elapsed);
  if (verify->n_passes > 1)
    fprintf(stream, " and %u passes", verify->n_passes);
  fputc('\n', stream);
  for (guint i = 0; i < TIDE_REJECT_N_REASONS; i++) {
    g_autofree char *rejected = tide_count_of(counts->rejected[i], "message", NULL);
    if (counts->rejected[i] > 0)
      fprintf(stream, "%s cannot be used (%s): nothing is expected of %s\n", rejected, tide_reject_reason_name(i),
              counts->rejected[i] == 1 ? "it" : "them");
  }
  print_count(stream, counts->rejected_readings, "reading", "readings", " of other messages cannot be used");
  print_count(stream, counts->dead_lettered, "message is a dead letter", "messages are dead letters",
              ": the cells may be there or not");
  print_count(stream, counts->unmatched, "reading is", "readings are", " of no table");
}

static void
print_tables(const TideVerification *verify, FILE *stream)
{
  static const TideVerdict shown[] = {TIDE_VERDICT_MISSING, TIDE_VERDICT_WRONG, TIDE_VERDICT_STALE,
                                      TIDE_VERDICT_UNEXPECTED, TIDE_VERDICT_CONFLICT};
  static const TideListingColumn columns[] = {
      {"TABLE", FALSE, FALSE}, {"CELLS", TRUE, FALSE},      {"MISSING", TRUE, FALSE}, {"WRONG", TRUE, FALSE},
      {"STALE", TRUE, FALSE},  {"UNEXPECTED", TRUE, FALSE}, {"CONFLICT", TRUE, FALSE}};
  g_autoptr(TideListing) listing =
      tide_listing_new(stream, TIDE_OUTPUT_TABLE, tide_colour_wanted(stream), columns, G_N_ELEMENTS(columns));
  gboolean goes_on = TRUE;
  for (guint i = 0; goes_on && i < tide_verify_tables_count(verify->tables); i++) {
    const TideVerifyTable *table = tide_verify_tables_at(verify->tables, i);
    guint64 n_expected = 0; /* each time of a column once */
    for (TideVerdict verdict = 0; verdict < TIDE_VERDICT_COUNT; verdict++)
      n_expected += tide_verdicts[verdict].is_expected ? table->counts[verdict] : 0;
    g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(values, g_strdup(table->table->name));
    g_ptr_array_add(values, tide_count_text(n_expected));
    for (gsize k = 0; k < G_N_ELEMENTS(shown); k++)
      g_ptr_array_add(values, tide_count_text(table->counts[shown[k]]));
    goes_on = tide_listing_add(listing, (const char *const *)values->pdata);
  }
  (void)tide_listing_finish(listing); /* tide_output_close() reports a failing output */
}

/* The last line. */
static void
print_verdict(const TideVerification *verify, FILE *stream)
{
  guint64 n = tide_verify_report_differences(verify);
  print_count(stream, n, "difference", "differences", "");
  if (n > 0)
    return;
  static const struct {
    TideVerdict verdict;
    const char *one, *more;
  } shown[] = {{TIDE_VERDICT_OVERWRITTEN, "overwritten", "overwritten"},
               {TIDE_VERDICT_CONFLICT, "conflict", "conflicts"},
               {TIDE_VERDICT_CORRECTED, "correction", "corrections"}};
  g_autoptr(GString) text = g_string_new(NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(shown); i++) {
    guint64 count = count_of(verify, shown[i].verdict);
    g_autofree char *counted = tide_count_of(count, shown[i].one, shown[i].more);
    if (count > 0)
      g_string_append_printf(text, "%s, ", counted);
  }
  if (verify->gaps->len > 0)
    fprintf(stream, "%swhat was written is right, but some messages were not written\n", text->str);
  else if (text->len > 0)
    fprintf(stream, "%severything else is right\n", text->str);
  else
    fprintf(stream, "%sall is right%s\n", tide_colour_wanted(stream) ? tide_colour_of("all is right") : "",
            tide_colour_wanted(stream) ? TIDE_COLOUR_END : "");
}

void
tide_verify_report_print_text(const TideVerification *verify, FILE *stream)
{
  for (guint i = 0; i < verify->samples->len; i++)
    print_sample(verify, &g_array_index(verify->samples, TideVerifySample, i), stream);
  print_tables(verify, stream);
  for (gsize i = 0; i < G_N_ELEMENTS(remarks); i++) {
    guint64 count = count_of(verify, remarks[i].verdict);
    g_autofree char *text = tide_count_text(count);
    if (count > 0)
      fprintf(stream, "%s %s\n", text, remarks[i].text);
  }
  for (guint i = 0; i < tide_verify_tables_count(verify->tables); i++) {
    const TideVerifyTable *table = tide_verify_tables_at(verify->tables, i);
    if (!table->is_there)
      fprintf(stream, "table '%s' does not exist\n", table->table->name);
  }
  for (guint i = 0; i < verify->gaps->len; i++) {
    g_autofree char *text = gap_text(verify, &g_array_index(verify->gaps, TideVerifyGap, i));
    fprintf(stream, "%s\n", text);
  }
  if (verify->not_whole != NULL)
    fprintf(stream, "unexpected cells cannot be identified: %s\n", verify->not_whole);
  print_window(verify, stream);
  print_verdict(verify, stream);
}

/* ---- JSON ----------------------------------------------------------------------------------------------------------
 */

/* @names: of the members. */
static void
append_source(const TideVerification *verify, const char *const names[3], TideVerifySource source, TideBuffer *line)
{
  const TideTopicPart *part = &g_array_index(verify->input.parts, TideTopicPart, tide_verify_source_partition(source));
  tide_json_shown_text(line, names[0], part->topic);
  tide_json_number(line, names[1], part->partition);
  tide_json_number(line, names[2], tide_verify_source_offset(source));
}

static void
append_sample(const TideVerification *verify, const TideVerifySample *sample, TideBuffer *line)
{
  const TideVerifyFamily *family = tide_verify_tables_family(verify->tables, sample->entry.family);
  tide_json_shown_text(line, "kind", tide_verdicts[sample->verdict].name);
  tide_json_shown_text(line, "table", tide_verify_tables_at(verify->tables, sample->slot)->table->name);
  tide_json_shown_text(line, "family", family->name);
  tide_json_number(line, "time_ms", sample->entry.time_ms);
  if (sample->is_resolved) {
    tide_json_shown_and_hex(line, "row", tide_buffer_bytes(&sample->row));
    tide_json_shown(line, "qualifier", tide_buffer_bytes(&sample->qualifier));
  }
  if (sample->has_expected && sample->verdict != TIDE_VERDICT_UNEXPECTED)
    tide_json_shown(line, "expected", tide_buffer_bytes(&sample->expected));
  if (sample->has_found) {
    tide_json_shown(line, "found", tide_buffer_bytes(&sample->found));
    tide_json_number(line, "found_time_ms", sample->found_ms);
  }
  static const char *const names[] = {"topic", "partition", "offset"};
  static const char *const lost_names[] = {"lost_topic", "lost_partition", "lost_offset"};
  if (sample->has_message)
    append_source(verify, names, sample->entry.source, line);
  if (sample->has_lost) {
    tide_json_shown(line, "lost", tide_buffer_bytes(&sample->lost_value));
    append_source(verify, lost_names, sample->lost.source, line);
  }
}

static const char *const gap_names[] = {
    [TIDE_VERIFY_GAP_LOST] = "lost", [TIDE_VERIFY_GAP_NOT_BEGUN] = "not_begun", [TIDE_VERIFY_GAP_HALTED] = "halted"};

static void
begin_line(TideBuffer *line, const char *type)
{
  tide_json_open(line, NULL, '{');
  tide_json_text(line, "type", type);
}

void
tide_verify_report_print_json(const TideVerification *verify, FILE *stream)
{
  g_auto(TideBuffer) line = {0};
  const TideVerifyMessageCounts *counts = &verify->counts;
  guint64 n_rejected = 0;
  for (guint i = 0; i < TIDE_REJECT_N_REASONS; i++)
    n_rejected += counts->rejected[i];
  for (guint i = 0; i < verify->samples->len; i++) {
    begin_line(&line, "sample");
    append_sample(verify, &g_array_index(verify->samples, TideVerifySample, i), &line);
    tide_json_print_line(&line, stream);
  }
  for (guint i = 0; i < tide_verify_tables_count(verify->tables); i++) {
    const TideVerifyTable *table = tide_verify_tables_at(verify->tables, i);
    begin_line(&line, "table");
    tide_json_shown_text(&line, "table", table->table->name);
    tide_json_bool(&line, "exists", table->is_there);
    for (TideVerdict verdict = TIDE_VERDICT_RIGHT; verdict < TIDE_VERDICT_COUNT; verdict++)
      tide_json_number(&line, tide_verdicts[verdict].name, (gint64)table->counts[verdict]);
    tide_json_print_line(&line, stream);
  }
  for (guint i = 0; i < verify->gaps->len; i++) {
    const TideVerifyGap *gap = &g_array_index(verify->gaps, TideVerifyGap, i);
    const TideTopicPart *part = &g_array_index(verify->input.parts, TideTopicPart, gap->part);
    begin_line(&line, "gap");
    tide_json_text(&line, "kind", gap_names[gap->kind]);
    tide_json_shown_text(&line, "topic", part->topic);
    tide_json_number(&line, "partition", part->partition);
    tide_json_number(&line, "offset", gap->from);
    if (gap->kind != TIDE_VERIFY_GAP_HALTED)
      tide_json_number(&line, "next_offset", gap->to);
    g_autofree char *text = gap_text(verify, gap);
    tide_json_shown_text(&line, "text", text);
    tide_json_print_line(&line, stream);
  }
  begin_line(&line, "summary");
  tide_json_number(&line, "partitions", (gint64)verify->input.parts->len);
  tide_json_number(&line, "messages", (gint64)counts->messages);
  tide_json_number(&line, "cells", (gint64)counts->cells);
  tide_json_number(&line, "rejected", (gint64)n_rejected);
  tide_json_number(&line, "rejected_readings", (gint64)counts->rejected_readings);
  tide_json_number(&line, "dead_lettered", (gint64)counts->dead_lettered);
  tide_json_number(&line, "unmatched", (gint64)counts->unmatched);
  tide_json_number(&line, "passes", (gint64)verify->n_passes);
  tide_json_number(&line, "differences", (gint64)tide_verify_report_differences(verify));
  tide_json_number(&line, "gaps", (gint64)verify->gaps->len);
  tide_json_bool(&line, "whole", verify->not_whole == NULL);
  tide_json_print_line(&line, stream);
}
