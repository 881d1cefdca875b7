/**
 * Tests of the checker of answers: it must accept correct answers and find the fault in each wrong answer.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { signatureHeaders } from '../deliveries/signature.ts';
import { ourChecker } from './answers.ts';
import { createClient, startReceiver } from './harness.ts';

const JOB = {
  balance: 0,
  client: 'acme',
  price: 12,
  source_language: 'en',
  status: 'completed',
  target_language: 'es',
  text: 'The house is big.',
  text_format: 'text',
  uid: 'one',
  translated_text: 'La casa es grande.',
};
const PATH = '/tapi/v2/translation/one/';

interface Planted {
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
}

let lie: Planted = {};
let liar: Server;
let call: ReturnType<typeof createClient>;
beforeAll(async () => {
  liar = createServer((_, response) => {
    const { status = 200, body = JOB, headers = {} } = lie;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body === '' ? '' : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve));
  call = createClient(`http://127.0.0.1:${(liar.address() as AddressInfo).port}`, 'acme:key');
});
afterAll(() => new Promise((resolve) => liar.close(resolve)));

const { translated_text, ...unfinished } = JOB;

it.each<[string, Planted, string?, string?]>([
  ['a job', {}],
  ['an unfinished job', { body: unfinished }],
  [
    'a legacy job',
    { body: { ...unfinished, order_number: 1, translatedText: translated_text, status: 'deliver_ok' } },
  ],
  ['a job in the sandbox', {}, 'GET', `/sandbox${PATH}`],
  ['a job with an irregular path', {}, 'GET', '/tapi//v2/translation/one?x=1'],
  ['a refusal', { status: 404, body: { error: 'Not found' } }],
  ['an unknown path', { status: 404, body: { error: 'Not found' } }, 'GET', '/nowhere'],
  ['a wrong method', { status: 405, body: { error: 'no' }, headers: { allow: 'GET' } }, 'PUT'],
])('the answer checker accepts %s', async (_, planted, method = 'GET', path = PATH) => {
  lie = planted;
  expect((await call(method, path)).status).toBe(planted.status ?? 200);
});

it.each<[string, Planted, RegExp, string?, string?]>([
  ['an extra field', { body: { ...JOB, planted: 1 } }, /additional properties: planted/],
  ['a field of the other dialect', { body: { ...JOB, translatedText: 'x' } }, /properties: translatedText/],
  ['a missing field', { body: { ...JOB, price: undefined } }, /required property 'price'/],
  ['a wrong type', { body: { ...JOB, price: '12' } }, /\/price must be integer/],
  ['an unknown value', { body: { ...JOB, status: 'done' } }, /\/status must be equal to one of .*: new,/],
  ['null for absent', { body: { ...JOB, translated_text: null } }, /\/translated_text must be string/],
  ['an undescribed status', { status: 418, body: { error: 'tea' } }, /only 200, 400, .*Describe it/],
  ['a missing header', { status: 401, body: { error: 'Unauthorized' } }, /WWW-Authenticate: is missing/],
  [
    'a wrong header',
    { status: 503, body: { error: 'x' }, headers: { 'retry-after': 'soon' } },
    /Retry-After/,
  ],
  ['an error of another form', { status: 404, body: { error: { code: 'x' } } }, /\/error must be string/],
  ['another type', { headers: { 'content-type': 'text/html' } }, /type is "text\/html"/],
  ['an undescribed path', {}, /the path is not described\. Describe it/, 'GET', '/tapi/v2/planted/'],
  ['an undescribed method', {}, /the method is not described\. Describe it/, 'PUT'],
  ['405 without Allow', { status: 405, body: { error: 'no' } }, /Allow: is missing/, 'PUT'],
])('the answer checker rejects %s', async (_, planted, complaint, method = 'GET', path = PATH) => {
  lie = planted;
  await expect(call(method, path)).rejects.toThrow(complaint);
});

it.each<[string, object, RegExp?]>([
  ['further fields', { positions: [1], until: 'then', findings: [] }],
  ['an undescribed field of a segment', { segment: { planted: 1 } }, /segment: body .*properties: planted/],
  ['an undescribed field of an account', { account: { planted: 1 } }, /account: body .*properties: planted/],
  ['a further field without a schema', { planted: { a: 1 } }, /planted: body must/],
])(
  'the answer checker checks the further fields of an error of the web app: %s',
  async (_, more, complaint) => {
    const checker = await ourChecker('web');
    const text = JSON.stringify({ error: { code: 'conflict', message: 'Changed.', ...more } });
    const headers = new Headers({ 'content-type': 'application/json' });
    const check = () =>
      checker.answer({ method: 'GET', path: '/api/console/accounts', status: 409, headers, text });
    if (complaint === undefined) check();
    else expect(check).toThrow(complaint);
  },
);

it('after a callback that does not match the API description, `next` and `close` of the receiver throw', async () => {
  const receiver = await startReceiver();
  const post = (body: object, changes: Record<string, string> = {}) => {
    const signature = signatureHeaders([Buffer.alloc(24)], 'one', new Date(), '');
    const headers = { 'content-type': 'application/json', ...signature, ...changes };
    return fetch(receiver.url, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const { balance: _, client: __, ...described } = JOB;
  const callback = { ...described, order_number: 1 };
  await post(callback);
  expect((await receiver.next()).path).toBe('/');
  await post({ ...callback, planted: true });
  await expect(receiver.next()).rejects.toThrow(/not "jobFinished": .*planted/);
  await post(callback, { 'webhook-signature': 'planted' });
  await expect(receiver.next()).rejects.toThrow(/not "jobFinished": webhook-signature: /);
  await post(callback, { 'content-type': 'text/planted' });
  await expect(receiver.next()).rejects.toThrow(/not "jobFinished": its type is not "text\/planted"/);
  await expect(receiver.close()).rejects.toThrow(/matches no described webhook/);
});
