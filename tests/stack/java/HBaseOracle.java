import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.quotas.QuotaSettingsFactory;
import org.apache.hadoop.hbase.quotas.SpaceViolationPolicy;
import org.apache.hadoop.hbase.quotas.ThrottleType;
import org.apache.hadoop.hbase.security.access.Permission;
import org.apache.hadoop.hbase.security.access.UserPermission;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Says what is in HBase, by HBase's own Java client straight from the region server: neither the gateway nor any code
 * of tidemark is on the way, so a fault there cannot hide itself.
 *
 * <pre>HBaseOracle ZOOKEEPER_PORT serve            answers each line of stdin by lines and 'OK' or 'ERR text'
 * HBaseOracle ZOOKEEPER_PORT COMMAND WORD...  runs one command</pre>
 *
 * Row keys, qualifiers and values are written and read as hexadecimal digits.
 */
public final class HBaseOracle {
  private static final String USAGE = String.join("\n",
      "answers are lines of fields with tabs between; commands:",
      "dump TABLE [--start HEX] [--stop HEX]   every cell of every version: row, family, qualifier, time stamp, value",
      "count TABLE                             number of rows, number of cells",
      "digest TABLE                            rows, cells, SHA-256 over the lines of dump",
      "create TABLE FAMILY [SPLIT_HEX...]      one family with HBase's defaults, split at the given keys",
      "drop TABLE | truncate TABLE | enable TABLE | disable TABLE",
      "snapshot TABLE NAME | restore TABLE NAME | clone TABLE NAME   restore replaces the content, clone makes TABLE",
      "describe TABLE                          one line per attribute, family and region",
      "flush TABLE | major-compact TABLE       return when done",
      "split TABLE HEX                         at this key; returns when both halves are online",
      "unassign TABLE HEX | assign TABLE HEX   the region of this key, offline or online",
      "move-region TABLE HEX                   to another server, whose name is the answer; offline and online where there is one",
      "set TABLE NAME VALUE                    an attribute, READONLY for instance, or a setting of HBase's for this table alone",
      "limit-space TABLE BYTES POLICY          a space quota, with the policy when it is passed; HBase must have quotas",
      "limit-rate TABLE TYPE N                 a quota of N in an hour, of WRITE_NUMBER for instance; HBase must have quotas",
      "grant TABLE USER ACTIONS                as the shell's grant, ACTIONS of the letters RWXCA; HBase must check rights",
      "tables");

  private static final long COMPACTION_DEADLINE_MS = TimeUnit.MINUTES.toMillis(5);
  private static final long COMPACTION_LOOK_MS = 50;
  private static final int SCAN_CACHING_ROWS = 1000;

  private final Connection connection;
  private final Admin admin;
  private final PrintWriter out;

  private HBaseOracle(Connection connection, PrintWriter out) throws IOException {
    this.connection = connection;
    this.admin = connection.getAdmin();
    this.out = out;
  }

