import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.AccessExecutionJobVertex;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamStatementSet;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/**
 * The benchmark's peer in Flink SQL: the connectors of Kafka and HBase, a statement set for both tables, a cluster in this JVM.
 *
 * <pre>FlinkSql BROKERS ZOOKEEPER_PORT      then see Rounds</pre>
 *
 * A round is a job that ends where the topic ended when the job began. Its time is that of its tasks, from the first that ran
 * to the last that finished, so neither planning nor deploying counts. There are no checkpoints, so no offsets are committed:
 * they would only cost it time. The last rows are written when the sink closes.
 */
public final class FlinkSql {
  private static final int PARALLELISM = 2;

  private final String brokers;
  private final String zooKeeperPort;
  private final MiniCluster cluster;

  private FlinkSql(String brokers, String zooKeeperPort, MiniCluster cluster) {
    this.brokers = brokers;
    this.zooKeeperPort = zooKeeperPort;
    this.cluster = cluster;
  }

  public static void main(String[] args) {
    Rounds.runAndExit(() -> start(args[0], args[1]));
  }

  private static void start(String brokers, String zooKeeperPort) throws Exception {
    Configuration configuration = new Configuration();
    configuration.set(RestOptions.BIND_PORT, "0");
    MiniClusterConfiguration plan = new MiniClusterConfiguration.Builder()
        .setConfiguration(configuration)
        .setNumTaskManagers(1)
        .setNumSlotsPerTaskManager(PARALLELISM)
        .build();
    try (MiniCluster cluster = new MiniCluster(plan)) {
      cluster.start();
      Rounds.serve(new FlinkSql(brokers, zooKeeperPort, cluster)::run);
    }
  }

  private Rounds.Result run(Rounds.Round round) throws Exception {
    JobGraph job = plan(round);
    double cpuBefore = Rounds.cpuSeconds();
    cluster.executeJobBlocking(job);
    double cpuSeconds = Rounds.cpuSeconds() - cpuBefore;
    double seconds = tasksTookMs(cluster.getArchivedExecutionGraph(job.getJobID()).get()) / 1e3;
    return new Rounds.Result(round.messages(), seconds, cpuSeconds);
  }

  private JobGraph plan(Rounds.Round round) {
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
    environment.setParallelism(PARALLELISM);
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    tables.executeSql(source(round));
    tables.executeSql(sink("history", round.history(), round.columns()));
    tables.executeSql(sink("latest", round.latest(), round.columns()));
    String cells = round.columns().stream().map(FlinkSql::quoted).collect(Collectors.joining(", "));
    StreamStatementSet statements = tables.createStatementSet();
    statements.addInsertSql("INSERT INTO history SELECT host || '#' || CAST(ts AS STRING), ROW(" + cells
        + "), TO_TIMESTAMP_LTZ(ts, 3) FROM readings");
    statements.addInsertSql("INSERT INTO latest SELECT host, ROW(" + cells + "), TO_TIMESTAMP_LTZ(ts, 3) FROM readings");
    statements.attachAsDataStream();
    return environment.getStreamGraph().getJobGraph();
  }

  private String source(Rounds.Round round) {
    List<String> columns = new ArrayList<>(List.of("host STRING", "ts BIGINT"));
    round.columns().forEach(name -> columns.add(quoted(name) + " STRING"));
    return "CREATE TABLE readings (" + String.join(", ", columns) + ") WITH ('connector' = 'kafka', 'format' = 'json'"
        + ", 'topic' = '" + round.topic() + "', 'properties.bootstrap.servers' = '" + brokers + "'"
        + ", 'properties.group.id' = '" + round.history() + "'"
        + ", 'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset')";
  }

  /** The buffer's default is 1,000 rows and 2 MB, which is slower; the size is set so that it is the rows that count. */
  private String sink(String name, String table, List<String> columns) {
    String cells = columns.stream().map(column -> quoted(column) + " STRING").collect(Collectors.joining(", "));
    return "CREATE TABLE " + name + " (rowkey STRING, M ROW<" + cells + ">"
        + ", event_time TIMESTAMP_LTZ(3) METADATA FROM 'timestamp'"
        + ", PRIMARY KEY (rowkey) NOT ENFORCED) WITH ('connector' = 'hbase-2.2', 'table-name' = '" + table + "'"
        + ", 'zookeeper.quorum' = '127.0.0.1:" + zooKeeperPort + "'"
        + ", 'sink.buffer-flush.max-rows' = '5000', 'sink.buffer-flush.max-size' = '16mb')";
  }

  private static String quoted(String name) {
    return "`" + name + "`";
  }

  /** From the first task that ran to the last that finished, by the clock of the cluster, which is this JVM's. */
  private static long tasksTookMs(AccessExecutionGraph job) {
    long firstMs = Long.MAX_VALUE;
    long lastMs = 0;
    for (AccessExecutionJobVertex vertex : job.getVerticesTopologically()) {
      for (AccessExecutionVertex task : vertex.getTaskVertices()) {
        firstMs = Math.min(firstMs, task.getStateTimestamp(ExecutionState.RUNNING));
        lastMs = Math.max(lastMs, task.getStateTimestamp(ExecutionState.FINISHED));
      }
    }
    return lastMs - firstMs;
  }
}
