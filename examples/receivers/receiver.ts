/**
 * A receiver of deliveries, without dependencies: Node 24, `node receiver.ts`.
 *
 *   WEBHOOK_SECRET   whsec_…, as shown when the account was made; several, separated by spaces, while one is replaced
 *   PORT             where to listen (8081)
 *
 * It takes each event once, however often it is delivered, and answers as soon as it has it.
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

/** Whether the request is ours and fresh. It works on the bytes: a body that was parsed and written anew differs. */
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

/** In your program: a unique column of the table that the event is written to, in the same transaction. */
const seen = new Set<string>();

/** What you do with an event. A job's is JSON, or a form for keys of the legacy dialect. */
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
      seen.add(id); // after it was taken: if that fails, the next try brings it again
    }
    response.writeHead(204).end();
  });
});
server.listen(Number(process.env.PORT ?? 8081), '127.0.0.1', () => {
  const address = server.address();
  console.log(`listening on ${typeof address === 'object' ? address?.port : address}`);
});
