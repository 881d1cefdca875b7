import { createHmac, createSecretKey } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_LIVE_SECRETS } from '../access/secrets.ts';
import {
  parseSecret,
  type SignatureHeaders,
  sign,
  signatureHeaders,
  signatureHeadersInTurns,
  verify,
} from './signature.ts';

/** The test vector that the Standard Webhooks libraries publish. */
const VECTOR = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  seconds: 1614265330,
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};
const at = (seconds: number) => new Date(seconds * 1000);
const secret = parseSecret(VECTOR.secret)!;
const other = Buffer.alloc(32, 7);
const headers: SignatureHeaders = {
  'webhook-id': VECTOR.id,
  'webhook-timestamp': String(VECTOR.seconds),
  'webhook-signature': VECTOR.signature,
};

describe('the signature of the Standard Webhooks test vector', () => {
  test('is identical to the signature that this server creates, for text and for bytes', () => {
    expect(sign([secret], VECTOR.id, VECTOR.seconds, VECTOR.body)).toBe(VECTOR.signature);
    expect(sign([secret], VECTOR.id, VECTOR.seconds, Buffer.from(VECTOR.body))).toBe(VECTOR.signature);
    expect(signatureHeaders([secret], VECTOR.id, at(VECTOR.seconds + 0.9), VECTOR.body)).toEqual(headers);
  });

  test('is identical to the signature that this server creates with a key object', () => {
    expect(sign([createSecretKey(secret)], VECTOR.id, VECTOR.seconds, VECTOR.body)).toBe(VECTOR.signature);
  });

  test('passes the verification of this server', () => {
    expect(verify([secret], headers, VECTOR.body, at(VECTOR.seconds))).toEqual({ ok: true });
  });
});

test('while a secret is being replaced, both secrets sign, and receivers with either secret accept', () => {
  const both = {
    ...headers,
    'webhook-signature': sign([other, secret], VECTOR.id, VECTOR.seconds, VECTOR.body),
  };
  expect(both['webhook-signature'].split(' ')).toHaveLength(2);
  for (const live of [[secret], [other], [Buffer.alloc(24), other]]) {
    expect(verify(live, both, VECTOR.body, at(VECTOR.seconds))).toEqual({ ok: true });
  }
  expect(verify([Buffer.alloc(32)], both, VECTOR.body, at(VECTOR.seconds)).ok).toBe(false);
});

test('sign refuses more secrets than the maximum', () => {
  const many = Array.from({ length: MAX_LIVE_SECRETS + 1 }, () => secret);
  expect(sign(many.slice(1), 'a', 1, '').split(' ')).toHaveLength(5);
  expect(() => sign(many, 'a', 1, '')).toThrow(TypeError);
});

test('signing a large body with several secrets lets other work run between the signatures', async () => {
  const secrets = [secret, other, secret];
  const now = at(VECTOR.seconds);
  for (const [bytes, turns] of [
    [1024, 0],
    [1024 * 1024, 1],
  ] as const) {
    const body = Buffer.alloc(bytes, 97);
    let seen = 0;
    let signed = false;
    const count = () => {
      if (signed) return;
      seen++;
      setImmediate(count);
    };
    const signing = signatureHeadersInTurns(secrets, 'a', now, body).finally(() => {
      signed = true;
    });
    setImmediate(count);
    expect(await signing).toEqual(signatureHeaders(secrets, 'a', now, body));
    expect(seen).toBeGreaterThanOrEqual(turns);
    if (turns === 0) expect(seen).toBe(0);
  }
  const many = Array.from({ length: MAX_LIVE_SECRETS + 1 }, () => secret);
  const large = signatureHeadersInTurns(many, 'a', now, Buffer.alloc(1024 * 1024));
  await expect(large).rejects.toThrow(TypeError);
});

test('verify accepts a timestamp that is up to five minutes off', () => {
  const rows: [number, object][] = [
    [0, { ok: true }],
    [300, { ok: true }],
    [301, { ok: false, reason: 'too old' }],
    [-300, { ok: true }],
    [-301, { ok: false, reason: 'too new' }],
    // The age of a signature is rounded down to whole seconds.
    [300.9, { ok: true }],
    [-300.5, { ok: false, reason: 'too new' }],
  ];
  for (const [age, verdict] of rows) {
    expect([age, verify([secret], headers, VECTOR.body, at(VECTOR.seconds + age))]).toEqual([age, verdict]);
  }
});

