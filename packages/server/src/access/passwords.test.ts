import { argon2Sync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sentenceOf } from '../base/errors.ts';
import { hashPassword, passwordFault, passwordMatches } from './passwords.ts';

describe('passwordFault', () => {
  const GUESSED = /guessed/;
  it.each<[string, RegExp | undefined]>([
    ['123456789', /at least 10/],
    ['x1y2z3x1y2', undefined],
    ['🔑🔒🔓🗝🔑🔒🔓🗝🔑', /at least 10/],
    [`${'abcd'.repeat(50)}`, undefined],
    [`${'abcd'.repeat(50)}e`, /at most 200/],
    ['abcabcabcabc', GUESSED],
    ['abcdabcdabcd', undefined],
    ['1234567890', GUESSED],
    ['1q2w3e4r5t6y', GUESSED],
    ['qwertyuiop', GUESSED],
    ['PASSWORD123', GUESSED],
    ['ｐａｓｓｗｏｒｄ１２３', GUESSED],
    ['password1234', GUESSED],
    ['welcome1234', GUESSED],
    ['administrator', GUESSED],
    ['superman123', GUESSED],
    ['qwertyuiop123', GUESSED],
    ['trustno1trustno1', GUESSED],
    ['long.name@example.com', /e-mail/],
    ['LONG.NAME@example.com', /e-mail/],
    ['long.name1', /e-mail/],
    ['example.com', undefined],
    ['four words are enough', undefined],
    ['пароль из слов', undefined],
  ])('returns the reason why the new password %j is refused, or undefined: %s', (password, fault) => {
    const email = password === 'long.name1' ? 'long.name1@example.com' : 'long.name@example.com';
    const found = passwordFault(password, email);
    if (fault === undefined) expect(found).toBeUndefined();
    else expect(sentenceOf(found!)).toMatch(fault);
  });
});

describe('passwordMatches and hashPassword', () => {
  const stored = (memory: number, passes: number, parallelism: number, password = 'mine') => {
    const nonce = Buffer.from('a nonce of sixteen');
    const message = Buffer.from(password);
    const tag = argon2Sync('argon2id', { message, nonce, tagLength: 32, memory, passes, parallelism });
    const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
    return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(nonce)}$${unpadded(tag)}`;
  };

  it('use the cost parameters of the stored hash when they compare a password', async () => {
    for (const [memory, passes, parallelism] of [
      [8, 1, 1],
      [80, 12, 10],
    ] as const) {
      const one = stored(memory, passes, parallelism);
      expect(await passwordMatches('mine', one)).toBe(true);
      expect(await passwordMatches('yours', one)).toBe(false);
    }
  });

  it('store a salt and the current cost with each hash', async () => {
    const written = await hashPassword('mine');
    expect(written).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await passwordMatches('mine', written)).toBe(true);
    expect(await hashPassword('mine')).not.toBe(written);
  });

  it('treat all Unicode normalisation forms of a password as the same password', async () => {
    const written = await hashPassword('crème brûlée');
    expect(await passwordMatches('cre\u0300me bru\u0302le\u0301e', written)).toBe(true);
    expect(await passwordMatches('creme brulee', written)).toBe(false);
  });

  it('match no password when the user has no stored hash', async () => {
    expect(await passwordMatches('anything', undefined)).toBe(false);
  });

  it.each([
    ['nothing', () => ''],
    ['text before', () => `x${stored(8, 1, 1)}`],
    ['text behind', () => `${stored(8, 1, 1)}$x`],
    ['another algorithm', () => stored(8, 1, 1).replace('argon2id', 'argon2i')],
    ['no tag', () => stored(8, 1, 1).replace(/[^$]+$/, '')],
  ])('throw when a stored hash is malformed because it has %s', async (_, make) => {
    await expect(passwordMatches('mine', make())).rejects.toThrow('a stored password hash is malformed');
  });

  it('compute at most two hashes at the same time', async () => {
    const costly = stored(65_536, 2, 1);
    const cheap = stored(8, 1, 1);
    const order: string[] = [];
    await Promise.all(
      Object.entries({ first: costly, second: costly, third: cheap }).map(async ([name, one]) => {
        expect(await passwordMatches('mine', one)).toBe(true);
        order.push(name);
      }),
    );
    expect(order[0]).not.toBe('third');
  });

  it('refuse calls at once when 200 calls are in the queue', async () => {
    const cheap = stored(8, 1, 1);
    const many = await Promise.allSettled(Array.from({ length: 210 }, () => passwordMatches('mine', cheap)));
    const refused = many.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(8);
    expect((refused[0] as PromiseRejectedResult).reason).toMatchObject({ code: 'unavailable' });
    expect(await passwordMatches('mine', cheap)).toBe(true);
  });
});
