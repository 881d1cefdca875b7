# Creates a job, waits until it is translated, and prints the translation. It needs only Ruby's standard library:
# `ruby quick_start.rb`.
#
#   DRAGOMAN_URL   the address of the server; with /sandbox at its end, the sandbox
#   DRAGOMAN_KEY   the API key, as user:key

require "json"
require "net/http"
require "securerandom"

JOBS = "#{ENV.fetch("DRAGOMAN_URL")}/tapi/v2/mt_translation/".freeze
HEADERS = { "authorization" => "ApiKey #{ENV.fetch("DRAGOMAN_KEY")}", "content-type" => "application/json" }.freeze

def call(request)
  uri = request.uri
  response = Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == "https") { |http| http.request(request) }
  abort "#{response.code}: #{response.body}" unless response.is_a?(Net::HTTPSuccess)
  JSON.parse(response.body)
end

# With a uid of your own, you can repeat a request that got no response: the job is created only once.
uid = SecureRandom.uuid
create = Net::HTTP::Post.new(URI(JOBS), HEADERS)
create.body = JSON.generate(uid: uid, text: "The house is big.", source_language: "en", target_language: "es")
job = call(create)
until %w[completed failed canceled].include?(job["status"])
  sleep 0.5
  job = call(Net::HTTP::Get.new(URI("#{JOBS}#{uid}/"), HEADERS))
end
abort "the job is #{job["status"]}: #{job["failure"]}" if job["status"] != "completed"
puts job["translated_text"]
