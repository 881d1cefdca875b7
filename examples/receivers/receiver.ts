/**
 * Receives callbacks. It needs Node.js 24 and no packages: `node receiver.ts`.
 *
 *   WEBHOOK_SECRET   whsec_…, shown when the account was created; several secrets, separated by spaces, during a rotation
 *   PORT             the port to listen on (default 8081)
 *
 * The receiver processes each event once, even if it is delivered several times. It responds as soon as the event is
 * stored.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';

const TOLERANCE_SECONDS = 300;
const MAX_BYTES = 64 * 1024 * 1024;

const secrets = (process.env.WEBHOOK_SECRET ?? '')
  .split(' ')
  .filter((secret) => secret.startsWith('whsec_'))
  .map((secret) => Buffer.from(secret.slice('whsec_'.length), 'base64'));
if (secrets.length === 0) throw new Error('WEBHOOK_SECRET must be set');

/**
 * Returns true if the service sent the request and sent it recently. The signature covers the received bytes, so the
 * body must not be parsed and serialized before this check.
 */
function isGenuine(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const id = String(headers['webhook-id'] ?? '');
  const timestamp = String(headers['webhook-timestamp'] ?? '');
  const age = Date.now() / 1000 - Number(timestamp);
  if (!/^\d+$/.test(timestamp) || Math.abs(age) > TOLERANCE_SECONDS) return false;
  const given = String(headers['webhook-signature'] ?? '')
    .split(' ')
    .filter((entry) => entry.startsWith('v1,'))
    .map((entry) => Buffer.from(entry.slice('v1,'.length), 'base64'));
  return secrets.some((secret) => {
    const expected = createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest();
    return given.some((entry) => entry.length === expected.length && timingSafeEqual(entry, expected));
  });
}

/**
 * The ids of processed events. In your program, use a unique column of the table that stores the events, and write
 * both in one transaction.
 */
const seen = new Set<string>();

/**
 * Processes an event; replace this with your own code. The body is JSON, or a form if the API key has the API
 * format `legacy`.
 */
function take(id: string, contentType: string, body: string): void {
  const event = contentType.startsWith('application/x-www-form-urlencoded')
    ? Object.fromEntries(new URLSearchParams(body))
    : JSON.parse(body);
  const what = event.uid ?? event.message?.id ?? event.type;
  console.log(JSON.stringify({ id, what, status: event.status ?? event.message?.status }));
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) request.destroy();
    else chunks.push(chunk);
  });
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    if (request.method !== 'POST' || !isGenuine(request.headers, body)) {
      response.writeHead(401).end();
      return;
    }
    const id = String(request.headers['webhook-id']);
    if (!seen.has(id)) {
      take(id, String(request.headers['content-type']), body.toString());
      // The id is added last: if processing fails, the next attempt processes the event again.
      seen.add(id);
    }
    response.writeHead(204).end();
  });
});
server.listen(Number(process.env.PORT ?? 8081), '127.0.0.1', () => {
  const address = server.address();
  console.log(`listening on ${typeof address === 'object' ? address?.port : address}`);
});
