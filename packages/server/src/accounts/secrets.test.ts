import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createKey,
  createVault,
  createWebhookSecret,
  hashesEqual,
  hashKey,
  keyIdOf,
  loadSecretKey,
} from './secrets.ts';

describe('keys', () => {
  it.each([
    ['production', 'dgm_live_'],
    ['sandbox', 'dgm_test_'],
  ] as const)('of %s say so, carry the id of their row, and 32 random bytes', (environment, prefix) => {
    const { keyId, secret, hash } = createKey(environment);
    expect(secret.startsWith(prefix + keyId)).toBe(true);
    expect(keyId).toMatch(/^[0-9a-f]{8}$/);
    expect(Buffer.from(secret.slice(prefix.length + 8), 'base64url')).toHaveLength(32);
    expect(hash).toEqual(hashKey(secret));
    expect(hash.toString('latin1')).not.toContain(secret);
    expect(keyIdOf(secret, environment)).toBe(keyId);
  });

  it('are never made twice', () => {
    const secrets = Array.from({ length: 1000 }, () => createKey('production').secret);
    expect(new Set(secrets).size).toBe(1000);
  });

  it.each([
    ['', 'production'],
    ['dgm_live_', 'production'],
    ['dgm_live_0123456', 'production'],
    ['dgm_live_0123456X', 'production'],
    ['dgm_live_0123ABCD', 'production'],
    ['dgm_test_01234567', 'production'],
    ['dgm_live_01234567', 'sandbox'],
    ['xdgm_live_01234567', 'production'],
  ] as const)('find no row when %j is presented to %s', (secret, environment) => {
    expect(keyIdOf(secret, environment)).toBeUndefined();
  });

  it('are compared whole', () => {
    expect(hashesEqual(hashKey('a'), hashKey('a'))).toBe(true);
    expect(hashesEqual(hashKey('a'), hashKey('b'))).toBe(false);
    expect(hashesEqual(hashKey('a'), hashKey('a').subarray(0, 31))).toBe(false);
  });
});

describe('webhook secrets', () => {
  it('have the form of Standard Webhooks', () => {
    const secret = createWebhookSecret();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
    expect(createWebhookSecret()).not.toBe(secret);
  });
});

describe('the vault', () => {
  const key = Buffer.alloc(32, 1);
  const vault = createVault(key);
  const secrets = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));

  it('opens what it sealed, and shows nothing of it', () => {
    fc.assert(
      fc.property(secrets, fc.string(), (secret, context) => {
        const sealed = vault.seal(secret, context);
        expect(vault.open(sealed, context)).toEqual(secret);
        if (secret.length >= 8) expect(sealed.includes(secret)).toBe(false);
      }),
    );
  });

  it('seals the same secret differently every time', () => {
    const secret = Buffer.from('a secret');
    expect(vault.seal(secret, 'x')).not.toEqual(vault.seal(secret, 'x'));
  });

  it('does not open under another context, or with another key', () => {
    const sealed = vault.seal(Buffer.from('a secret'), 'account 1 production');
    expect(() => vault.open(sealed, 'account 1 sandbox')).toThrow();
    expect(() => vault.open(sealed, 'account 2 production')).toThrow();
    expect(() => vault.open(sealed, '')).toThrow();
    expect(() => createVault(Buffer.alloc(32, 2)).open(sealed, 'account 1 production')).toThrow();
  });

  it('does not open what was altered in any byte, or cut', () => {
    const sealed = vault.seal(Buffer.from('a secret'), 'x');
    for (let at = 0; at < sealed.length; at++) {
      const altered = Buffer.from(sealed);
      altered[at]! ^= 1;
      expect(() => vault.open(altered, 'x'), `byte ${at}`).toThrow();
      expect(() => vault.open(sealed.subarray(0, at), 'x'), `cut at ${at}`).toThrow();
    }
  });
});

describe('the program’s own key', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'dragoman-key-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));
  const path = () => join(directory, 'secret.key');

  it('is made once, for its owner’s eyes, and found again', () => {
    const made = loadSecretKey(undefined, directory);
    expect(made).toHaveLength(32);
    expect(loadSecretKey(undefined, directory)).toEqual(made);
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    expect(Buffer.from(readFileSync(path(), 'utf8'), 'base64')).toEqual(made);
  });

  it('is the one in the settings where there is one, and none is made', () => {
    const given = Buffer.alloc(32, 9);
    expect(loadSecretKey(given, directory)).toBe(given);
    expect(() => statSync(path())).toThrow();
  });

  it('is made in a data directory that is not there yet', () => {
    expect(loadSecretKey(undefined, join(directory, 'a', 'b'))).toHaveLength(32);
  });

  it('is not taken from a file that holds something else, which stays as it was', () => {
    writeFileSync(path(), 'short\n');
    expect(() => loadSecretKey(undefined, directory)).toThrow(/secret\.key must hold 32 bytes in base64/);
    expect(readFileSync(path(), 'utf8')).toBe('short\n');
  });
});
