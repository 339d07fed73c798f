#include "config/option/option_parse.h"
#include "thrift/client/endpoint.h"

#include <stdatomic.h>

const TideConfigOption *
tide_config_option_find(const TideConfigGroup *group, const char *name)
{
  for (gsize i = 0; i < group->n_options; i++) {
    if (strcmp(group->options[i].name, name) == 0)
      return &group->options[i];
  }
  return NULL;
}

const char *
tide_config_choice_name(const TideConfigChoice *choices, int value)
{
  for (; choices->name != NULL; choices++) {
    if (choices->value == value)
      return choices->name;
  }
  return NULL;
}

char *
tide_config_option_path(const char *path, const char *name)
{
  g_autofree char *quoted_path = tide_problem_quote(path);
  g_autofree char *quoted_name = tide_problem_quote(name);

  return g_strdup_printf("'%s%s%s'", quoted_path, *path != '\0' ? "." : "", quoted_name);
}

void
tide_config_group_set_defaults(const TideConfigGroup *group, gpointer base)
{
  TideConfigTarget target = {.base = base};

  for (gsize i = 0; i < group->n_options; i++) {
    const TideConfigOption *option = &group->options[i];
    g_autoptr(GError) error = NULL;
    if (option->type == TIDE_CONFIG_SECTION)
      tide_config_group_set_defaults(option->section, (guint8 *)base + option->offset);
    else if (option->type == TIDE_CONFIG_FIELD)
      *(TideNameId *)((guint8 *)base + option->offset) = TIDE_NAME_NONE;
    else if (option->type == TIDE_CONFIG_STRUCTURE)
      continue; /* its own function knows the default; the text is for the reference */
    else if (option->default_text != NULL && !tide_config_option_parse(option, option->default_text, &target, &error))
      g_error("default of '%s.%s': %s", group->path, option->name, error->message);
  }
}

static void
copy_number(const TideConfigOption *option, gpointer to, gconstpointer from)
{
  if (option->size == sizeof(gint64))
    atomic_store_explicit((_Atomic gint64 *)to, *(const gint64 *)from, memory_order_relaxed);
  else
    atomic_store_explicit((_Atomic gint32 *)to, *(const gint32 *)from, memory_order_relaxed);
}

void
tide_config_option_take_over(const TideConfigOption *option, gpointer base, gconstpointer after)
{
  switch (option->type) {
  case TIDE_CONFIG_INTEGER:
  case TIDE_CONFIG_DURATION:
  case TIDE_CONFIG_SIZE:
  case TIDE_CONFIG_BOOLEAN:
  case TIDE_CONFIG_CHOICE:
    copy_number(option, (guint8 *)base + option->offset, (const guint8 *)after + option->offset);
    return;
  case TIDE_CONFIG_CUSTOM: {
    g_autofree char *text = option->print(after);
    if (!option->parse(text, base, NULL))
      g_error("'%s' does not read what it prints: %s", option->name, text);
    return;
  }
  case TIDE_CONFIG_STRING:
  case TIDE_CONFIG_TOPICS:
  case TIDE_CONFIG_TEXTS:
  case TIDE_CONFIG_BROKERS:
  case TIDE_CONFIG_GATEWAYS:
  case TIDE_CONFIG_TIME:
  case TIDE_CONFIG_FIELD:
  case TIDE_CONFIG_ZONE:
  case TIDE_CONFIG_PATTERN:
  case TIDE_CONFIG_SECTION:
  case TIDE_CONFIG_STRUCTURE:
    break;
  }
  g_error("'%s' is of a type that does not reload", option->name);
}

static void
clear_option(const TideConfigOption *option, gpointer base)
{
  gpointer position = (guint8 *)base + option->offset;

  switch (option->type) {
  case TIDE_CONFIG_STRING:
  case TIDE_CONFIG_BROKERS:
  case TIDE_CONFIG_PATTERN:
    g_clear_pointer((char **)position, g_free);
    return;
  case TIDE_CONFIG_TOPICS:
  case TIDE_CONFIG_TEXTS:
    g_clear_pointer((char ***)position, g_strfreev);
    return;
  case TIDE_CONFIG_GATEWAYS:
    g_clear_pointer((GPtrArray **)position, g_ptr_array_unref);
    return;
  case TIDE_CONFIG_ZONE:
    g_clear_pointer((GTimeZone **)position, g_time_zone_unref);
    return;
  case TIDE_CONFIG_SECTION:
    tide_config_group_clear(option->section, position);
    return;
  case TIDE_CONFIG_INTEGER:
  case TIDE_CONFIG_DURATION:
  case TIDE_CONFIG_SIZE:
  case TIDE_CONFIG_BOOLEAN:
  case TIDE_CONFIG_CHOICE:
  case TIDE_CONFIG_TIME:
  case TIDE_CONFIG_FIELD:
  case TIDE_CONFIG_CUSTOM: /* what a function of its own has stored, the owner of the struct frees */
  case TIDE_CONFIG_STRUCTURE:
    return;
  }
}

void
tide_config_group_clear(const TideConfigGroup *group, gpointer base)
{
  for (gsize i = 0; i < group->n_options; i++)
    clear_option(&group->options[i], base);
}
