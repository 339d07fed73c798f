/* What HTTP clients send, and the file of those who may ask. The first byte says which; what is asked is judged by a
 * list of one token and one password, which no input can guess. */
#include "http/access_list.h"
#include "http/request_head.h"

#include <stdint.h>

#define LIST                                                                                                           \
  "t:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"                                               \
  "u:$2y$04$abcdefghijklmnopqrstuuabcdefghijklmnopqrstuvwxyzABCDE\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static gboolean
is_inside(TideBytes part, TideBytes whole)
{
  return part.data >= whole.data && part.data + part.len <= whole.data + whole.len;
}

static void
ask(TideAccessList *list, TideBytes bytes)
{
  TideRequestHead head;
  gsize len = tide_request_head_len(bytes);
  g_assert(len <= bytes.len);
  if (len == 0 || !tide_request_head_parse(tide_bytes(bytes.data, len), &head))
    return;
  g_assert(head.method.len > 0 && is_inside(head.method, bytes));
  g_assert(head.path.len > 0 && head.path.data[0] == '/' && (is_inside(head.path, bytes) || head.path.len == 1));
  g_assert(head.host.data == NULL || is_inside(head.host, bytes));
  (void)(head.host.data != NULL && tide_request_host_is_local(head.host));
  g_assert(head.authorization.data == NULL || is_inside(head.authorization, bytes));
  /* At one moment: few passwords are hashed, and the rest is as fast as it should be. */
  g_assert(tide_access_list_judge(list, head.authorization, 0) != TIDE_ACCESS_GRANTED);
}

static void
read_list(TideBytes bytes)
{
  g_autofree char *text = g_strndup((const char *)bytes.data, bytes.len);
  g_autoptr(GError) error = NULL;
  g_autoptr(TideAccessList) list = tide_access_list_parse(text, "users", &error);
  g_assert((list == NULL) == (error != NULL));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static TideAccessList *list;
  if (list == NULL)
    list = tide_access_list_parse(LIST, "users", NULL);
  g_assert(list != NULL);
  if (size > 0 && data[0] == 'L')
    read_list(tide_bytes(data + 1, size - 1));
  else if (size > 0)
    ask(list, tide_bytes(data + 1, size - 1));
  return 0;
}
