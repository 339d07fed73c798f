/* What helps against an AccessDeniedException: the texts of a real HBase 2.6.1 with its AccessController. */
#include "thrift/client/access_denied.h"

#include "util/error.h"

#define DENIED "org.apache.hadoop.hbase.security.AccessDeniedException: Insufficient permissions "

typedef struct Case {
  const char *message;
  const char *remedy; /* NULL: there is none */
} Case;

static const Case cases[] = {
    {"gateway 'g:1': the gateway refused 'putMultiple': Failed 2 actions: " DENIED
     "(user=thrift/localhost@LAB.TEST, scope=default:METRIC, family=M:q, params=[table=default:METRIC,family=M:q],"
     "action=WRITE) : 2 times, servers with issues: localhost,42001,17",
     "user 'thrift' has no right WRITE on table 'METRIC'; in the HBase shell: grant \"thrift\", \"RW\", \"METRIC\""},
    {DENIED "(user=tide@LAB.TEST, scope=plant:METRIC, params=[table=plant:METRIC,],action=CREATE)",
     "user 'tide' has no right CREATE on table 'plant:METRIC'; in the HBase shell: grant \"tide\", \"C\", "
     "\"plant:METRIC\""},
    {DENIED "for user 'thrift' (table=METRIC, action=READ)",
     "user 'thrift' has no right READ on table 'METRIC'; in the HBase shell: grant \"thrift\", \"RW\", \"METRIC\""},
    {DENIED "for user 'thrift' (global, action=ADMIN)",
     "user 'thrift' has no right ADMIN on all of HBase; in the HBase shell: grant \"thrift\", \"A\""},
    {DENIED "(user=tide, scope=GLOBAL, params=[],action=ADMIN)",
     "user 'tide' has no right ADMIN on all of HBase; in the HBase shell: grant \"tide\", \"A\""},
    {DENIED "(user=thrift/localhost@LAB.TEST, scope=default, params=[namespace=default,table=default:TT,family=M],"
            "action=CREATE)",
     "user 'thrift' has no right CREATE on namespace 'default'; in the HBase shell: grant \"thrift\", \"C\", "
     "\"@default\""},
    /* Of several, the first. */
    {DENIED "for user 'a' (table=T, action=READ) " DENIED "for user 'b' (table=U, action=READ)",
     "user 'a' has no right READ on table 'T'; in the HBase shell: grant \"a\", \"RW\", \"T\""},
    /* What is cut short, or says too little. */
    {DENIED "(user=thrift/localhost@LAB.TEST, scope=default:METRIC, fam", NULL},
    {DENIED "for user '' (table=METRIC, action=READ)", NULL},
    {DENIED "for user 'a' (table=METRIC, action=)", NULL},
    {DENIED "for user 'a' (table=METRIC, action=DANCE)", NULL},
    {DENIED, NULL},
    {"RegionTooBusyException: Over memstore limit", NULL},
    /* Keys and names of columns are the sender's, and HBase quotes them: they grant nothing. */
    {"gateway 'g:1': the gateway refused 'putMultiple': Call exception, tries=7, details=row '" DENIED
     "(user=mallory, scope=GLOBAL, params=[],action=ADMIN)' on table 'METRIC'",
     NULL},
    {"the gateway refused 'putMultiple': Failed 1 action: IllegalArgumentException: row " DENIED
     "for user 'mallory' (global, action=ADMIN): 1 time, servers with issues: a,1,2",
     NULL},
    {DENIED "(user=tide, scope=default:METRIC, family=M:q,action=ADMIN), params=[table=default:METRIC,family=M:q,"
            "action=ADMIN)],action=WRITE)",
     NULL},
    {DENIED "(user=tide, scope=default:METRIC, family=M:(table=OTHER, params=[namespace=n],action=WRITE)",
     "user 'tide' has no right WRITE on table 'METRIC'; in the HBase shell: grant \"tide\", \"RW\", \"METRIC\""},
    /* Behind the names of what wraps it. */
    {"the gateway refused 'put' for good: java.io.IOException: " DENIED "for user 'a' (table=T, action=READ)",
     "user 'a' has no right READ on table 'T'; in the HBase shell: grant \"a\", \"RW\", \"T\""},
    {"", NULL},
};

static void
test_remedies(void)
{
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = g_error_new_literal(TIDE_ERROR, TIDE_ERROR_GATEWAY, cases[i].message);
    g_autofree char *remedy = tide_access_denied_remedy(error, NULL);
    g_assert_cmpstr(remedy, ==, cases[i].remedy);
    g_autofree char *text = tide_access_denied_explain(error);
    g_autofree char *both =
        cases[i].remedy != NULL ? g_strdup_printf("%s; %s", cases[i].message, cases[i].remedy) : NULL;
    g_assert_cmpstr(text, ==, both != NULL ? both : cases[i].message);
  }
}

static void
test_command(void)
{
  g_autoptr(GError) error =
      g_error_new_literal(TIDE_ERROR, TIDE_ERROR_GATEWAY, DENIED "for user 'thrift' (table=METRIC, action=READ)");
  g_autofree char *command = NULL;
  g_autofree char *remedy = tide_access_denied_remedy(error, &command);
  g_assert_cmpstr(command, ==, "grant \"thrift\", \"RW\", \"METRIC\"");
}

/* Only the gateway's own answers tell of rights. */
static void
test_other_errors(void)
{
  g_autoptr(GError) error = g_error_new_literal(TIDE_ERROR, TIDE_ERROR_CONNECT, cases[0].message);
  char *command = NULL;
  g_assert_null(tide_access_denied_remedy(error, &command));
  g_assert_null(command);
  g_assert_null(tide_access_denied_remedy(NULL, &command));
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/access-denied/remedies", test_remedies);
  g_test_add_func("/access-denied/command", test_command);
  g_test_add_func("/access-denied/other-errors", test_other_errors);
  return g_test_run();
}
