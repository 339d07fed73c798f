#include "model/time/time_forms.h"

#include "util/calendar.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)
#define NS_PER_MS G_GINT64_CONSTANT(1000000)
#define EARLIEST_NS (G_GINT64_CONSTANT(946684800) * NS_PER_S) /* 2000-01-01 */
#define LATEST_NS (G_GINT64_CONSTANT(4102444800) * NS_PER_S)  /* 2100-01-01 */
#define TEXT_MAX_BYTES 80u                                    /* longer than any form */
#define SHOWN_FORMS 3u

#define COUNT(name)                                                                                                    \
  {                                                                                                                    \
    TIDE_TIME_##name, NULL, NULL, TRUE                                                                                 \
  }
#define MOMENT(text)                                                                                                   \
  {                                                                                                                    \
    TIDE_TIME_PATTERN, text, NULL, TRUE                                                                                \
  }
#define MOMENT_IN(text, zone)                                                                                          \
  {                                                                                                                    \
    TIDE_TIME_PATTERN, text, zone, TRUE                                                                                \
  }
#define HALF(text)                                                                                                     \
  {                                                                                                                    \
    TIDE_TIME_PATTERN, text, NULL, FALSE                                                                               \
  }

static const TideTimeForm forms[] = {
    COUNT(EPOCH_S),
    COUNT(EPOCH_MS),
    COUNT(EPOCH_US),
    COUNT(EPOCH_NS),
    COUNT(TICKS),
    COUNT(FILETIME),
    COUNT(DOTNET),
    COUNT(RFC3339),
    MOMENT("yyyy-MM-dd HH:mm[:ss[.f][,f]][X]"),
    MOMENT("yyyy-MM-dd'T'HH:mm[:ss[.f][,f]][X]"),
    MOMENT("yyyyMMdd'T'HHmmss[.f][,f][X]"),
    MOMENT("yyyyMMddHHmmss[.f][X]"),
    MOMENT("yyyyMMddHHmmssSSS"),
    MOMENT("yyyyMMdd HH:mm[:ss[.f]]"),
    MOMENT("yyyy-DDD'T'HH:mm[:ss[.f]][X]"),
    MOMENT("yyyy-MM-dd-HH:mm[:ss[.f]][X]"),
    MOMENT("yyyy/M/d H:mm[:ss[.f]]"),
    MOMENT("yyyy/M/d'T'H:mm[:ss[.f]][X]"),
    MOMENT("d/M/yyyy H:mm[:ss[.f]]"),
    MOMENT("M/d/yyyy H:mm[:ss[.f]]"),
    MOMENT("d/M/yyyy h:mm[:ss] a"),
    MOMENT("M/d/yyyy h:mm[:ss] a"),
    MOMENT("d-M-yyyy H:mm[:ss[.f]]"),
    MOMENT("M-d-yyyy H:mm[:ss[.f]]"),
    MOMENT("d.M.yyyy H:mm[:ss[.f][,f]]"),
    MOMENT("d.M.yy H:mm[:ss[.f][,f]]"),
    MOMENT("EEE, d MMM yyyy HH:mm:ss X"),
    MOMENT_IN("EEE, d MMM yyyy HH:mm:ss 'GMT'", "UTC"),
    MOMENT("d/MMM/yyyy:HH:mm:ss X"),
    MOMENT("d-MMM-yyyy H:mm[:ss[.f]]"),
    MOMENT("d-MMM-yy h.mm.ss[.f] a"),
    MOMENT("d MMM yyyy H:mm[:ss[.f]]"),
    MOMENT("MMM d, yyyy h:mm[:ss] a"),
    MOMENT("EEE MMM d HH:mm:ss yyyy"),
    MOMENT_IN("EEE MMM d HH:mm:ss 'UTC' yyyy", "UTC"),
    HALF("yyyy-MM-dd"),
    HALF("yyyyMMdd"),
    HALF("yyyy/M/d"),
    HALF("d/M/yyyy"),
    HALF("M/d/yyyy"),
    HALF("d.M.yyyy"),
    HALF("HH:mm[:ss[.f][,f]]"),
    HALF("h:mm[:ss] a"),
    {TIDE_TIME_EXCEL, NULL, NULL, FALSE}, /* not a moment, because many numbers are between 36526 and 73050 */
};

