/* The users of the HTTP endpoint: names with hashed passwords, and hashed tokens, from a file.
 *
 * A line is NAME:HASH, as written by `htpasswd -B` and `mkpasswd`: bcrypt ($2y$), yescrypt ($y$) or SHA-512 ($6$) of a
 * password; or NAME:DIGEST, the SHA-256 of a bearer token in 64 hex digits. Empty lines and lines that begin with '#'
 * are ignored.
 *
 * Checking a password is as slow as guessing it. So a digest with a key of this process remembers the last correct
 * password of each user; other passwords are checked at most once a second, in bursts of two. Tokens are long and
 * random, so their hash is fast. */
#pragma once

#include "util/bytes.h"

G_BEGIN_DECLS

typedef struct TideAccessList TideAccessList;

typedef enum TideAccess {
  TIDE_ACCESS_GRANTED,
  TIDE_ACCESS_MISSING,   /* the request had no credentials */
  TIDE_ACCESS_WRONG,     /* unknown name, wrong password or wrong token */
  TIDE_ACCESS_TOO_OFTEN, /* not checked: too many wrong passwords came before */
} TideAccess;

/* Hashing may take a quarter of a second, during which the server's thread serves no other client. */
#define TIDE_ACCESS_BURST 2

/**
 * tide_access_list_parse: @text is the content of the file @name.
 * Errors: CONFIG, with the line; none contains a part of the text. Ownership: (transfer full).
 */
TideAccessList *tide_access_list_parse(const char *text, const char *name, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The same for the file at @path; errors also as tide_secret_read_file(). */
TideAccessList *tide_access_list_read(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void tide_access_list_free(TideAccessList *list); /* NULL ok */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TideAccessList, tide_access_list_free)

/* Call after reading @list again: unchanged lines keep their known passwords of @old, and the limit on tries
 * continues. */
void tide_access_list_follow(TideAccessList *list, const TideAccessList *old);

/* @authorization: the header's value; data is NULL: there was none. Threads: one at a time. Blocks: while a password is
 * hashed, some 100 ms. */
TideAccess tide_access_list_judge(TideAccessList *list, TideBytes authorization, gint64 now_us);

/* Response headers that ask for "Basic ..." or "Bearer ..." credentials, with their line ends. (transfer full) */
char *tide_access_list_challenge(const TideAccessList *list);

G_END_DECLS
