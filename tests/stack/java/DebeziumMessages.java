import io.debezium.data.Envelope;
import io.debezium.time.MicroTimestamp;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Map;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.json.JsonConverter;

/**
 * Writes changes of a row as Debezium does: its own envelope, by the JSON converter of Kafka Connect.
 *
 * <p>DebeziumMessages SCHEMAS_ENABLE &lt; CHANGES &gt; RECORDS. A change is a line of an operation (c, u, d), the row's id, its name, its
 * price with two digits behind the point, and a local time in microseconds, with tabs between them; of a deleted row the columns
 * are those it had. A record is a line of its key and its value in hex; a delete is two records, and the second has no value.
 */
public final class DebeziumMessages {
    private static final Schema ROW = SchemaBuilder.struct().name("shop.public.parts.Value").optional()
        .field("id", Schema.INT32_SCHEMA)
        .field("name", Schema.OPTIONAL_STRING_SCHEMA)
        .field("price", Decimal.builder(2).optional().build())
        .field("changed", MicroTimestamp.builder().optional().build())
        .build();
    private static final Schema KEY = SchemaBuilder.struct().name("shop.public.parts.Key")
        .field("id", Schema.INT32_SCHEMA).build();
    private static final Schema SOURCE = SchemaBuilder.struct().name("io.debezium.connector.postgresql.Source")
        .field("connector", Schema.STRING_SCHEMA)
        .field("lsn", Schema.OPTIONAL_INT64_SCHEMA)
        .build();
    private static final Envelope ENVELOPE =
        Envelope.defineSchema().withName("shop.public.parts.Envelope").withRecord(ROW).withSource(SOURCE).build();

    private static Struct row(String[] words) {
        return new Struct(ROW).put("id", Integer.parseInt(words[1])).put("name", words[2])
            .put("price", new BigDecimal(words[3])).put("changed", Long.parseLong(words[4]));
    }

    private static Struct event(String[] words, long lsn) {
        Struct source = new Struct(SOURCE).put("connector", "postgresql").put("lsn", lsn);
        Instant now = Instant.ofEpochMilli(Long.parseLong(words[4]) / 1000);
        switch (words[0]) {
            case "c":
                return ENVELOPE.create(row(words), source, now);
            case "u":
                return ENVELOPE.update(null, row(words), source, now);
            case "d":
                return ENVELOPE.delete(row(words), source, now);
            default:
                throw new IllegalArgumentException("unknown operation " + words[0]);
        }
    }

    public static void main(String[] arguments) throws Exception {
        JsonConverter keys = new JsonConverter();
        JsonConverter values = new JsonConverter();
        keys.configure(Map.of("schemas.enable", arguments[0]), true);
        values.configure(Map.of("schemas.enable", arguments[0]), false);
        HexFormat hex = HexFormat.of();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line;
        for (long lsn = 1; (line = lines.readLine()) != null; lsn++) {
            String[] words = line.split("\t");
            Struct key = new Struct(KEY).put("id", Integer.parseInt(words[1]));
            String keyText = hex.formatHex(keys.fromConnectData("shop.public.parts", KEY, key));
            Struct event = event(words, lsn);
            System.out.println(keyText + " " + hex.formatHex(values.fromConnectData("shop.public.parts", event.schema(), event)));
            if (words[0].equals("d")) {
                System.out.println(keyText + " -");
            }
        }
    }
}
