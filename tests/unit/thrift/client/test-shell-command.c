#include "thrift/client/shell_command.h"

#include "thrift/client/access_denied.h"
#include "unit/test_case.h"
#include "util/error.h"

static void
add_split(GArray *splits, TideBytes key)
{
  g_array_append_val(splits, key);
}

TEST("/shell-command/settings-attributes-and-splits-are-written")
{
  g_autoptr(TideTableDescription) description = tide_table_description_new("plant:METRIC");
  TideFamilySettings *family = tide_family_settings_new("M");
  family->compression = TIDE_COMPRESSION_GZ;
  family->bloom_filter = 1;
  family->data_block_encoding = 4;
  family->block_size_bytes = 65536;
  family->max_versions = 1;
  family->time_to_live_s = 86400;
  family->in_memory = 0;
  g_ptr_array_add(description->families, family);
  g_ptr_array_add(description->families, tide_family_settings_new("N"));
  tide_table_description_add_attribute(description, TIDE_BYTES_LITERAL("tidemark.key"), TIDE_BYTES_LITERAL("a\"\\b"));
  g_autoptr(GArray) splits = g_array_new(FALSE, FALSE, sizeof(TideBytes));
  add_split(splits, TIDE_BYTES_LITERAL("server3"));
  add_split(splits, TIDE_BYTES_LITERAL("x#\x80\0"));
  add_split(splits, TIDE_BYTES_LITERAL("#{1}#$a#"));
  g_autofree char *command = tide_shell_create_command(description, splits);
  g_assert_cmpstr(
      command, ==,
      "create \"plant:METRIC\", {NAME => \"M\", VERSIONS => 1, TTL => 86400, BLOCKSIZE => 65536, "
      "COMPRESSION => 'GZ', BLOOMFILTER => 'ROW', DATA_BLOCK_ENCODING => 'FAST_DIFF', IN_MEMORY => 'false'}, "
      "{NAME => \"N\"}, METADATA => {\"tidemark.key\" => \"a\\x22\\x5Cb\"}, "
      "SPLITS => ['server3', 'x#\\x80\\x00', '#{1}#$a#']");
}

TEST("/shell-command/defaults-are-left-out")
{
  g_autoptr(TideTableDescription) description = tide_table_description_new("T");
  g_ptr_array_add(description->families, tide_family_settings_new("M"));
  g_autofree char *command = tide_shell_create_command(description, NULL);
  g_assert_cmpstr(command, ==, "create \"T\", {NAME => \"M\"}");
}

TEST("/shell-command/grant-sets-only-what-changes")
{
  g_autofree char *table = tide_shell_grant_command("tide", "RW", "ns:T");
  g_assert_cmpstr(table, ==, "grant \"tide\", \"RW\", \"ns:T\"");
  g_autofree char *all = tide_shell_grant_command("it's", "A", NULL);
  g_assert_cmpstr(all, ==, "grant \"it's\", \"A\"");
}

TEST("/shell-command/alter-sets-only-what-changes")
{
  g_autoptr(TideTableDescription) changes = tide_table_description_new("ns:T");
  TideFamilySettings *family = tide_family_settings_new("M");
  family->max_versions = 3;
  g_ptr_array_add(changes->families, family);
  changes->durability = TIDE_DURABILITY_SYNC_WAL;
  tide_table_description_add_attribute(changes, TIDE_BYTES_LITERAL("hbase.hstore.time.to.purge.deletes"),
                                       TIDE_BYTES_LITERAL("604800000"));
  g_autofree char *command = tide_shell_alter_command(changes);
  g_assert_cmpstr(command, ==,
                  "alter \"ns:T\", {NAME => \"M\", VERSIONS => 3}, DURABILITY => 'SYNC_WAL', METADATA => "
                  "{\"hbase.hstore.time.to.purge.deletes\" => \"604800000\"}");
}

TEST("/shell-command/split-takes-any-bytes")
{
  g_autofree char *command = tide_shell_split_command("T", TIDE_BYTES_LITERAL("a\"#{1}\x80"));
  g_assert_cmpstr(command, ==, "split \"T\", \"a\\x22\\x23{1}\\x80\"");
}

