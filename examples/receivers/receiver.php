<?php
/**
 * Receives callbacks. It needs only PHP 8 without extensions: `php -S 127.0.0.1:8081 receiver.php`.
 *
 *   WEBHOOK_SECRET   whsec_..., shown when the account was created; several secrets, separated by spaces, during a
 *                    rotation
 *
 * The receiver processes each event once, even if it is delivered several times. It responds as soon as the event is
 * stored.
 */

declare(strict_types=1);

const TOLERANCE_SECONDS = 300;

/**
 * Returns true if the service sent the request and sent it recently. The signature covers the received bytes, so the
 * body must not be parsed and serialized before this check.
 *
 * @param string[] $secrets
 */
function isGenuine(array $secrets, string $id, string $timestamp, string $signatures, string $body): bool
{
    if (preg_match('/^[0-9]{1,12}$/D', $timestamp) !== 1) {
        return false;
    }
    if (abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }
    foreach ($secrets as $secret) {
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $secret, true));
        foreach (explode(' ', $signatures) as $given) {
            if (hash_equals($expected, $given)) {
                return true;
            }
        }
    }
    return false;
}

/** Processes an event; replace this with your own code. */
function take(string $id, string $body): void
{
    $event = json_decode($body, true, 64, JSON_THROW_ON_ERROR);
    $what = $event['uid'] ?? $event['message']['id'] ?? $event['type'] ?? null;
    $status = $event['status'] ?? $event['message']['status'] ?? null;
    file_put_contents('php://stdout', json_encode(['id' => $id, 'what' => $what, 'status' => $status]) . "\n");
}

/**
 * Processes an event unless it was processed before. PHP keeps nothing between two requests, so a file holds the ids of
 * processed events. In your program, use a unique column of the table that stores the events, and write both in one
 * transaction.
 */
function takeOnce(string $id, string $body): void
{
    $secret = (string) getenv('WEBHOOK_SECRET');
    $file = fopen(sys_get_temp_dir() . '/receiver-' . substr(hash('sha256', $secret), 0, 16), 'c+');
    flock($file, LOCK_EX);
    $seen = explode("\n", stream_get_contents($file));
    if (!in_array($id, $seen, true)) {
        take($id, $body);
        fwrite($file, "$id\n"); // written last: if processing fails, the next attempt retries it
    }
    fclose($file);
}

$secrets = [];
foreach (explode(' ', (string) getenv('WEBHOOK_SECRET')) as $secret) {
    if (str_starts_with($secret, 'whsec_')) {
        $secrets[] = base64_decode(substr($secret, strlen('whsec_')));
    }
}
if ($secrets === []) {
    error_log('WEBHOOK_SECRET must be set');
    http_response_code(500);
    return;
}

$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
$timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
$signatures = $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '';
$body = (string) file_get_contents('php://input');
if ($_SERVER['REQUEST_METHOD'] !== 'POST' || !isGenuine($secrets, $id, $timestamp, $signatures, $body)) {
    http_response_code(401);
    return;
}
try {
    takeOnce($id, $body);
    http_response_code(204);
} catch (Throwable $error) {
    // Without this, PHP can respond with 200 to an event that it did not process.
    error_log((string) $error);
    http_response_code(500);
}
