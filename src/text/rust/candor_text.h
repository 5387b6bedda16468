/* C ABI of the Rust static library: chat templates (minijinja) and pre-tokenizer splitting (regex-automata). Text is
 * UTF-8. No call unwinds, aborts or prints; a call that fails says why in a buffer. All functions are thread safe; an
 * object may be used by any number of threads at once and is freed once. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CandorTextTemplate CandorTextTemplate;
typedef struct CandorTextSplitter CandorTextSplitter;

typedef struct CandorTextSlice {
  const uint8_t* data;
  size_t size;
} CandorTextSlice;

/* Owned by the caller; released by candor_text_buffer_free. */
typedef struct CandorTextBuffer {
  uint8_t* data;
  size_t size;
  size_t capacity;
} CandorTextBuffer;

void candor_text_buffer_free(CandorTextBuffer buffer);

/* Compiles a chat template. NULL on failure, with the message in `error`. */
CandorTextTemplate* candor_text_template_new(CandorTextSlice source, CandorTextBuffer* error);
void candor_text_template_free(CandorTextTemplate* chat_template);

/* Renders with a JSON object of variables. `__now` (seconds, local time) is the clock of strftime_now; tojson leaves
 * the characters of the string `__keep` unescaped even where ensure_ascii is asked for. 1: `output` is the text; 0: it
 * is the message of the failure. */
int candor_text_template_render(const CandorTextTemplate* chat_template, CandorTextSlice variables,
                                CandorTextBuffer* output);

/* Compiles a sequence of split patterns; each one cuts the pieces that the one before left. NULL on failure. */
CandorTextSplitter* candor_text_splitter_new(const CandorTextSlice* patterns, size_t count, CandorTextBuffer* error);
void candor_text_splitter_free(CandorTextSplitter* splitter);

/* Cuts `text` (< 4 GiB) into words: matches and the gaps between them. 1: `output` holds the end offset of each word in
 * bytes, as uint32_t; 0: it is the message of the failure. */
int candor_text_splitter_split(const CandorTextSplitter* splitter, CandorTextSlice text, CandorTextBuffer* output);

/* Panics on purpose, inside the guard; returns 0 and the message. A test proves with it that no panic leaves the
 * library. */
int candor_text_panic_for_test(CandorTextBuffer* output);

#ifdef __cplusplus
}
#endif
