#include "thrift/client/access_denied.h"

#include "thrift/client/shell_command.h"
#include "util/error.h"

#include <string.h>

/* The words of AccessController and AccessChecker, of HBase 2.4 to 2.6:
 *   Insufficient permissions (user=tide@REALM, scope=default:METRIC, family=M:q, params=[table=...,],action=WRITE)
 *   Insufficient permissions (user=tide@REALM, scope=ns, params=[namespace=ns,...],action=CREATE)
 *   Insufficient permissions for user 'tide' (table=METRIC, action=READ)
 *   Insufficient permissions for user 'tide' (global, action=ADMIN) */
static const char denial[] = "AccessDeniedException: Insufficient permissions ";

/* What ends a name; none of tables, families and users holds any of these. */
#define NAME_ENDS "'\"\\ ,()[]|"

/* What follows @label in @text, up to one of @ends; NULL where there is none. (transfer full) */
static char *
name_behind(const char *text, const char *label, const char *ends)
{
  const char *found = strstr(text, label);
  if (found == NULL)
    return NULL;
  found += strlen(label);
  gsize len = strcspn(found, ends);
  return len > 0 ? g_strndup(found, len) : NULL;
}

/* Of its first denial, to where that one ends. (transfer full) */
static char *
find_denial(const char *message)
{
  const char *found = strstr(message, denial);
  const char *action = found != NULL ? strstr(found, "action=") : NULL;
  const char *end = action != NULL ? strchr(action, ')') : NULL;
  return end != NULL ? g_strndup(found, (gsize)(end - found) + 1) : NULL;
}

/* Without instance and realm: so a user is called in HBase's table of rights. */
static char *
user_of(const char *text)
{
  static const char ends[] = "/@" NAME_ENDS;
  char *user = name_behind(text, "(user=", ends);
  return user != NULL ? user : name_behind(text, "for user '", ends);
}

/* A table, or "@ns" for a namespace, as grant wants it; NULL: the whole of HBase. */
static char *
scope_of(const char *text)
{
  char *name = name_behind(text, "(table=", NAME_ENDS);
  if (name == NULL)
    name = name_behind(text, "scope=", NAME_ENDS);
  if (name == NULL || strcmp(name, "GLOBAL") == 0) {
    g_free(name);
    return NULL;
  }
  if (strstr(text, "params=[namespace=") != NULL) {
    g_autofree char *name_space = name;
    return g_strconcat("@", name_space, NULL);
  }
  if (g_str_has_prefix(name, "default:"))
    memmove(name, name + strlen("default:"), strlen(name) - strlen("default:") + 1);
  return name;
}

/* What tidemark needs where @right is missing: rows are read and written, never only one of both. */
static const char *
rights_for(const char *right)
{
  if (strcmp(right, "READ") == 0 || strcmp(right, "WRITE") == 0)
    return "RW";
  return strcmp(right, "CREATE") == 0 ? "C" : strcmp(right, "ADMIN") == 0 ? "A" : NULL;
}

char *
tide_access_denied_remedy(const GError *error, char **ret_command)
{
  if (!g_error_matches(error, TIDE_ERROR, TIDE_ERROR_GATEWAY))
    return NULL;
  g_autofree char *text = find_denial(error->message);
  if (text == NULL)
    return NULL;
  g_autofree char *user = user_of(text);
  g_autofree char *right = name_behind(text, "action=", NAME_ENDS);
  g_autofree char *scope = scope_of(text);
  const char *rights = right != NULL ? rights_for(right) : NULL;
  if (user == NULL || rights == NULL)
    return NULL;
  g_autofree char *where = scope == NULL     ? g_strdup("all of HBase")
                           : scope[0] == '@' ? g_strdup_printf("namespace '%s'", scope + 1)
                                             : g_strdup_printf("table '%s'", scope);
  g_autofree char *command = tide_shell_grant_command(user, rights, scope);
  char *remedy =
      g_strdup_printf("user '%s' has no right %s on %s; in the HBase shell: %s", user, right, where, command);
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