const TideTimeForm *
tide_time_form_at(guint index)
{
  return index < G_N_ELEMENTS(forms) ? &forms[index] : NULL;
}

static const TideTimePattern *
pattern_at(guint index)
{
  static const TideTimePattern *patterns[G_N_ELEMENTS(forms)]; /* kept until the program ends */
  static gsize is_compiled;
  if (g_once_init_enter(&is_compiled)) {
    for (guint i = 0; i < G_N_ELEMENTS(forms); i++)
      if (forms[i].pattern != NULL)
        patterns[i] = tide_time_pattern_compile(forms[i].pattern, TIDE_PATTERN_TEXT, NULL);
    g_once_init_leave(&is_compiled, 1);
  }
  return patterns[index];
}

gboolean
tide_time_form_read(guint index, TideBytes text, gint64 *ret_ns, gboolean *ret_needs_zone)
{
  const TideTimeForm *form = &forms[index];
  const char *detail;
  gboolean was_cut;
  TideTimeElements elements;
  if (text.len > TEXT_MAX_BYTES)
    return FALSE;
  if (tide_time_format_is_count(form->format)) {
    *ret_needs_zone = form->format == TIDE_TIME_EXCEL;
    return tide_time_text_read_count(text, form->format, ret_ns, &was_cut, &detail) == TIDE_TIME_FAULT_NONE &&
           *ret_ns >= EARLIEST_NS && *ret_ns < LATEST_NS;
  }
  if (!(form->pattern != NULL ? tide_time_pattern_read(pattern_at(index), text, &elements, &detail)
                              : tide_time_text_read_rfc3339(text, &elements, &detail)))
    return FALSE;
  *ret_needs_zone = !(elements.named & TIDE_NAMES_OFFSET);
  gint64 utc_s = tide_time_elements_local_s(&elements) - elements.offset_s;
  if ((elements.named & TIDE_NAMES_DATE) && (utc_s < EARLIEST_NS / NS_PER_S || utc_s >= LATEST_NS / NS_PER_S))
    return FALSE;
  *ret_ns = utc_s * NS_PER_S + elements.values[TIDE_LEVEL_FRACTION];
  return TRUE;
}

/* "'format: pattern' with 'pattern: \"d.M.yyyy H:mm\"' and a 'zone'" */
static void
append_options(GString *remedy, const TideTimeForm *form, gboolean needs_zone)
{
  g_string_append_printf(remedy, "'format: %s'", tide_time_format_word(form->format));
  if (form->pattern != NULL)
    g_string_append_printf(remedy, " with 'pattern: \"%s\"'", form->pattern);
  if (form->zone != NULL)
    g_string_append_printf(remedy, " and 'zone: %s'", form->zone);
  else if (needs_zone)
    g_string_append(remedy, " and a 'zone'");
}

char *
tide_time_forms_remedy(TideBytes text, gint64 earliest_ms)
{
  g_autoptr(GString) remedy = g_string_new(NULL);
  guint n_found = 0;
  gint64 ns;
  gboolean needs_zone;
  for (guint i = 0; i < G_N_ELEMENTS(forms) && n_found < SHOWN_FORMS; i++) {
    if (!tide_time_form_read(i, text, &ns, &needs_zone) || (forms[i].format == TIDE_TIME_EXCEL && n_found > 0) ||
        (forms[i].is_moment && ns / NS_PER_MS < earliest_ms))
      continue;
    g_string_append(remedy, n_found++ > 0 ? ", or " : "");
    append_options(remedy, &forms[i], needs_zone);
  }
  if (n_found == 0)
    return NULL;
  return g_strdup_printf("%s in the time's options read%s it", remedy->str, n_found > 1 ? "" : "s");
}
