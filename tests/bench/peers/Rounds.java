import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.management.OperatingSystemMXBean;

/** How the benchmark talks to a peer in Java: each line of stdin is a round to run, each line of stdout what it took. */
final class Rounds {
  /**
   * What a round is to do.
   *
   * @param topic what is read, from its beginning
   * @param messages how many messages are read
   * @param columns the names of a reading's values
   * @param history the table that gets a row for each reading
   * @param latest the table that gets a row for each host
   */
  record Round(String topic, long messages, List<String> columns, String history, String latest) {}

  /** What a round took, from the first message at hand until all was written and committed; CPU is the whole process's. */
  record Result(long readings, double seconds, double cpuSeconds) {}

  /** The program that is measured. */
  interface Peer {
    Result run(Round round) throws Exception;
  }

  /** What `main` does. */
  interface Program {
    void run() throws Exception;
  }

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private Rounds() {}

  /** User and system time of all threads of this process so far. */
  static double cpuSeconds() {
    return SYSTEM.getProcessCpuTime() / 1e9;
  }

  /** Runs the program and ends the process, whatever threads a library leaves running; a failure's reason is on stderr. */
  static void runAndExit(Program program) {
    try {
      program.run();
      System.exit(0);
    } catch (Throwable failure) {
      failure.printStackTrace();
      System.exit(1);
    }
  }

  /** Runs rounds until the end of input. */
  static void serve(Peer peer) throws Exception {
    PrintStream answers = System.out;
    // What a library prints must not be taken for an answer.
    System.setOut(System.err);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      Result result = peer.run(MAPPER.readValue(line, Round.class));
      answers.println(MAPPER.writeValueAsString(Map.of(
          "readings", result.readings(), "seconds", result.seconds(), "cpu_seconds", result.cpuSeconds())));
      answers.flush();
    }
  }
}
