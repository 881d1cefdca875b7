<?php
/**
 * Creates a job, waits until it is translated, and prints the translation. It needs only PHP 8 without extensions:
 * `php quick_start.php`.
 *
 *   DRAGOMAN_URL   the address of the server; with /sandbox at its end, the sandbox
 *   DRAGOMAN_KEY   the API key, as user:key
 */

declare(strict_types=1);

$jobs = getenv('DRAGOMAN_URL') . '/tapi/v2/mt_translation/';

function call(string $method, string $url, ?array $body = null): array
{
    $http = [
        'method' => $method,
        'header' => ['Authorization: ApiKey ' . getenv('DRAGOMAN_KEY'), 'Content-Type: application/json'],
        'ignore_errors' => true,
        'timeout' => 60,
    ];
    if ($body !== null) {
        $http['content'] = json_encode($body, JSON_THROW_ON_ERROR);
    }
    $response = file_get_contents($url, false, stream_context_create(['http' => $http]));
    if ($response === false || preg_match('/ 2\d\d /', $http_response_header[0]) !== 1) {
        fwrite(STDERR, ($http_response_header[0] ?? 'no response') . ": $response\n");
        exit(1);
    }
    return json_decode($response, true, 64, JSON_THROW_ON_ERROR);
}

// With a uid of your own, you can repeat a request that got no response: the job is created only once.
$uid = bin2hex(random_bytes(16));
$job = call('POST', $jobs, [
    'uid' => $uid,
    'text' => 'The house is big.',
    'source_language' => 'en',
    'target_language' => 'es',
]);
while (!in_array($job['status'], ['completed', 'failed', 'canceled'], true)) {
    usleep(500_000);
    $job = call('GET', "$jobs$uid/");
}
if ($job['status'] !== 'completed') {
    fwrite(STDERR, "the job is {$job['status']}\n");
    exit(1);
}
echo $job['translated_text'], "\n";
