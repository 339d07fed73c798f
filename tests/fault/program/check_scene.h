/* A configuration with all that it needs around it, good or with defects: what `tidemark check` and `tidemark run` are
 * both put before, to see that the one finds what the other stumbles over. */
#pragma once

#include "fault/gateway/scripted_gateway.h"
#include "fault/kafka/mock_kafka.h"

G_BEGIN_DECLS

#define CHECK_SCENE_GATEWAYS 2

typedef struct CheckScene {
  char *directory; /* owned: its own; the configuration lies there */
  TideMockKafka *kafka;
  TideScriptedGateway *gateways[CHECK_SCENE_GATEWAYS]; /* before one HBase */
  GRand *random;

  /* The sections of the configuration; owned. */
  char *brokers;
  char *topics;     /* within brackets */
  char *kafka_more; /* ", option: value" */
  char *properties; /* of librdkafka, within braces */
  char *gateway_list;
  char *hbase_more;
  char *readings;
  char *tables;
  char *dead_letters; /* within braces */
  char *limits;
  char *service;
  char *more; /* at the top level */

  /* How the program is run. */
  guint mode;              /* of the configuration's file */
  gboolean as_nobody;      /* where the test is root, whom no right is denied */
  gboolean from_stdin;     /* the configuration comes from /dev/stdin */
  char *state_directory;   /* owned: $STATE_DIRECTORY; NULL: unset */
  char *working_directory; /* owned */
  int held_fd;             /* a lock or socket that is in the way; -1: none */
} CheckScene;

/* Something wrong, or unusual. */
typedef struct CheckDefect {
  const char *name;
  const char *named;  /* check says this of it; NULL: it is not wrong, so that check says nothing */
  const char *stands; /* the run says this when it is halted over it; NULL: it goes on, or ends */
  glong sets;         /* the offset of a section that has @text in place of its own; 0: none */
  glong adds;         /* likewise of one that has @text behind its own */
  const char *text;
  gboolean as_nobody;
  void (*apply)(CheckScene *scene); /* what else is done; NULL: nothing */
} CheckDefect;

const CheckDefect *check_scene_defects(guint *ret_n);
void check_scene_apply(CheckScene *scene, const CheckDefect *defect);

/* A good one: brokers with the topics "metrics" and "letters", two gateways, the tables, one good message and one that
 * becomes a dead letter. What does not matter is drawn from @seed. */
CheckScene *check_scene_new(guint32 seed);
void check_scene_free(CheckScene *scene);

/* Writes the configuration, and gives all files to whom the program is to run as. Returns: (transfer full): its text */
char *check_scene_write(CheckScene *scene);
char *check_scene_config_path(const CheckScene *scene); /* (transfer full) */

/* @name in its directory. (transfer full) */
char *check_scene_path(const CheckScene *scene, const char *name);

/* For defects: @value (transfer full) in place of what stands there; @more behind it. */
void check_scene_set(char **text, char *value);
void check_scene_add(char **text, const char *more);

/* In its directory. */
void check_scene_write_file(const CheckScene *scene, const char *name, const char *text, guint mode);
char *check_scene_make_directory(const CheckScene *scene, const char *name, guint mode); /* (transfer full): its path */

G_END_DECLS
