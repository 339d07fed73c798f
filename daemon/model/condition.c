#include "model/condition.h"

void
tide_condition_clear(TideCondition *condition)
{
  for (gsize i = 0; i < condition->n_values; i++)
    g_free((gpointer)condition->values[i].data);
  g_clear_pointer(&condition->values, g_free);
  condition->n_values = 0;
}
