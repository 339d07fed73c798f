/* Prints what was found in the samples: each field, its first value, and its use. */
#include "commands/init/draft.h"

#include "commands/cli/listing.h"
#include "commands/cli/output.h"
#include "commands/init/guess_time.h"
#include "util/error.h"

/* Maximum number of fields listed. */
#define LISTED_FIELDS 40u
#define LISTED_BYTES 30u

static char *
role_of(const TideInitDraft *draft, const TideSurveyField *field)
{
  if (field == draft->time)
    return g_strdup_printf("time, %s", draft->form->pattern != NULL ? draft->form->pattern
                                                                    : tide_time_format_word(draft->form->format));
  if (g_ptr_array_find_with_equal_func(draft->proposal.key, field->name, g_str_equal, NULL))
    return g_strdup("key");
  return g_strdup("");
}

static void
list_fields(const TideInitDraft *draft)
{
  static const TideListingColumn columns[] = {
      {"FIELD"}, {"READINGS", .right = TRUE}, {"DIFFERENT", .right = TRUE}, {"FIRST VALUE"}, {"ROLE"}};
  g_autoptr(TideListing) listing =
      tide_listing_new(stdout, TIDE_OUTPUT_TABLE, tide_colour_wanted(stdout), columns, G_N_ELEMENTS(columns));
  const GPtrArray *fields = draft->survey->fields;
  for (guint i = 0; i < MIN(fields->len, LISTED_FIELDS); i++) {
    const TideSurveyField *field = fields->pdata[i];
    TideBytes first = tide_survey_value(field, 0)->text;
    g_autofree char *n_present = g_strdup_printf("%u", field->n_present);
    g_autofree char *n_distinct = g_strdup_printf("%u", tide_survey_n_distinct(field));
    g_autofree char *value = tide_text_printable(tide_bytes(first.data, MIN(first.len, LISTED_BYTES)));
    g_autofree char *role = role_of(draft, field);
    const char *const values[] = {field->shown, n_present, n_distinct, value, role};
    if (!tide_listing_add(listing, values))
      return;
  }
  (void)tide_listing_finish(listing);
  if (fields->len > LISTED_FIELDS)
    printf("and %u more fields\n", fields->len - LISTED_FIELDS);
}

/* Prints the event time and the alternatives. */
static void
list_times(const TideInitDraft *draft)
{
  const char *time = draft->time != NULL ? draft->time->shown : "the record's own";
  g_autoptr(GString) others = g_string_new(NULL);
  for (guint i = 0; i < draft->times->len; i++) {
    const TideSurveyField *field = g_array_index(draft->times, TideTimeGuess, i).field;
    g_autofree char *word = tide_shell_word(field->name);
    if (field != draft->time)
      g_string_append_printf(others, "%s%s (--time %s)", others->len > 0 ? ", " : "; other candidates: ", field->shown,
                             word);
  }
  if (others->len > 0)
    printf("event time: %s%s\n", time, others->str);
}

void
tide_init_show_findings(const TideInitSamples *samples, const TideInitDraft *draft)
{
  guint n_messages = samples->messages->len, n_bad = samples->n_bad;
  printf("%u message%s, %u reading%s:\n", n_messages, n_messages == 1 ? "" : "s", draft->survey->n_readings,
         draft->survey->n_readings == 1 ? "" : "s");
  list_fields(draft);
  list_times(draft);
  printf("\n");
  fflush(stdout);
  if (n_bad > 0)
    tide_say("note: %u message%s left out, the first one: %s", n_bad, n_bad == 1 ? " is" : "s are", samples->first_bad);
}
