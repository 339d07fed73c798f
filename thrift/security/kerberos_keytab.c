#include "thrift/security/kerberos_keytab.h"

#include "util/error.h"

#include <errno.h>
#include <krb5.h>
#include <unistd.h>

/* Maximum number of the keytab's principals shown in an error. */
#define SHOWN_MAX 4u

typedef struct Keytab {
  const char *path;
  krb5_context context;
  krb5_keytab keytab;
  char *wanted;     /* owned by the context; NULL: the first */
  GPtrArray *found; /* (element-type utf8), each once */
} Keytab;

/* Always fails. */
static gboolean
set_problem(Keytab *keytab, krb5_error_code code, GError **error)
{
  const char *text = krb5_get_error_message(keytab->context, code);
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
              "cannot read the keytab '%s': %s; 'klist -k %s' lists the keys of a valid one", keytab->path, text,
              keytab->path);
  krb5_free_error_message(keytab->context, text);
  return FALSE;
}

static void
note_principal(Keytab *keytab, krb5_principal principal)
{
  char *name = NULL;
  if (krb5_unparse_name(keytab->context, principal, &name) != 0)
    return;
  if (!g_ptr_array_find_with_equal_func(keytab->found, name, g_str_equal, NULL))
    g_ptr_array_add(keytab->found, g_strdup(name));
  krb5_free_unparsed_name(keytab->context, name);
}

static gboolean
list_principals(Keytab *keytab, GError **error)
{
  krb5_kt_cursor cursor;
  krb5_error_code code = krb5_kt_start_seq_get(keytab->context, keytab->keytab, &cursor);
  if (code != 0)
    return set_problem(keytab, code, error);
  krb5_keytab_entry entry;
  while ((code = krb5_kt_next_entry(keytab->context, keytab->keytab, &entry, &cursor)) == 0) {
    note_principal(keytab, entry.principal);
    (void)krb5_free_keytab_entry_contents(keytab->context, &entry);
  }
  (void)krb5_kt_end_seq_get(keytab->context, keytab->keytab, &cursor);
  return code == KRB5_KT_END || set_problem(keytab, code, error);
}

/* Completes @principal with its realm. */
static gboolean
complete_name(Keytab *keytab, const char *principal, GError **error)
{
  krb5_principal parsed = NULL;
  krb5_error_code code = krb5_parse_name(keytab->context, principal, &parsed);
  if (code == 0)
    code = krb5_unparse_name(keytab->context, parsed, &keytab->wanted);
  krb5_free_principal(keytab->context, parsed);
  if (code == 0)
    return TRUE;
  const char *text = krb5_get_error_message(keytab->context, code);
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "cannot use the principal '%s': %s; give it as NAME@REALM",
              principal, text);
  krb5_free_error_message(keytab->context, text);
  return FALSE;
}

/* Returns NULL and an error if @keytab does not contain the principal. */
static char *
choose(const Keytab *keytab, GError **error)
{
  if (keytab->found->len == 0) {
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
                "the keytab '%s' contains no key; create one with kadmin's 'ktadd'", keytab->path);
    return NULL;
  }
  if (keytab->wanted == NULL)
    return g_strdup(g_ptr_array_index(keytab->found, 0));
  if (g_ptr_array_find_with_equal_func(keytab->found, keytab->wanted, g_str_equal, NULL))
    return g_strdup(keytab->wanted);
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = 0; i < MIN(keytab->found->len, SHOWN_MAX); i++)
    g_string_append_printf(names, "%s'%s'", i > 0 ? ", " : "", (const char *)g_ptr_array_index(keytab->found, i));
  g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG,
              "the keytab '%s' has no key of the principal '%s', but of %s%s: set 'hbase.kerberos.principal' to one of "
              "these, or remove it",
              keytab->path, keytab->wanted, names->str, keytab->found->len > SHOWN_MAX ? ", ..." : "");
  return NULL;
}

static char *
find_in(Keytab *keytab, const char *principal, GError **error)
{
  g_autofree char *name = g_strconcat("FILE:", keytab->path, NULL);
  krb5_error_code code = krb5_kt_resolve(keytab->context, name, &keytab->keytab);
  if (code != 0) {
    (void)set_problem(keytab, code, error);
    return NULL;
  }
  char *chosen = NULL;
  if ((principal == NULL || complete_name(keytab, principal, error)) && list_principals(keytab, error))
    chosen = choose(keytab, error);
  krb5_free_unparsed_name(keytab->context, keytab->wanted);
  (void)krb5_kt_close(keytab->context, keytab->keytab);
  return chosen;
}

char *
tide_kerberos_keytab_find(const char *path, const char *principal, GError **error)
{
  if (access(path, R_OK) != 0) { /* Kerberos's own text would be about credentials */
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "cannot read the keytab '%s': %s", path, g_strerror(errno));
    return NULL;
  }
  g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
  Keytab keytab = {.path = path, .found = found};
  krb5_error_code code = krb5_init_context(&keytab.context);
  if (code != 0) {
    const char *text = krb5_get_error_message(NULL, code);
    g_set_error(error, TIDE_ERROR, TIDE_ERROR_CONFIG, "cannot use Kerberos's configuration (krb5.conf): %s", text);
    krb5_free_error_message(NULL, text);
    return NULL;
  }
  char *chosen = find_in(&keytab, principal, error);
  krb5_free_context(keytab.context);
  return chosen;
}
