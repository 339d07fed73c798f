/* Who may ask: names with hashed passwords, and hashed tokens, from a file.
 *
 * A line is NAME:HASH, as `htpasswd -B` and `mkpasswd` write it: bcrypt ($2y$), yescrypt ($y$) or SHA-512 ($6$) of a
 * password; or NAME:DIGEST, the SHA-256 of a bearer token in 64 hex digits. Empty lines and those that begin with '#'
 * are passed over.
 *
 * A password is as slow to check as it is to guess, so that what was right once is known by a digest with a key of this
 * process's own, and others are tried once a second, two at once. Tokens are long and random: their hash is fast. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideAccessList TideAccessList;

typedef enum TideAccess {
  TIDE_ACCESS_GRANTED,
  TIDE_ACCESS_MISSING,   /* nobody said who asks */
  TIDE_ACCESS_WRONG,     /* not one of these, or not his password */
  TIDE_ACCESS_TOO_OFTEN, /* not tried: too many passwords that were not known came before */
} TideAccess;

/* A hash may take a quarter of a second, in which the server's thread serves nobody. */
#define TIDE_ACCESS_BURST 2

/**
 * tide_access_list_parse: @text is what the file @name holds.
 * Errors: CONFIG, with the line; none holds a part of the text. Ownership: (transfer full).
 */
TideAccessList *tide_access_list_parse(const char *text, const char *name, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The same of the file at @path; errors also as tide_secret_read_file(). */
TideAccessList *tide_access_list_read(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_access_list_free(TideAccessList *list); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideAccessList, tide_access_list_free)

/* @list is read again after @old: whose line is the same is known as before, and no more tries are left than were. */
void tide_access_list_follow(TideAccessList *list, const TideAccessList *old);

/* @authorization: the header's value; data is NULL: there was none. Threads: one at a time. Blocks: while a password is
 * hashed, some 100 ms. */
TideAccess tide_access_list_judge(TideAccessList *list, TideBytes authorization, gint64 now_us);

/* What a client is told to send, "Basic ..." or "Bearer ...", in headers with their line ends. (transfer full) */
char *tide_access_list_challenge(const TideAccessList *list);

G_END_DECLS
