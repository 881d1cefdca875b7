import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Creates a job, waits until it is translated, and prints the translation. It needs Java 17 and no libraries:
 * {@code java QuickStart.java}.
 *
 * <pre>
 *   DRAGOMAN_URL   the address of the server; with /sandbox at its end, the sandbox
 *   DRAGOMAN_KEY   the API key, as user:key
 * </pre>
 */
public class QuickStart {
  private static final String JOBS = System.getenv("DRAGOMAN_URL") + "/tapi/v2/mt_translation/";
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  public static void main(String[] arguments) throws Exception {
    // With a uid of your own, you can repeat a request that got no response: the job is created only once.
    String uid = UUID.randomUUID().toString();
    String body =
        """
        {"uid":"%s","text":"The house is big.","source_language":"en","target_language":"es"}
        """
            .formatted(uid);
    String job = call("POST", JOBS, body);
    while (!field(job, "status").equals("completed")) {
      if (field(job, "status").matches("failed|canceled")) {
        System.err.println("the job is " + field(job, "status"));
        System.exit(1);
      }
      Thread.sleep(500);
      job = call("GET", JOBS + uid + "/", null);
    }
    System.out.println(field(job, "translated_text"));
  }

  private static String call(String method, String url, String body) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .header("Authorization", "ApiKey " + System.getenv("DRAGOMAN_KEY"))
            .header("Content-Type", "application/json")
            .timeout(Duration.ofMinutes(1))
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> response = CLIENT.send(request, BodyHandlers.ofString());
    if (response.statusCode() >= 300) {
      System.err.println(response.statusCode() + ": " + response.body());
      System.exit(1);
    }
    return response.body();
  }

  /**
   * Returns a text of a JSON object. Java's standard library cannot parse JSON; in your program, use the parser that
   * it already has.
   */
  private static String field(String json, String name) {
    Matcher matcher = Pattern.compile("\"" + name + "\":\"((?:[^\"\\\\]|\\\\.)*)\"").matcher(json);
    return matcher.find() ? matcher.group(1) : "";
  }
}
