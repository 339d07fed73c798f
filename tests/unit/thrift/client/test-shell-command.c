#include "thrift/client/shell_command.h"

static void
add_split(GArray *splits, TideBytes key)
{
  g_array_append_val(splits, key);
}

static void
test_all_settings(void)
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

static void
test_defaults(void)
{
  g_autoptr(TideTableDescription) description = tide_table_description_new("T");
  g_ptr_array_add(description->families, tide_family_settings_new("M"));
  g_autofree char *command = tide_shell_create_command(description, NULL);
  g_assert_cmpstr(command, ==, "create \"T\", {NAME => \"M\"}");
}

static void
test_grant(void)
{
  g_autofree char *table = tide_shell_grant_command("tide", "RW", "ns:T");
  g_assert_cmpstr(table, ==, "grant \"tide\", \"RW\", \"ns:T\"");
  g_autofree char *all = tide_shell_grant_command("it's", "A", NULL);
  g_assert_cmpstr(all, ==, "grant \"it's\", \"A\"");
}

static void
test_alter(void)
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

static void
test_split(void)
{
  g_autofree char *command = tide_shell_split_command("T", TIDE_BYTES_LITERAL("a\"#{1}\x80"));
  g_assert_cmpstr(command, ==, "split \"T\", \"a\\x22\\x23{1}\\x80\"");
}

int
main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/shell-command/settings-attributes-and-splits-are-written", test_all_settings);
  g_test_add_func("/shell-command/defaults-are-left-out", test_defaults);
  g_test_add_func("/shell-command/alter-sets-only-what-changes", test_alter);
  g_test_add_func("/shell-command/grant-sets-only-what-changes", test_grant);
  g_test_add_func("/shell-command/split-takes-any-bytes", test_split);
  return g_test_run();
}