/* What helps against an AccessDeniedException: the texts of a real HBase 2.6.1 with its AccessController. */

#define DENIED "org.apache.hadoop.hbase.security.AccessDeniedException: Insufficient permissions "

typedef struct Case {
  const char *message;
  const char *remedy; /* NULL: there is none */
} Case;

static const Case cases[] = {
    {"gateway 'g:1': the gateway refused 'putMultiple': Failed 2 actions: " DENIED
     "(user=thrift/localhost@LAB.TEST, scope=default:METRIC, family=M:q, params=[table=default:METRIC,family=M:q],"
     "action=WRITE) : 2 times, servers with issues: localhost,42001,17",
     "user 'thrift' lacks the right WRITE on table 'METRIC'; grant it in the HBase shell: grant \"thrift\", \"RW\", "
     "\"METRIC\""},
    {DENIED "(user=tide@LAB.TEST, scope=plant:METRIC, params=[table=plant:METRIC,],action=CREATE)",
     "user 'tide' lacks the right CREATE on table 'plant:METRIC'; grant it in the HBase shell: grant \"tide\", \"C\", "
     "\"plant:METRIC\""},
    {DENIED "for user 'thrift' (table=METRIC, action=READ)",
     "user 'thrift' lacks the right READ on table 'METRIC'; grant it in the HBase shell: grant \"thrift\", \"RW\", "
     "\"METRIC\""},
    {DENIED "for user 'thrift' (global, action=ADMIN)",
     "user 'thrift' lacks the right ADMIN on all of HBase; grant it in the HBase shell: grant \"thrift\", \"A\""},
    {DENIED "(user=tide, scope=GLOBAL, params=[],action=ADMIN)",
     "user 'tide' lacks the right ADMIN on all of HBase; grant it in the HBase shell: grant \"tide\", \"A\""},
    {DENIED "(user=thrift/localhost@LAB.TEST, scope=default, params=[namespace=default,table=default:TT,family=M],"
            "action=CREATE)",
     "user 'thrift' lacks the right CREATE on namespace 'default'; grant it in the HBase shell: grant \"thrift\", "
     "\"C\", "
     "\"@default\""},
    /* Of several, the first. */
    {DENIED "for user 'a' (table=T, action=READ) " DENIED "for user 'b' (table=U, action=READ)",
     "user 'a' lacks the right READ on table 'T'; grant it in the HBase shell: grant \"a\", \"RW\", \"T\""},
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
     "user 'tide' lacks the right WRITE on table 'METRIC'; grant it in the HBase shell: grant \"tide\", \"RW\", "
     "\"METRIC\""},
    /* Behind the names of what wraps it. */
    {"the gateway refused 'put' permanently: java.io.IOException: " DENIED "for user 'a' (table=T, action=READ)",
     "user 'a' lacks the right READ on table 'T'; grant it in the HBase shell: grant \"a\", \"RW\", \"T\""},
    {"", NULL},
};

TEST("/access-denied/remedies")
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

TEST("/access-denied/command")
{
  g_autoptr(GError) error =
      g_error_new_literal(TIDE_ERROR, TIDE_ERROR_GATEWAY, DENIED "for user 'thrift' (table=METRIC, action=READ)");
  g_autofree char *command = NULL;
  g_autofree char *remedy G_GNUC_UNUSED = tide_access_denied_remedy(error, &command);
  g_assert_cmpstr(command, ==, "grant \"thrift\", \"RW\", \"METRIC\"");
}

/* Only the gateway's own answers tell of rights. */
TEST("/access-denied/other-errors")
{
  g_autoptr(GError) error = g_error_new_literal(TIDE_ERROR, TIDE_ERROR_CONNECT, cases[0].message);
  char *command = NULL;
  g_assert_null(tide_access_denied_remedy(error, &command));
  g_assert_null(command);
  g_assert_null(tide_access_denied_remedy(NULL, &command));
}