  public static void main(String[] args) throws Exception {
    if (args.length < 2) {
      System.err.println("usage: HBaseOracle ZOOKEEPER_PORT serve|COMMAND...\n" + USAGE);
      System.exit(64);
    }
    PrintWriter out = new PrintWriter(new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8)));
    boolean done;
    try (Connection connection = connect(args[0])) {
      HBaseOracle oracle = new HBaseOracle(connection, out);
      List<String> words = Arrays.asList(args).subList(1, args.length);
      done = words.get(0).equals("serve") ? oracle.serve() : oracle.runAndReport(words);
    }
    System.exit(done ? 0 : 1);
  }

  private static Connection connect(String zooKeeperPort) throws IOException {
    Configuration configuration = HBaseConfiguration.create();
    configuration.set(HConstants.ZOOKEEPER_QUORUM, "127.0.0.1");
    configuration.set(HConstants.ZOOKEEPER_CLIENT_PORT, zooKeeperPort);
    return ConnectionFactory.createConnection(configuration);
  }

  /** Answers until the end of input, so that many questions cost one start of the virtual machine. */
  private boolean serve() throws IOException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      try {
        run(List.of(line.trim().split(" +")));
        out.println("OK");
      } catch (Exception error) {
        out.println("ERR " + onOneLine(error));
      }
      out.flush();
    }
    return true;
  }

  private boolean runAndReport(List<String> words) {
    try {
      run(words);
      return true;
    } catch (Exception error) {
      System.err.println("HBaseOracle: " + onOneLine(error));
      return false;
    } finally {
      out.flush();
    }
  }

  private static String onOneLine(Exception error) {
    String text = error instanceof IllegalArgumentException ? error.getMessage() : error.toString();
    return text.replaceAll("\\s*\\R\\s*", " | ");
  }

  private void run(List<String> words) throws Exception {
    String command = words.get(0);
    if (command.equals("tables")) {
      Arrays.stream(admin.listTableNames()).forEach(out::println);
      return;
    }
    if (words.size() < 2) {
      throw new IllegalArgumentException("unknown command, or no table given: '" + String.join(" ", words) + "'");
    }
    TableName table = TableName.valueOf(words.get(1));
    List<String> rest = words.subList(2, words.size());
    switch (command) {
      case "dump" -> scan(table, rest, this::printCell);
      case "count" -> count(table);
      case "digest" -> digest(table);
      case "create" -> create(table, rest);
      case "drop" -> drop(table);
      case "truncate" -> truncate(table);
      case "enable" -> admin.enableTable(table);
      case "disable" -> admin.disableTable(table);
      case "snapshot" -> admin.snapshot(rest.get(0), table);
      case "restore" -> restore(table, rest.get(0));
      case "clone" -> admin.cloneSnapshot(rest.get(0), table);
      case "describe" -> describe(table);
      case "flush" -> admin.flush(table);
      case "major-compact" -> majorCompact(table);
      case "split" -> admin.splitRegionAsync(regionOf(table, rest).getRegionName(), key(rest)).get();
      case "unassign" -> admin.unassign(regionOf(table, rest).getRegionName());
      case "assign" -> admin.assign(regionOf(table, rest).getRegionName());
      case "set" -> set(table, rest);
      case "limit-space" -> limitSpace(table, rest);
      case "limit-rate" -> limitRate(table, rest);
      case "grant" -> grant(table, rest);
      case "move-region" -> moveRegion(table, regionOf(table, rest));
      default -> throw new IllegalArgumentException("unknown command '" + command + "'");
    }
  }

  /** What is done with each cell, in the order of the table. */
  private interface CellVisitor {
    void visit(Cell cell);
  }

  private static final class Totals {
    long rows;
    long cells;
  }

  private Totals scan(TableName name, List<String> options, CellVisitor visitor) throws IOException {
    Totals totals = new Totals();
    Scan scan = new Scan().readAllVersions().setCaching(SCAN_CACHING_ROWS).setCacheBlocks(false);
    applyBounds(scan, options);
    try (Table table = connection.getTable(name); ResultScanner results = table.getScanner(scan)) {
      for (Result result : results) {
        totals.rows++;
        for (Cell cell : result.rawCells()) {
          totals.cells++;
          visitor.visit(cell);
        }
      }
    }
    return totals;
  }

  private static void applyBounds(Scan scan, List<String> options) {
    for (int i = 0; i < options.size(); i += 2) {
      if (i + 1 == options.size()) {
        throw new IllegalArgumentException("'" + options.get(i) + "' needs a value");
      }
      byte[] bound = Bytes.fromHex(options.get(i + 1));
      switch (options.get(i)) {
        case "--start" -> scan.withStartRow(bound);
        case "--stop" -> scan.withStopRow(bound);
        default -> throw new IllegalArgumentException("unknown option '" + options.get(i) + "'");
      }
    }
  }

  private static String lineOf(Cell cell) {
    return String.join("\t",
        Bytes.toHex(CellUtil.cloneRow(cell)),
        Bytes.toString(CellUtil.cloneFamily(cell)),
        Bytes.toHex(CellUtil.cloneQualifier(cell)),
        Long.toString(cell.getTimestamp()),
        Bytes.toHex(CellUtil.cloneValue(cell)));
  }

  private void printCell(Cell cell) {
    out.println(lineOf(cell));
  }

  private void count(TableName table) throws IOException {
    Totals totals = scan(table, List.of(), cell -> { });
    out.println(totals.rows + "\t" + totals.cells);
  }

  /** HBase returns cells sorted and once each: equal contents give equal digests whatever the order of writing. */
  private void digest(TableName table) throws Exception {
    MessageDigest sha = MessageDigest.getInstance("SHA-256");
    Totals totals = scan(table, List.of(), cell -> sha.update((lineOf(cell) + "\n").getBytes(StandardCharsets.UTF_8)));
    out.println(totals.rows + "\t" + totals.cells + "\t" + Bytes.toHex(sha.digest()));
  }

  private void create(TableName table, List<String> words) throws IOException {
    if (words.isEmpty()) {
      throw new IllegalArgumentException("create needs a family");
    }
    TableDescriptor descriptor = TableDescriptorBuilder.newBuilder(table)
        .setColumnFamily(ColumnFamilyDescriptorBuilder.of(words.get(0)))
        .build();
    byte[][] splits = words.stream().skip(1).map(Bytes::fromHex).toArray(byte[][]::new);
    if (splits.length == 0) {
      admin.createTable(descriptor);
    } else {
      admin.createTable(descriptor, splits);
    }
  }

  private void drop(TableName table) throws IOException {
    if (admin.isTableEnabled(table)) {
      admin.disableTable(table);
    }
    admin.deleteTable(table);
  }

  private void truncate(TableName table) throws IOException {
    if (admin.isTableEnabled(table)) {
      admin.disableTable(table);
    }
    admin.truncateTable(table, /* preserveSplits= */ true);
  }

  private void restore(TableName table, String snapshot) throws IOException {
    admin.disableTable(table);
    admin.restoreSnapshot(snapshot);
    admin.enableTable(table);
  }

  private void set(TableName table, List<String> words) throws IOException {
    admin.modifyTable(TableDescriptorBuilder.newBuilder(admin.getDescriptor(table)).setValue(words.get(0), words.get(1)).build());
  }

  private void limitSpace(TableName table, List<String> words) throws IOException {
    admin.setQuota(QuotaSettingsFactory.limitTableSpace(
        table, Long.parseLong(words.get(0)), SpaceViolationPolicy.valueOf(words.get(1))));
  }

  private void limitRate(TableName table, List<String> words) throws IOException {
    admin.setQuota(QuotaSettingsFactory.throttleTable(
        table, ThrottleType.valueOf(words.get(0)), Long.parseLong(words.get(1)), TimeUnit.HOURS));
  }

  private void grant(TableName table, List<String> words) throws IOException {
    if (words.size() != 2) {
      throw new IllegalArgumentException("grant needs a user and what is granted");
    }
    Permission.Action[] actions = words.get(1).chars()
        .mapToObj(letter -> Arrays.stream(Permission.Action.values()).filter(action -> action.code() == letter).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("no right has the letter " + (char) letter)))
        .toArray(Permission.Action[]::new);
    admin.grant(new UserPermission(words.get(0), Permission.newBuilder(table).withActions(actions).build()), false);
  }

  private void describe(TableName table) throws IOException {
    TableDescriptor descriptor = admin.getDescriptor(table);
    descriptor.getValues().forEach((name, value) -> out.println("attribute\t" + name + "\t" + value));
    for (var family : descriptor.getColumnFamilies()) {
      String settings = family.getValues().entrySet().stream()
          .map(Map.Entry::toString).sorted().collect(Collectors.joining("\t"));
      out.println("family\t" + family.getNameAsString() + "\t" + settings);
    }
    for (RegionInfo region : admin.getRegions(table)) {
      out.println("region\t" + Bytes.toHex(region.getStartKey()) + "\t" + Bytes.toHex(region.getEndKey()));
    }
  }

  /** The request returns at once and the state stays NONE for a moment: the age of the files tells the end. */
  private void majorCompact(TableName table) throws Exception {
    admin.flush(table);
    Map<String, Long> before = new HashMap<>();
    for (RegionMetrics region : regionMetrics(table)) {
      before.put(region.getNameAsString(), region.getLastMajorCompactionTimestamp());
    }
    admin.majorCompact(table);
    long giveUpAt = System.currentTimeMillis() + COMPACTION_DEADLINE_MS;
    while (!isCompactedSince(table, before)) {
      if (System.currentTimeMillis() > giveUpAt) {
        throw new IOException("the compaction of " + table + " has not ended in time");
      }
      Thread.sleep(COMPACTION_LOOK_MS);
    }
  }

  private boolean isCompactedSince(TableName table, Map<String, Long> before) throws IOException {
    for (RegionMetrics region : regionMetrics(table)) {
      boolean compacted = region.getLastMajorCompactionTimestamp() > before.getOrDefault(region.getNameAsString(), 0L);
      if (region.getStoreFileCount() > 0 && !compacted) {
        return false;
      }
    }
    return admin.getCompactionState(table) == CompactionState.NONE;
  }

  /** Asked of the region servers, not of the master, whose figures are those of the last heartbeat. */
  private List<RegionMetrics> regionMetrics(TableName table) throws IOException {
    List<RegionMetrics> metrics = new ArrayList<>();
    for (ServerName server : admin.getRegionServers()) {
      metrics.addAll(admin.getRegionMetrics(server, table));
    }
    return metrics;
  }

  private void moveRegion(TableName table, RegionInfo region) throws IOException {
    ServerName here;
    try (RegionLocator locator = connection.getRegionLocator(table)) {
      here = locator.getRegionLocation(region.getStartKey(), /* reload= */ true).getServerName();
    }
    Optional<ServerName> other = admin.getRegionServers().stream().filter(server -> !server.equals(here)).findFirst();
    if (other.isPresent()) {
      admin.move(region.getEncodedNameAsBytes(), other.get());
    } else {
      admin.unassign(region.getRegionName());
      admin.assign(region.getRegionName());
    }
    out.println(other.orElse(here).getAddress());
  }

  private static byte[] key(List<String> words) {
    return words.isEmpty() ? HConstants.EMPTY_BYTE_ARRAY : Bytes.fromHex(words.get(0));
  }

  private RegionInfo regionOf(TableName table, List<String> words) throws IOException {
    byte[] row = key(words);
    return admin.getRegions(table).stream().filter(region -> region.containsRow(row)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no region of " + table + " holds " + Bytes.toHex(row)));
  }
}
