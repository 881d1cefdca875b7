/** Tests that the client accepts signatures of the server and rejects invalid signatures. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { signatureHeaders } from '../../server/src/deliveries/signature.ts';
import { verifyWebhook } from './webhook.ts';

const NOW = new Date('2026-05-04T03:02:01Z');
const KEY = Buffer.alloc(24, 7);
const secretOf = (key: Buffer) => `whsec_${key.toString('base64')}`;
const seconds = (count: number) => new Date(NOW.getTime() + count * 1000);

function signed(keys = [KEY], at = NOW, body = '{"uid":"one"}') {
  return { headers: { ...signatureHeaders(keys, 'delivery-1', at, body) }, body };
}

it('verifyWebhook accepts signed bodies, as text and as bytes, and rejects them when one byte has changed', async () => {
  const key = fc.uint8Array({ minLength: 24, maxLength: 64 }).map((bytes) => Buffer.from(bytes));
  await fc.assert(
    fc.asyncProperty(key, fc.string({ unit: 'binary' }), fc.nat(), async (secretKey, body, place) => {
      const secret = secretOf(secretKey);
      const { headers } = signed([secretKey], NOW, body);
      const bytes = new TextEncoder().encode(body);
      expect(await verifyWebhook({ secret, headers, body, now: NOW })).toEqual({
        ok: true,
        id: 'delivery-1',
      });
      expect(await verifyWebhook({ secret, headers, body: bytes, now: NOW })).toMatchObject({ ok: true });
      if (bytes.length === 0) return;
      bytes[place % bytes.length]! ^= 1;
      expect(await verifyWebhook({ secret, headers, body: bytes, now: NOW })).toMatchObject({ ok: false });
    }),
  );
});

it('verifyWebhook accepts a signature that was made with any of several secrets', async () => {
  const other = randomBytes(32);
  const both = [secretOf(other), secretOf(KEY)];
  expect(await verifyWebhook({ secret: both, ...signed([KEY]), now: NOW })).toMatchObject({ ok: true });
  expect(await verifyWebhook({ secret: secretOf(KEY), ...signed([other, KEY]), now: NOW })).toMatchObject({
    ok: true,
  });
  expect(await verifyWebhook({ secret: both, ...signed([randomBytes(32)]), now: NOW })).toEqual({
    ok: false,
    reason: 'no matching signature',
  });
});

it('verifyWebhook computes one HMAC for each secret, regardless of the number of signatures in the header', async () => {
  const sign = vi.spyOn(crypto.subtle, 'sign');
  const { headers, body } = signed();
  const wrong = `v1,${Buffer.alloc(32).toString('base64')}`;
  const many = { ...headers, 'webhook-signature': Array(4000).fill(wrong).join(' ') };
  const verdict = await verifyWebhook({
    secret: [secretOf(KEY), secretOf(randomBytes(32))],
    headers: many,
    body,
    now: NOW,
  });
  expect(verdict).toEqual({ ok: false, reason: 'no matching signature' });
  expect(sign).toHaveBeenCalledTimes(2);
  sign.mockRestore();
});

it('verifyWebhook skips signatures of other versions and lengths', async () => {
  const { headers, body } = signed();
  const before = `v1a,AAAA v1, v1,AAAA v1,~ ${headers['webhook-signature']}`;
  const input = {
    secret: secretOf(KEY),
    headers: { ...headers, 'webhook-signature': before },
    body,
    now: NOW,
  };
  expect(await verifyWebhook(input)).toMatchObject({ ok: true });
});

it.each([
  ['at the largest age', 300, { ok: true }],
  ['too old', 301, { ok: false, reason: 'too old' }],
  ['at the largest clock difference', -300, { ok: true }],
  ['too new', -301, { ok: false, reason: 'too new' }],
])('verifyWebhook checks the timestamp: %s', async (_, age, verdict) => {
  const secret = secretOf(KEY);
  expect(await verifyWebhook({ secret, ...signed([KEY], NOW), now: seconds(age) })).toMatchObject(verdict);
});

it('verifyWebhook accepts a custom tolerance for clock differences', async () => {
  const late = { secret: secretOf(KEY), ...signed(), now: seconds(20) };
  expect(await verifyWebhook({ ...late, toleranceSeconds: 10 })).toEqual({ ok: false, reason: 'too old' });
});

it('verifyWebhook reads Headers objects, and header names in upper or lower case', async () => {
  const { headers, body } = signed();
  const secret = secretOf(KEY);
  const upperCased = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  );
  for (const written of [new Headers(headers), upperCased]) {
    expect(await verifyWebhook({ secret, headers: written, body, now: NOW })).toMatchObject({ ok: true });
  }
});

it.each([
  ['no id', { 'webhook-id': undefined }, 'malformed'],
  ['no timestamp', { 'webhook-timestamp': undefined }, 'malformed'],
  ['an invalid timestamp', { 'webhook-timestamp': 'yesterday' }, 'malformed'],
  ['no signature', { 'webhook-signature': undefined }, 'malformed'],
  ['a repeated header', { 'webhook-id': ['a', 'b'] }, 'malformed'],
  ['another id', { 'webhook-id': 'delivery-2' }, 'no matching signature'],
  ['another version', { 'webhook-signature': 'v1a,AAAA' }, 'no matching signature'],
  ['invalid base64', { 'webhook-signature': 'v1,~~~' }, 'no matching signature'],
  ['an empty signature', { 'webhook-signature': 'v1,' }, 'no matching signature'],
])('verifyWebhook rejects a callback with %s', async (_, changes, reason) => {
  const { headers, body } = signed();
  const secret = secretOf(KEY);
  const verdict = await verifyWebhook({ secret, headers: { ...headers, ...changes }, body, now: NOW });
  expect(verdict).toEqual({ ok: false, reason });
});

it.each([
  [[]],
  ['secret'],
  ['whsec_'],
  ['whsec_~'],
  [secretOf(Buffer.alloc(23))],
  [secretOf(Buffer.alloc(65))],
])('verifyWebhook throws a TypeError for the secret %j', async (secret) => {
  await expect(verifyWebhook({ secret, ...signed(), now: NOW })).rejects.toThrow(TypeError);
});
