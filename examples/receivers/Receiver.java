import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Receives callbacks. It needs Java 17 and no libraries: {@code java Receiver.java}.
 *
 * <pre>
 *   WEBHOOK_SECRET   whsec_..., shown when the account was created; several secrets, separated by spaces, during a
 *                    rotation
 *   PORT             the port to listen on (default 8081)
 * </pre>
 *
 * The receiver processes each event once, even if it is delivered several times. It responds as soon as the event is
 * stored.
 */
public class Receiver {
  private static final long TOLERANCE_SECONDS = 300;
  private static final int MAX_BYTES = 64 * 1024 * 1024;

  private static final List<byte[]> SECRETS = new ArrayList<>();

  /**
   * The ids of processed events. In your program, use a unique column of the table that stores the events, and write
   * both in one transaction.
   */
  private static final Set<String> SEEN = new HashSet<>();

  public static void main(String[] arguments) throws IOException {
    for (String secret : System.getenv().getOrDefault("WEBHOOK_SECRET", "").split(" ")) {
      if (secret.startsWith("whsec_")) {
        SECRETS.add(Base64.getDecoder().decode(secret.substring("whsec_".length())));
      }
    }
    if (SECRETS.isEmpty()) {
      System.err.println("WEBHOOK_SECRET must be set");
      System.exit(1);
    }
    int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "8081"));
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.createContext("/", Receiver::receive);
    server.start();
    System.out.println("listening on " + server.getAddress().getPort());
  }

  private static void receive(HttpExchange exchange) throws IOException {
    try (exchange) {
      exchange.sendResponseHeaders(respond(exchange), -1);
    }
  }

  /** Returns the status of the response. */
  private static int respond(HttpExchange exchange) throws IOException {
    byte[] body;
    try (InputStream in = exchange.getRequestBody()) {
      body = in.readNBytes(MAX_BYTES + 1);
    }
    if (body.length > MAX_BYTES) {
      return 413;
    }
    String id = header(exchange, "webhook-id");
    String timestamp = header(exchange, "webhook-timestamp");
    String signatures = header(exchange, "webhook-signature");
    if (!exchange.getRequestMethod().equals("POST") || !isGenuine(id, timestamp, signatures, body)) {
      return 401;
    }
    synchronized (SEEN) {
      if (!SEEN.contains(id)) {
        take(id, new String(body, StandardCharsets.UTF_8));
        SEEN.add(id); // added last: if processing fails, the next attempt retries it
      }
    }
    return 204;
  }

  private static String header(HttpExchange exchange, String name) {
    String value = exchange.getRequestHeaders().getFirst(name);
    return value == null ? "" : value;
  }

  /**
   * Returns true if the service sent the request and sent it recently. The signature covers the received bytes, so the
   * body must not be parsed and serialized before this check.
   */
  private static boolean isGenuine(String id, String timestamp, String signatures, byte[] body) {
    if (!timestamp.matches("[0-9]{1,12}")) {
      return false;
    }
    long age = System.currentTimeMillis() / 1000 - Long.parseLong(timestamp);
    if (Math.abs(age) > TOLERANCE_SECONDS) {
      return false;
    }
    for (byte[] secret : SECRETS) {
      byte[] expected = ("v1," + sign(secret, id + "." + timestamp + ".", body)).getBytes(StandardCharsets.US_ASCII);
      for (String given : signatures.split(" ")) {
        // This comparison takes the same time wherever the two differ.
        if (MessageDigest.isEqual(given.getBytes(StandardCharsets.US_ASCII), expected)) {
          return true;
        }
      }
    }
    return false;
  }

  private static String sign(byte[] secret, String prefix, byte[] body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret, "HmacSHA256"));
      mac.update(prefix.getBytes(StandardCharsets.UTF_8));
      return Base64.getEncoder().encodeToString(mac.doFinal(body));
    } catch (GeneralSecurityException error) {
      throw new IllegalStateException(error); // Every Java has HmacSHA256.
    }
  }

  /**
   * Processes an event; replace this with your own code. Java's standard library cannot parse JSON, so this example
   * prints the body as it is.
   */
  private static void take(String id, String body) {
    System.out.println("{\"id\":\"" + id + "\",\"event\":" + body + "}");
  }
}
