#include "thrift/client/access_denied.h"

#include "thrift/client/shell_command.h"
#include "util/error.h"

#include <string.h>

/* Formats of AccessController and AccessChecker in HBase 2.4 to 2.6:
 *   Insufficient permissions (user=tide@REALM, scope=default:METRIC, family=M:q, params=[table=...,],action=WRITE)
 *   Insufficient permissions (user=tide@REALM, scope=ns, params=[namespace=ns,...],action=CREATE)
 *   Insufficient permissions for user 'tide' (table=METRIC, action=READ)
 *   Insufficient permissions for user 'tide' (global, action=ADMIN) */
static const char denied[] = "AccessDeniedException", denial[] = "Insufficient permissions ";

/* Characters that end a name; names of tables, families and users contain none of these. */
#define NAME_ENDS "'\"\\ ,()[]|"

/* Returns the text between @label in @text and the next of @ends; NULL if there is none. (transfer full) */
static char *
name_after(const char *text, const char *label, const char *ends)
{
  const char *found = strstr(text, label);
  if (found == NULL)
    return NULL;
  found += strlen(label);
  gsize len = strcspn(found, ends);
  return len > 0 ? g_strndup(found, len) : NULL;
}

/* Skips the part about the call and its number of rows. */
static const char *
skip_introduction(const char *message)
{
  static const char refused[] = "the gateway refused '";
  const char *method = strstr(message, refused);
  const char *method_end = method != NULL ? strchr(method + strlen(refused), '\'') : NULL;
  const char *behind = method_end != NULL ? strstr(method_end, ": ") : NULL;
  const char *words = behind != NULL ? behind + 2 : message;
  const char *rows = g_str_has_prefix(words, "Failed ") ? words + strlen("Failed ") : words;
  rows += rows != words ? strspn(rows, G_CSET_DIGITS) : 0;
  const char *actions_end = g_str_has_prefix(rows, " action") ? strstr(rows, ": ") : NULL;
  return actions_end != NULL ? actions_end + 2 : words;
}

/* Returns the denial at the start of @message, after the class names, up to its end: later text may quote row keys and
 * so contain anything. NULL: there is none. (transfer full) */
static char *
find_denial(const char *message)
{
  const char *text = skip_introduction(message);
  gboolean is_denied = FALSE;
  while (!is_denied || !g_str_has_prefix(text, denial)) {
    gsize len = strspn(text, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_.$()");
    if (len == 0 || !g_str_has_prefix(text + len, ": "))
      return NULL;
    is_denied = len >= strlen(denied) && g_str_has_prefix(text + len - strlen(denied), denied);
    text += len + 2;
  }
  const char *action = strstr(text, "action=");
  const char *end = action != NULL ? strchr(action, ')') : NULL;
  return end != NULL ? g_strndup(text, (gsize)(end - text) + 1) : NULL;
}

/* Returns the text after the scope; "": there is no scope. A column name, which may contain anything, follows it. */
static const char *
after_scope(const char *text)
{
  static const char label[] = "scope=";
  const char *scope = strstr(text, "(user=") != NULL ? strstr(text, label) : NULL;
  scope = scope != NULL ? scope + strlen(label) : "";
  return scope + strcspn(scope, NAME_ENDS);
}

/* Returns a table, or "@ns" for a namespace, as `grant` expects it; NULL: all of HBase. */
static char *
scope_of(const char *text)
{
  gboolean has_scope = *after_scope(text) != '\0';
  char *name = has_scope ? name_after(text, "scope=", NAME_ENDS) : name_after(text, "(table=", NAME_ENDS);
  if (name == NULL || strcmp(name, "GLOBAL") == 0) {
    g_free(name);
    return NULL;
  }
  if (g_str_has_prefix(after_scope(text), ", params=[namespace=")) {
    g_autofree char *name_space = name;
    return g_strconcat("@", name_space, NULL);
  }
  if (g_str_has_prefix(name, "default:"))
    memmove(name, name + strlen("default:"), strlen(name) - strlen("default:") + 1);
  return name;
}

char *
tide_access_denied_remedy(const GError *error, char **ret_command)
{
  if (!g_error_matches(error, TIDE_ERROR, TIDE_ERROR_GATEWAY))
    return NULL;
  g_autofree char *text = find_denial(error->message);
  if (text == NULL)
    return NULL;
  static const char user_ends[] = "/@" NAME_ENDS; /* without instance and realm, as in HBase's table of rights */
  g_autofree char *user = name_after(text, "(user=", user_ends);
  if (user == NULL)
    user = name_after(text, "for user '", user_ends);
  g_autofree char *right = name_after(text, "action=", NAME_ENDS);
  g_autofree char *scope = scope_of(text);
  /* tidemark always needs both rights, to read and to write rows. On cells no other right can be missing: any other
   * text belongs to the column's name. */
  gboolean is_cell_scope = g_str_has_prefix(after_scope(text), ", family=");
  const char *rights = NULL;
  if (g_strcmp0(right, "READ") == 0 || g_strcmp0(right, "WRITE") == 0)
    rights = "RW";
  else if (!is_cell_scope && g_strcmp0(right, "CREATE") == 0)
    rights = "C";
  else if (!is_cell_scope && g_strcmp0(right, "ADMIN") == 0)
    rights = "A";
  if (user == NULL || rights == NULL)
    return NULL;
  g_autofree char *where = scope == NULL     ? g_strdup("all of HBase")
                           : scope[0] == '@' ? g_strdup_printf("namespace '%s'", scope + 1)
                                             : g_strdup_printf("table '%s'", scope);
  g_autofree char *command = tide_shell_grant_command(user, rights, scope);
  char *remedy = g_strdup_printf("user '%s' lacks the right %s on %s; grant it in the HBase shell: %s", user, right,
                                 where, command);
  if (ret_command != NULL)
    *ret_command = g_steal_pointer(&command);
  return remedy;
}

char *
tide_access_denied_explain(const GError *error)
{
  g_autofree char *remedy = tide_access_denied_remedy(error, NULL);
  return remedy != NULL ? g_strdup_printf("%s; %s", error->message, remedy) : g_strdup(error->message);
}
