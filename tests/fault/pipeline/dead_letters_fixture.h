/* The pipeline's fixture with a topic of dead letters, and an HBase that refuses large cells. */
#pragma once

#include "fault/pipeline/pipeline_mixture.h"
#include "model/dead_letter.h"

G_BEGIN_DECLS

#define DEAD_LETTERS "letters"
#define TO_TOPIC "dead_letters: { topic: " DEAD_LETTERS ", max_ratio: 1 }\n"

/* What HBase takes in one cell, in these tests. */
#define MAX_CELL_BYTES 100

void dead_letters_fixture_set_up(PipelineFixture *fixture, gconstpointer data);

/* A value that HBase refuses. (transfer full) */
char *dead_letters_fixture_oversized(void);

/* All dead letters, in their order. (transfer full) (element-type TideMockRecord) */
GPtrArray *dead_letters_fixture_read(PipelineFixture *fixture);

void dead_letters_fixture_assert_bytes(GBytes *found, TideBytes wanted);
/* @wanted: NULL: there is no such header. */
void dead_letters_fixture_assert_header(const TideMockRecord *dead_letter, const char *name, const char *wanted);
/* Exactly one dead letter, of that message, for a row that was refused. */
void dead_letters_fixture_assert_only(PipelineFixture *fixture, const char *partition, const char *offset);
/* @wanted: NULL: there is no such cell. */
void dead_letters_fixture_assert_value(PipelineFixture *fixture, const char *table, const char *row,
                                       const char *qualifier, const char *wanted);

/* Over all its series. */
guint64 dead_letters_fixture_sum(RunningPipeline *running, const char *metric);

G_END_DECLS
