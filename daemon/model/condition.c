#include "model/condition.h"

#include "model/glob.h"

gboolean
tide_condition_holds(const TideCondition *condition, const TideReading *reading)
{
  const TideField *field = tide_reading_field(reading, condition->field);
  gboolean is_present = field != NULL && field->kind != TIDE_VALUE_NULL;
  gboolean holds = FALSE;
  switch (condition->kind) {
  case TIDE_CONDITION_PRESENT:
    holds = is_present;
    break;
  case TIDE_CONDITION_ABSENT:
    holds = !is_present;
    break;
  case TIDE_CONDITION_EQUALS:
  case TIDE_CONDITION_MATCHES:
    for (gsize i = 0; is_present && !holds && i < condition->n_values; i++)
      holds = condition->kind == TIDE_CONDITION_MATCHES ? tide_glob_matches(condition->values[i], field->text)
                                                        : tide_bytes_equal(condition->values[i], field->text);
    break;
  }
  return condition->negated ? !holds : holds;
}

gboolean
tide_conditions_hold(const TideCondition *conditions, gsize n_conditions, const TideReading *reading)
{
  for (gsize i = 0; i < n_conditions; i++)
    if (!tide_condition_holds(&conditions[i], reading))
      return FALSE;
  return TRUE;
}

static void
append_values(GString *text, const TideCondition *condition, const char *between)
{
  for (gsize i = 0; i < condition->n_values; i++) {
    g_autofree char *value = tide_bytes_printable(condition->values[i]);
    g_string_append_printf(text, "%s'%s'", i > 0 ? between : "", value);
  }
}

char *
tide_condition_describe(const TideCondition *condition, const TideFieldNames *names)
{
  g_autofree char *name = tide_bytes_printable(tide_field_names_text(names, condition->field));
  GString *text = g_string_new(NULL);
  gboolean has_several = condition->n_values > 1;
  g_string_printf(text, "field '%s' ", name);
  switch (condition->kind) {
  case TIDE_CONDITION_PRESENT:
  case TIDE_CONDITION_ABSENT: {
    gboolean wants_present = (condition->kind == TIDE_CONDITION_PRESENT) != condition->negated;
    g_string_append(text, wants_present ? "is present" : "is absent or null");
    break;
  }
  case TIDE_CONDITION_EQUALS:
    g_string_append(text, !condition->negated ? "is " : has_several ? "is neither " : "is not ");
    append_values(text, condition, condition->negated ? " nor " : " or ");
    break;
  case TIDE_CONDITION_MATCHES:
    g_string_append(text, !condition->negated ? "matches " : has_several ? "matches neither " : "does not match ");
    append_values(text, condition, condition->negated ? " nor " : " or ");
    break;
  }
  return g_string_free(text, FALSE);
}

void
tide_condition_clear(TideCondition *condition)
{
  for (gsize i = 0; i < condition->n_values; i++)
    g_free((gpointer)condition->values[i].data);
  g_clear_pointer(&condition->values, g_free);
  condition->n_values = 0;
}
