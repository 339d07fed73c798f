#include "decode/json_index.h"
#include "decode/utf8.h"

#include <memory>
#include <new>

#include <simdjson.h>

static_assert(TIDE_JSON_PADDING_BYTES >= simdjson::SIMDJSON_PADDING, "the kernels read further than we pad");

/* The text size that the first allocation is for. */
static constexpr gsize FIRST_CAPACITY_BYTES = 4096;

/* The first stage needs no stack of open brackets, but the parser requires one. */
static constexpr gsize UNUSED_DEPTH = 1;

struct TideJsonIndex {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
};

TideJsonIndex *
tide_json_index_new(void)
{
  auto *index = new (std::nothrow) TideJsonIndex;
  if (index == nullptr || simdjson::get_active_implementation()->create_dom_parser_implementation(
                              FIRST_CAPACITY_BYTES, UNUSED_DEPTH, index->parser) != simdjson::SUCCESS)
    g_error("out of memory for a JSON index");
  return index;
}

void
tide_json_index_free(TideJsonIndex *index)
{
  delete index;
}

static void
reserve(TideJsonIndex *index, gsize len)
{
  gsize capacity = index->parser->capacity();
  if (len <= capacity)
    return;
  capacity = MAX(len, capacity * 2);
  if (index->parser->set_capacity(MIN(capacity, simdjson::SIMDJSON_MAXSIZE_BYTES)) != simdjson::SUCCESS)
    g_error("out of memory for the JSON index of a message of %" G_GSIZE_FORMAT " bytes", len);
}

gboolean
tide_json_index_build(TideJsonIndex *index, const guint8 *text, gsize len, const guint32 **ret_offsets,
                      guint32 *ret_n_tokens)
{
  reserve(index, len);
  simdjson::error_code code = index->parser->stage1(text, len, simdjson::stage1_mode::regular);
  if (code != simdjson::SUCCESS && code != simdjson::EMPTY)
    return FALSE;
  guint32 n_tokens = code == simdjson::EMPTY ? 0 : index->parser->n_structural_indexes;
  /* simdjson has room for more than one offset after the last. */
  index->parser->structural_indexes[n_tokens] = static_cast<guint32>(len);
  *ret_offsets = index->parser->structural_indexes.get();
  *ret_n_tokens = n_tokens;
  return TRUE;
}

gboolean
tide_utf8_is_valid_at_length(const guint8 *text, gsize len)
{
  return simdjson::validate_utf8(reinterpret_cast<const char *>(text), len);
}
