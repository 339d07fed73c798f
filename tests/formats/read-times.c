/* Reads and prints times by patterns as the daemon does: for another calendar to be compared with. Reads lines
 * "ZONE<tab>PATTERN<tab>r<tab>TEXT" and "ZONE<tab>PATTERN<tab>p<tab>NANOSECONDS" (ZONE may be empty), and writes a line
 * for each: the nanoseconds, or the text, or "refused", or "no pattern". Of two moments that a text can mean, the
 * earlier. */
#include "model/time/time_spec.h"

#include <stdio.h>
#include <string.h>

static void
read_text(const TideTimeSpec *spec, const char *text)
{
  static const guint32 known[] = {1};
  TideField field = {.kind = TIDE_VALUE_STRING, .text = tide_bytes_of_string(text)};
  TideReading reading = {.fields = &field, .n_fields = 1, .known = known, .n_known = 1};
  TideRecordTime record = {.record_ms = -1};
  TideEventTime time;
  TideReject reject;
  if (tide_time_spec_read(spec, &reading, &record, &time, &reject))
    printf("%" G_GINT64_FORMAT "\n", time.ns);
  else
    puts("refused");
}

static void
do_line(char *line)
{
  g_auto(GStrv) words = g_strsplit(line, "\t", 4);
  g_assert(g_strv_length(words) == 4);
  g_autoptr(TideTimePattern) pattern = tide_time_pattern_compile(words[1], TIDE_PATTERN_TEXT, NULL);
  g_autoptr(GTimeZone) zone = *words[0] != '\0' ? g_time_zone_new_identifier(words[0]) : NULL;
  TideTimeSpec spec = {.format = TIDE_TIME_PATTERN,
                       .pattern = pattern,
                       .zone = zone,
                       .on_ambiguous = TIDE_AMBIGUOUS_EARLIER,
                       .date_field = TIDE_NAME_NONE};
  g_auto(TideBuffer) out = {0};
  if (pattern == NULL) {
    puts("no pattern");
  } else if (*words[2] == 'r') {
    read_text(&spec, words[3]);
  } else {
    tide_time_spec_print(&spec, TIDE_TIME_PART_MAIN, g_ascii_strtoll(words[3], NULL, 10), FALSE, &out);
    printf("%.*s\n", (int)out.len, (const char *)out.data);
  }
}

int
main(void)
{
  char line[4096];
  while (fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    do_line(line);
  }
  return 0;
}
