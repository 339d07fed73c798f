/* Changes the units of numbers as the daemon does: for another decimal arithmetic to be compared with. Reads lines
 * "SCALE OFFSET NUMBER", writes a line for each: the number then, or "refused" or "no such change". */
#include "model/table/unit_change.h"

#include <stdio.h>
#include <string.h>

static void
change_line(char *line)
{
  g_auto(GStrv) words = g_strsplit(line, " ", 3);
  g_auto(TideBuffer) out = {0};
  TideUnitChange change;
  const char *detail;
  g_assert(g_strv_length(words) == 3);
  if (!tide_unit_change_read(words[0], &change.scale) || !tide_unit_change_read(words[1], &change.offset))
    puts("no such change");
  else if (!tide_unit_change_apply(&change, tide_bytes_of_string(words[2]), &out, &detail))
    puts("refused");
  else
    printf("%.*s\n", (int)out.len, (const char *)out.data);
}

int
main(void)
{
  char line[1024];
  while (fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    change_line(line);
  }
  return 0;
}