test('verify refuses malformed headers', () => {
  const now = at(VECTOR.seconds);
  const value = VECTOR.signature.slice(3);
  const rows: [Partial<SignatureHeaders>, string][] = [
    [{ 'webhook-signature': '' }, 'no matching signature'],
    [{ 'webhook-signature': value }, 'no matching signature'],
    [{ 'webhook-signature': `v1a,${value}` }, 'no matching signature'],
    [{ 'webhook-signature': `v1,${value.slice(0, -4)}` }, 'no matching signature'],
    [{ 'webhook-signature': 'v1,' }, 'no matching signature'],
    [{ 'webhook-timestamp': '' }, 'malformed'],
    [{ 'webhook-timestamp': `${VECTOR.seconds}.0` }, 'malformed'],
    [{ 'webhook-timestamp': `+${VECTOR.seconds}` }, 'malformed'],
    [{ 'webhook-timestamp': 'NaN' }, 'malformed'],
    [{ 'webhook-id': '' }, 'malformed'],
    [{ 'webhook-id': 'a.b' }, 'malformed'],
  ];
  for (const [change, reason] of rows) {
    const verdict = verify([secret], { ...headers, ...change }, VECTOR.body, now);
    expect([change, verdict]).toEqual([change, { ok: false, reason }]);
  }
  expect(verify([], headers, VECTOR.body, now).ok).toBe(false);
  const mixed = { ...headers, 'webhook-signature': `v1a,xyz v2,abc ${VECTOR.signature}` };
  expect(verify([secret], mixed, VECTOR.body, now)).toEqual({ ok: true });
});

describe('the signature of a delivery with an altered part', () => {
  type Sign = typeof sign;
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 200 }).map((array) => Buffer.from(array));
  const id = fc.stringMatching(/^[a-zA-Z0-9_-]{2,40}$/);

  /**
   * Throws if `verify` accepts an altered body, id or timestamp. The signer is a parameter, so that the check
   * itself can be tested with a faulty signer.
   */
  function check(signer: Sign, verifier: typeof verify): void {
    fc.assert(
      fc.property(
        bytes,
        id,
        fc.nat(4e9),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (body, name, seconds, i, flip) => {
          const signed = {
            'webhook-id': name,
            'webhook-timestamp': String(seconds),
            'webhook-signature': signer([secret], name, seconds, body),
          };
          const now = at(seconds);
          expect(verifier([secret], signed, body, now)).toEqual({ ok: true });
          const changed = Buffer.from(body);
          changed[i % body.length]! ^= flip;
          expect(verifier([secret], signed, changed, now).ok).toBe(false);
          expect(verifier([secret], signed, body.subarray(1), now).ok).toBe(false);
          const renamed = { ...signed, 'webhook-id': `${name}x` };
          expect(verifier([secret], renamed, body, now).ok).toBe(false);
          const moved = { ...signed, 'webhook-timestamp': String(seconds + 1) };
          expect(verifier([secret], moved, body, now).ok).toBe(false);
          expect(verifier([other], signed, body, now).ok).toBe(false);
        },
      ),
    );
  }

  test('is refused, whether its bytes, length, id, timestamp or secret differ', () => check(sign, verify));

  test('passes a verification that leaves out the id, timestamp or body as well, and the test then fails', () => {
    const over = (content: (id: string, seconds: number, body: Buffer | string) => string): Sign => {
      return (secrets, name, seconds, body) =>
        `v1,${createHmac('sha256', secrets[0]!)
          .update(content(name, seconds, body))
          .digest('base64')}`;
    };
    const loose = (signer: Sign): typeof verify => {
      return (secrets, given, body) => {
        const expected = signer(secrets, given['webhook-id'], Number(given['webhook-timestamp']), body);
        return expected === given['webhook-signature']
          ? { ok: true }
          : { ok: false, reason: 'no matching signature' };
      };
    };
    for (const fault of [
      over((_, seconds, body) => `${seconds}.${Buffer.from(body).toString('latin1')}`),
      over((name, _, body) => `${name}.${Buffer.from(body).toString('latin1')}`),
      over((name, seconds) => `${name}.${seconds}`),
    ]) {
      expect(() => check(fault, loose(fault))).toThrow();
    }
    const whole = over((name, seconds, body) => `${name}.${seconds}.${Buffer.from(body).toString('latin1')}`);
    expect(() => check(whole, loose(whole))).not.toThrow();
  });
});

describe('webhook secrets', () => {
  test('have the prefix whsec_ and exact base64 of 24 to 64 bytes', () => {
    const text = (bytes: number) => `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`;
    for (const bytes of [24, 32, 64]) expect(parseSecret(text(bytes))).toHaveLength(bytes);
    for (const bad of [
      text(23),
      text(65),
      text(32).slice(6),
      text(32).replace('whsec_', 'WHSEC_'),
      text(32).replace('whsec_', 'secret'),
      `${text(32)} `,
      text(32).slice(0, -1),
      'whsec_',
      '',
    ]) {
      expect(parseSecret(bad), bad).toBeUndefined();
    }
    expect(parseSecret(text(24).replace('A', '*'))).toBeUndefined();
  });

  test('of a wrong form make sign and signatureHeaders throw', () => {
    expect(() => sign([], 'a', 1, '')).toThrow(TypeError);
    expect(() => sign([Buffer.alloc(23)], 'a', 1, '')).toThrow(TypeError);
    for (const id of ['', 'a.b', 'a b', 'ä', 'a\n'])
      expect(() => sign([other], id, 1, ''), id).toThrow(TypeError);
    for (const seconds of [1.5, -1, Number.NaN])
      expect(() => sign([other], 'a', seconds, '')).toThrow(TypeError);
  });
});
