# Receives callbacks. It needs only Ruby's standard library: `ruby receiver.rb`.
#
#   WEBHOOK_SECRET   whsec_..., shown when the account was created; several secrets, separated by spaces, during a
#                    rotation
#   PORT             the port to listen on (default 8081)
#
# The receiver processes each event once, even if it is delivered several times. It responds as soon as the event is
# stored. Ruby's standard library has no web server, so this file reads HTTP itself. In your program, a framework such
# as Rails does so: `request.raw_post` is the body.

require "json"
require "openssl"
require "socket"
require "timeout"

TOLERANCE_SECONDS = 300
MAX_BYTES = 64 * 1024 * 1024

SECRETS = ENV.fetch("WEBHOOK_SECRET", "").split.filter_map do |secret|
  secret.delete_prefix("whsec_").unpack1("m") if secret.start_with?("whsec_")
end
abort "WEBHOOK_SECRET must be set" if SECRETS.empty?

# The ids of processed events. In your program, use a unique column of the table that stores the events, and write
# both in one transaction.
SEEN = {}
LOCK = Mutex.new

# Returns true if the service sent the request and sent it recently. The signature covers the received bytes, so the
# body must not be parsed and serialized before this check.
def genuine?(headers, body)
  timestamp = headers["webhook-timestamp"].to_s
  return false unless timestamp.match?(/\A[0-9]{1,12}\z/)
  return false if (Time.now.to_i - timestamp.to_i).abs > TOLERANCE_SECONDS

  signed = "#{headers["webhook-id"]}.#{timestamp}.".b + body
  given = headers["webhook-signature"].to_s.split.filter_map { |entry| entry[3..] if entry.start_with?("v1,") }
  SECRETS.any? do |secret|
    expected = [OpenSSL::HMAC.digest("SHA256", secret, signed)].pack("m0")
    given.any? { |entry| OpenSSL.secure_compare(entry, expected) }
  end
end

# Processes an event; replace this with your own code.
def take(id, body)
  event = JSON.parse(body)
  message = event["message"] || {}
  what = event["uid"] || message["id"] || event["type"]
  puts JSON.generate(id: id, what: what, status: event["status"] || message["status"])
end

# Reads a request. Returns its method, headers and body.
def read_request(client)
  method = client.gets("\r\n", 8192).to_s.split.first
  headers = {}
  while (line = client.gets("\r\n", 8192)&.chomp) && !line.empty?
    name, value = line.split(":", 2)
    headers[name.downcase] = value.to_s.strip
  end
  length = headers["content-length"].to_i
  [method, headers, length > MAX_BYTES ? nil : client.read(length).to_s]
end

# Returns the status of the response.
def receive(client)
  method, headers, body = read_request(client)
  return "413 Content Too Large" if body.nil?
  return "401 Unauthorized" if method != "POST" || !genuine?(headers, body)

  id = headers["webhook-id"]
  LOCK.synchronize do
    unless SEEN[id]
      take(id, body)
      SEEN[id] = true # added last: if processing fails, the next attempt retries it
    end
  end
  "204 No Content"
rescue JSON::ParserError
  "500 Internal Server Error"
end

$stdout.sync = true
server = TCPServer.new("127.0.0.1", ENV.fetch("PORT", "8081").to_i)
puts "listening on #{server.addr[1]}"
loop do
  Thread.new(server.accept) do |client|
    status = Timeout.timeout(60) { receive(client) }
    client.write("HTTP/1.1 #{status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
  rescue Timeout::Error, SystemCallError
    # The sender attempts the delivery again.
  ensure
    client.close
  end
end
