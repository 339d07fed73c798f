import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Properties;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.BufferedMutatorParams;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * The benchmark's peer in Java: KafkaConsumer and BufferedMutator, as HBase's and Kafka's own guides write it.
 *
 * <pre>JavaConsumer BROKERS ZOOKEEPER_PORT      then see Rounds</pre>
 *
 * Each poll's readings are put into both tables, flushed, and only then committed.
 */
public final class JavaConsumer {
  private static final byte[] FAMILY = Bytes.toBytes("M");

  // Both defaults (500 records, 2 MB) would be slower: fewer and larger calls to HBase, fewer commits.
  private static final int POLL_RECORDS = 5000;
  private static final long WRITE_BUFFER_BYTES = 8 << 20;

  private static final Duration POLL_TIMEOUT = Duration.ofSeconds(1);

  // A topic that ends before the messages that were asked for is a mistake of the caller's.
  private static final int EMPTY_POLLS_BEFORE_GIVING_UP = 30;

  private final String brokers;
  private final Connection hbase;
  private final JsonFactory json = new JsonFactory();

  private JavaConsumer(String brokers, Connection hbase) {
    this.brokers = brokers;
    this.hbase = hbase;
  }

  public static void main(String[] args) {
    Rounds.runAndExit(() -> start(args[0], args[1]));
  }

  private static void start(String brokers, String zooKeeperPort) throws Exception {
    Configuration configuration = HBaseConfiguration.create();
    configuration.set(HConstants.ZOOKEEPER_QUORUM, "127.0.0.1");
    configuration.set(HConstants.ZOOKEEPER_CLIENT_PORT, zooKeeperPort);
    try (Connection hbase = ConnectionFactory.createConnection(configuration)) {
      JavaConsumer consumer = new JavaConsumer(brokers, hbase);
      Rounds.serve(consumer::run);
    }
  }

  private Rounds.Result run(Rounds.Round round) throws IOException {
    try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings(round.history()));
        BufferedMutator history = mutator(round.history());
        BufferedMutator latest = mutator(round.latest())) {
      consumer.subscribe(List.of(round.topic()));
      ConsumerRecords<byte[], byte[]> records = pollUntilRecords(consumer);
      long startedNs = System.nanoTime();
      double cpuBefore = Rounds.cpuSeconds();
      long readings = 0;
      while (true) {
        for (ConsumerRecord<byte[], byte[]> record : records) {
          put(record.value(), history, latest);
        }
        history.flush();
        latest.flush();
        consumer.commitSync();
        readings += records.count();
        if (readings >= round.messages()) {
          break;
        }
        records = pollUntilRecords(consumer);
      }
      return new Rounds.Result(readings, (System.nanoTime() - startedNs) / 1e9, Rounds.cpuSeconds() - cpuBefore);
    }
  }

  private static ConsumerRecords<byte[], byte[]> pollUntilRecords(KafkaConsumer<byte[], byte[]> consumer) {
    for (int i = 0; i < EMPTY_POLLS_BEFORE_GIVING_UP; i++) {
      ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL_TIMEOUT);
      if (!records.isEmpty()) {
        return records;
      }
    }
    throw new IllegalStateException("the topic has fewer messages than the round asks for");
  }

  /** A reading becomes a row of each table, a cell for each value, with the reading's time and the value's own text. */
  private void put(byte[] message, BufferedMutator history, BufferedMutator latest) throws IOException {
    try (JsonParser parser = json.createParser(message)) {
      parser.nextToken();
      parser.nextFieldName();
      String host = parser.nextTextValue();
      parser.nextFieldName();
      long timestampMs = parser.nextLongValue(0);
      Put row = new Put(Bytes.toBytes(host + "#" + timestampMs), timestampMs);
      Put newest = new Put(Bytes.toBytes(host), timestampMs);
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        byte[] qualifier = Bytes.toBytes(parser.currentName());
        parser.nextToken();
        byte[] value = parser.getText().getBytes(StandardCharsets.UTF_8);
        row.addColumn(FAMILY, qualifier, value);
        newest.addColumn(FAMILY, qualifier, value);
      }
      history.mutate(row);
      latest.mutate(newest);
    }
  }

  private BufferedMutator mutator(String table) throws IOException {
    return hbase.getBufferedMutator(
        new BufferedMutatorParams(TableName.valueOf(table)).writeBufferSize(WRITE_BUFFER_BYTES));
  }

  private Properties settings(String group) {
    Properties settings = new Properties();
    settings.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers);
    settings.put(ConsumerConfig.GROUP_ID_CONFIG, group);
    settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
    settings.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, POLL_RECORDS);
    settings.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    settings.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    return settings;
  }
}
