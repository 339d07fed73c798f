/* The columns chosen for output: each QUALIFIER or FAMILY:QUALIFIER, with bytes as \xHH. A qualifier may contain
 * colons, so a name with a colon can mean both. */
#include "commands/read/table_scan.h"

#include "commands/cli/output.h"
#include "model/scratch.h"

struct TideColumnChoice {
  const GPtrArray *texts; /* borrowed */
  TideBuffer *names;      /* owned: the texts' bytes, one buffer each */
  TideScratch kept;       /* owned: memory that asked points to, besides names */
  GArray *asked;          /* owned (element-type TideColumnName) */
};

static void
ask(TideColumnChoice *choice, TideBytes family, TideBytes qualifier, gboolean whole_family)
{
  TideColumnName column = {.family = family, .qualifier = qualifier, .whole_family = whole_family};
  for (guint i = 0; i < choice->asked->len; i++) {
    const TideColumnName *other = &g_array_index(choice->asked, TideColumnName, i);
    if (other->whole_family == whole_family && tide_bytes_equal(other->family, family) &&
        tide_bytes_equal(other->qualifier, qualifier))
      return;
  }
  g_array_append_val(choice->asked, column);
}

/* Returns the qualifier part of @name if it starts with @family. FALSE if it does not. */
static gboolean
split_family(TideBytes name, TideBytes family, TideBytes *ret_qualifier)
{
  if (name.len <= family.len || name.data[family.len] != ':' ||
      !tide_bytes_equal(tide_bytes(name.data, family.len), family))
    return FALSE;
  *ret_qualifier = tide_bytes(name.data + family.len + 1, name.len - family.len - 1);
  return TRUE;
}

/* Requests the packed cells of @family, which may contain any column. */
static void
ask_packed(TideColumnChoice *choice, const TideTable *table, TideBytes family)
{
  for (guint i = 0; i < table->rules->len; i++) {
    const TideColumnRule *rule = &g_array_index(table->rules, TideColumnRule, i);
    if (rule->packing == TIDE_PACK_NONE || !tide_bytes_equal(tide_bytes_of_string(rule->family), family))
      continue;
    g_auto(TideBuffer) qualifier = {0};
    TideReading nothing = {0};
    TideReject reject;
    gboolean known = rule->qualifier != NULL && tide_key_text_is_constant(rule->qualifier) &&
                     tide_key_text_append(rule->qualifier, &nothing, TIDE_BYTES_EMPTY, &qualifier, &reject);
    ask(choice, family, known ? tide_scratch_copy(&choice->kept, tide_buffer_bytes(&qualifier)) : TIDE_BYTES_EMPTY,
        !known);
  }
}

TideColumnChoice *
tide_column_choice_new(const TideTable *table, const GPtrArray *texts, gboolean as_stored)
{
  TideColumnChoice *choice = g_new0(TideColumnChoice, 1);
  choice->texts = texts;
  choice->names = g_new0(TideBuffer, MAX(texts->len, 1));
  choice->asked = g_array_new(FALSE, FALSE, sizeof(TideColumnName));
  for (guint i = 0; i < texts->len; i++) {
    tide_text_unescape(texts->pdata[i], &choice->names[i]);
    TideBytes name = tide_buffer_bytes(&choice->names[i]), qualifier;
    for (guint k = 0; table != NULL && k < table->families->len; k++) {
      const TideFamilySettings *settings = table->families->pdata[k];
      TideBytes family = tide_scratch_copy(&choice->kept, tide_bytes_of_string(settings->name));
      ask(choice, family, name, FALSE);
      if (split_family(name, family, &qualifier))
        ask(choice, family, qualifier, FALSE);
      if (!as_stored)
        ask_packed(choice, table, family);
    }
  }
  return choice;
}

void
tide_column_choice_free(TideColumnChoice *choice)
{
  if (choice == NULL)
    return;
  for (guint i = 0; i < choice->texts->len; i++)
    tide_buffer_clear_memory(&choice->names[i]);
  g_free(choice->names);
  tide_scratch_clear_memory(&choice->kept);
  g_array_unref(choice->asked);
  g_free(choice);
}

gsize
tide_column_choice_count(const TideColumnChoice *choice)
{
  return choice->texts->len;
}

const char *
tide_column_choice_text(const TideColumnChoice *choice, gsize i)
{
  return choice->texts->pdata[i];
}

gboolean
tide_column_choice_is(const TideColumnChoice *choice, gsize i, TideBytes family, TideBytes qualifier)
{
  TideBytes name = tide_buffer_bytes(&choice->names[i]);
  TideBytes rest;
  return tide_bytes_equal(name, qualifier) || (split_family(name, family, &rest) && tide_bytes_equal(rest, qualifier));
}

gboolean
tide_column_choice_takes(const TideColumnChoice *choice, TideBytes family, TideBytes qualifier)
{
  for (gsize i = 0; i < choice->texts->len; i++)
    if (tide_column_choice_is(choice, i, family, qualifier))
      return TRUE;
  return choice->texts->len == 0;
}

const TideColumnName *
tide_column_choice_asked(const TideColumnChoice *choice, gsize *ret_n_columns)
{
  *ret_n_columns = choice->asked->len;
  return (const TideColumnName *)(gpointer)choice->asked->data;
}
