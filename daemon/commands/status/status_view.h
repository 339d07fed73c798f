/* Reads the document of /status, its members by their paths and its lists item by item, and shows it to people: aligned
 * tables of at most a hundred columns. Missing members are empty, as with a daemon of another version.
 *
 * Threads: one at a time. */
#pragma once

#include "config/config.h"
#include "util/bytes.h"

#include <stdio.h>

G_BEGIN_DECLS

typedef struct TideStatusReader TideStatusReader;

/**
 * tide_status_reader_new: read an object, or a list of them.
 * Errors: DATA. Ownership: (transfer full).
 */
TideStatusReader *tide_status_reader_new(TideBytes json, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_status_reader_free(TideStatusReader *reader); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideStatusReader, tide_status_reader_free)

guint32 tide_status_reader_n(const TideStatusReader *reader); /* items; 1 for an object */

/* The member @name, such as "kafka.group", of item @i: its text, printable; NULL: null or missing. Valid as long as
 * @reader. */
const char *tide_status_reader_text(TideStatusReader *reader, guint32 i, const char *name);
gboolean tide_status_reader_flag(TideStatusReader *reader, guint32 i, const char *name);
/* -1: null, missing, or an impossible number: a daemon only reports numbers from 0 to 2^53. */
double tide_status_reader_number(TideStatusReader *reader, guint32 i, const char *name);

/* The list @name of the first item; empty if there is none. (transfer full) */
TideStatusReader *tide_status_reader_list(TideStatusReader *reader, const char *name);

/* @colour: for verdicts. */
void tide_status_view_print(FILE *stream, TideStatusReader *status, gboolean colour);

/* ---- status_page.c: fetches the page over TCP, TLS or a Unix socket; blocks for at most ten seconds ---- */

typedef struct TideStatusPageOptions {
  const char *url;           /* NULL: the endpoint of the configuration */
  const char *ca_file;       /* authorities trusted for the endpoint's certificate; NULL: the system's */
  const char *user;          /* NULL: no password */
  const char *password_file; /* NULL likewise */
  const char *token_file;    /* NULL: none */
} TideStatusPageOptions;

/**
 * tide_status_page_get: the unchanged document.
 * @config: (nullable): needed without a url
 * Errors: CONFIG, USAGE; UNAVAILABLE: no answer, or not a tidemark's; DATA: credentials are missing or rejected.
 * (transfer full)
 */
char *tide_status_page_get(const TideStatusPageOptions *options, const TideConfig *config,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
