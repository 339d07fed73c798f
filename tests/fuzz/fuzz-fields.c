/* Random JSON messages whose fields go through steps; the first byte chooses which. */
#include "decode/field_steps.h"
#include "fuzz/decoder_fuzzing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char o[] = "o", l[] = "l", p[] = "p", s[] = "s", opened[] = "o/", inner[] = "o/o", listed[] = "l/",
            nothing[] = "", member[] = "n", v[] = "v", w[] = "w/x", by[] = "||", left_out[] = TIDE_NO_NAME, a[] = "a",
            b[] = "b", nan_word[] = "NaN", gone[] = "N/A";
static char *values[] = {v, w, NULL}, *parts[] = {a, left_out, b, NULL}, *words[] = {nan_word, gone, nothing, NULL};
static guint32 cuts[] = {2, 5};

static TideFieldStep steps[] = {
    {.verb = TIDE_FIELD_OPEN, .field = o, .prefix = opened},
    {.verb = TIDE_FIELD_OPEN, .field = inner, .prefix = nothing},
    {.verb = TIDE_FIELD_PIVOT, .field = l, .prefix = listed, .name = member, .values = values},
    {.verb = TIDE_FIELD_PIVOT, .field = p, .prefix = nothing, .names = member},
    {.verb = TIDE_FIELD_SPLIT, .field = s, .parts = parts, .by = by},
    {.verb = TIDE_FIELD_SPLIT, .field = v, .parts = parts, .cuts = cuts},
    {.verb = TIDE_FIELD_DECIMAL, .field = b, .scale = 3},
    {.verb = TIDE_FIELD_RESOLVE},
};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  g_autoptr(GArray) chosen = g_array_new(FALSE, FALSE, sizeof(TideFieldStep));
  guint first = size > 0 ? data[0] & 7 : 0;
  gboolean takes_all = size > 0 && (data[0] & 8) != 0;
  g_array_append_vals(chosen, steps + first, takes_all ? (guint)G_N_ELEMENTS(steps) - first : 1);
  fuzz_fields = (TideFieldOptions){.null_values = words, .nan_is_null = TRUE, .steps = chosen};
  /* SenML needs a time of the record unless the message has one. */
  return fuzz_decoder(TIDE_FORMAT_JSON, TIDE_BYTES_LITERAL("[{\"bt\":1e9}]"), data, size);
}
