/* Readings for the tests of the pipeline that make order matter, and what they must leave in the tables. */
#pragma once

#include "fault/pipeline/pipeline_fixture.h"

G_BEGIN_DECLS

#define PIPELINE_BASE_MS G_GINT64_CONSTANT(1763700000000)

/* Readings of 8 hosts over both partitions, each host in one, from step @first on, some out of order and some twice:
 * one second and one reading a host and step. */
void pipeline_produce_mixture_from(PipelineFixture *fixture, guint first, guint n_steps);
void pipeline_produce_mixture(PipelineFixture *fixture, guint n_steps);

/* METRIC and CURRENT_METRIC are, cell by cell, what @n_steps of the mixture must leave. */
void pipeline_assert_tables(PipelineFixture *fixture, guint n_steps);

G_END_DECLS
