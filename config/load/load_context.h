/* The state of one load, and what each piece of the loader needs: problems at a position, paths and files. */
#pragma once

#include "config/config.h"
#include "config/yaml/yaml_tree.h"

G_BEGIN_DECLS

/* State of one load. */
typedef struct TideLoad {
  TideConfig *config;       /* the configuration to fill */
  const TideYamlNode *root; /* the file */
  GPtrArray *problems;      /* (element-type TideConfigProblem) */
  gboolean has_mode;        /* the text came from a file ... */
  guint mode;               /* ... with these permission bits */
  GPtrArray *scratch;       /* (element-type gpointer), g_free: copies for the compilers */
  GPtrArray *zones;         /* (element-type GTimeZone): borrowed by key parts */
} TideLoad;

/* Add a problem at @node or at option @path. The position of an option that has its default is that of its section. */
#define tide_load_error(load, node, ...) tide_problems_add_error((load)->problems, (node)->position, __VA_ARGS__)
#define tide_load_warning(load, node, ...) tide_problems_add_warning((load)->problems, (node)->position, __VA_ARGS__)
#define tide_load_notice(load, node, ...)                                                                              \
  tide_problems_add_notice((load)->config->notices, (node)->position, __VA_ARGS__)
#define tide_load_option_error(load, path, ...)                                                                        \
  tide_problems_add_error((load)->problems, tide_load_position(load, path), __VA_ARGS__)
#define tide_load_option_warning(load, path, ...)                                                                      \
  tide_problems_add_warning((load)->problems, tide_load_position(load, path), __VA_ARGS__)

/* Adds an error that ends in the actual value: "TEXT, got 'x'". @node: (nullable) */
void tide_load_got_error(TideLoad *load, const TideYamlNode *node, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Adds an error if @mapping, which is at @path, sets @option, because that has no effect: "with 'pack'". */
void tide_load_refuse_option(TideLoad *load, const char *path, const TideYamlNode *mapping, const char *option,
                             const char *reason);

/* Whether the file sets an option of the section @path. */
gboolean tide_load_is_written(const TideLoad *load, const char *path);

/* Adds an error if @source has both a file and a credential. @path: the option's. @what: "read the key", for example.
 * FALSE with the error added. */
gboolean tide_load_check_one_source(TideLoad *load, const char *path, const TideSecretSource *source, const char *what);

/* Appends the rest of @fd to @bytes, up to @max_bytes in all. FALSE: errno says why. */
gboolean tide_load_read_up_to(int fd, gsize max_bytes, GByteArray *bytes);

/* The bytes of the regular file at @path. NULL with @ret_reason for others, such as a pipe, which could block.
 * (transfer full) (nullable) */
GByteArray *tide_load_file(const char *path, gsize max_bytes, char **ret_reason);

/* The same for a file that may be larger, up to @max_bytes. */
GByteArray *tide_load_file_begin(const char *path, gsize max_bytes, char **ret_reason);

/* Makes @path absolute unless it is NULL. */
void tide_load_resolve(const TideLoad *load, char **path);

/* @path made absolute. A relative one starts at the directory of the file, or at the working directory if the file is
 * standard input or memory. (transfer full) */
char *tide_load_path(const TideLoad *load, const char *path);

/* The position of the option at @path, or of its section if it has its default. */
TideSourcePosition tide_load_position(const TideLoad *load, const char *path);

/* Reads a text, or { hex: "00ff" }, whose bytes live as long as @load. FALSE with the error added. */
gboolean tide_load_bytes(TideLoad *load, const char *path, const TideYamlNode *node,
                         TideBytes *ret_bytes) G_GNUC_WARN_UNUSED_RESULT;

/* Reads the value of "hex" alone: a scalar of hexadecimal digits, or NULL. Otherwise as tide_load_bytes(). */
gboolean tide_load_hex(TideLoad *load, const char *path, const TideYamlNode *node, TideBytes *ret_bytes);

/* Reads pairs of hexadecimal digits. (transfer full) (nullable): NULL for anything else, or if there are none. */
GByteArray *tide_load_decode_hex(const char *digits, gsize len);

G_END_DECLS
