/* A configuration and its surroundings, good or with defects, given to both `tidemark check` and `tidemark run` to see
 * that check finds whatever stops run. */
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
  gboolean as_nobody;      /* the test runs as root, who is never denied a right */
  gboolean from_stdin;     /* the configuration comes from /dev/stdin */
  char *state_directory;   /* owned: $STATE_DIRECTORY; NULL: unset */
  char *working_directory; /* owned */
  int held_fd;             /* a lock or socket that blocks the program; -1: none */
} CheckScene;

/* A defect, or something unusual. */
typedef struct CheckDefect {
  const char *name;
  const char *named;  /* what check reports; NULL: it is not a defect, and check reports nothing */
  const char *stands; /* what the run reports when it is halted by this defect; NULL: it continues or exits */
  glong sets;         /* the offset of the section that @text replaces; 0: none */
  glong adds;         /* the offset of the section to which @text is appended; 0: none */
  const char *text;
  gboolean as_nobody;
  void (*apply)(CheckScene *scene); /* further steps; NULL: none */
} CheckDefect;

const CheckDefect *check_scene_defects(guint *ret_n);
void check_scene_apply(CheckScene *scene, const CheckDefect *defect);

/* A scene without defects: brokers with the topics "metrics" and "letters", two gateways, the tables, a good message
 * and one that becomes a dead letter. Irrelevant details are drawn from @seed. */
CheckScene *check_scene_new(guint32 seed);
void check_scene_free(CheckScene *scene);

/* Writes the configuration, and gives all files to the user of the program. Returns: (transfer full): its text */
char *check_scene_write(CheckScene *scene);
char *check_scene_config_path(const CheckScene *scene); /* (transfer full) */

/* The path of @name in its directory. (transfer full) */
char *check_scene_path(const CheckScene *scene, const char *name);

/* For defects: replaces a text by @value (transfer full), or appends @more. */
void check_scene_set(char **text, char *value);
void check_scene_add(char **text, const char *more);

/* Writes a file in its directory. */
void check_scene_write_file(const CheckScene *scene, const char *name, const char *text, guint mode);
char *check_scene_make_directory(const CheckScene *scene, const char *name, guint mode); /* (transfer full): its path */

G_END_DECLS
