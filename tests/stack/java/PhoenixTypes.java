/* Decodes values by Phoenix's own data types. Each line of standard input is a type and the bytes in hexadecimal, each line of
 * output the value, or "refused" if the type does not accept these bytes. */

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.phoenix.schema.IllegalDataException;
import org.apache.phoenix.schema.types.PDataType;

public final class PhoenixTypes {
    private PhoenixTypes() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            System.out.println(decoded(PDataType.fromSqlTypeName(words[0]), Bytes.fromHex(words[1])));
        }
    }

    private static String decoded(PDataType<?> type, byte[] bytes) {
        try {
            return String.valueOf(type.toObject(bytes, 0, bytes.length));
        } catch (IllegalDataException error) {
            return "refused";
        }
    }
}
