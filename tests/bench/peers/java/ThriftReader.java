import java.nio.ByteBuffer;
import java.util.List;

import org.apache.hadoop.hbase.thrift2.generated.TColumnValue;
import org.apache.hadoop.hbase.thrift2.generated.THBaseService;
import org.apache.hadoop.hbase.thrift2.generated.TResult;
import org.apache.hadoop.hbase.thrift2.generated.TScan;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.layered.TFramedTransport;

/**
 * The benchmark's reader in Java: HBase's own Thrift client, one scanner from a table's beginning to its end.
 *
 * <pre>ThriftReader HOST PORT TABLE ROWS_A_PAGE TIMES</pre>
 *
 * Reads the table so many times, so that the last is as warm as it gets, and prints a line of JSON for each.
 */
public final class ThriftReader {
  private ThriftReader() {}

  public static void main(String[] args) throws Exception {
    TFramedTransport transport = new TFramedTransport(new TSocket(args[0], Integer.parseInt(args[1])), 1 << 26);
    transport.open();
    THBaseService.Client client = new THBaseService.Client(new TBinaryProtocol(transport));
    for (int time = 0; time < Integer.parseInt(args[4]); time++) {
      read(client, args[2], Integer.parseInt(args[3]));
    }
    transport.close();
  }

  private static void read(THBaseService.Client client, String table, int pageRows) throws Exception {
    com.sun.management.OperatingSystemMXBean system =
        (com.sun.management.OperatingSystemMXBean) java.lang.management.ManagementFactory.getOperatingSystemMXBean();
    long beganNs = System.nanoTime();
    long cpuNs = system.getProcessCpuTime();
    TScan scan = new TScan();
    scan.setCaching(pageRows);
    int scanner = client.openScanner(ByteBuffer.wrap(table.getBytes("UTF-8")), scan);
    long rows = 0;
    long bytes = 0;
    for (List<TResult> page = client.getScannerRows(scanner, pageRows); !page.isEmpty();
        page = client.getScannerRows(scanner, pageRows)) {
      rows += page.size();
      for (TResult row : page) {
        for (TColumnValue cell : row.getColumnValues()) {
          bytes += cell.getQualifier().length + cell.getValue().length;
        }
      }
    }
    client.closeScanner(scanner);
    System.out.printf("{\"rows\": %d, \"seconds\": %.6f, \"cpu_seconds\": %.6f, \"bytes\": %d}%n", rows,
        (System.nanoTime() - beganNs) / 1e9, (system.getProcessCpuTime() - cpuNs) / 1e9, bytes);
  }
}
