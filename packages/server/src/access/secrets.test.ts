import { createCipheriv, createHmac, hkdfSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createKey,
  createKeyFile,
  createVault,
  createWebhookSecret,
  hashesEqual,
  hashKey,
  keyIdOf,
  readKeyFile,
} from './secrets.ts';

describe('API keys', () => {
  it.each([
    ['production', 'dgm_live_'],
    ['sandbox', 'dgm_test_'],
  ] as const)('for %s start with %s and contain a row id and 32 random bytes', (environment, prefix) => {
    const { keyId, secret, hash } = createKey(environment);
    expect(secret.startsWith(prefix + keyId)).toBe(true);
    expect(keyId).toMatch(/^[0-9a-f]{8}$/);
    expect(Buffer.from(secret.slice(prefix.length + 8), 'base64url')).toHaveLength(32);
    expect(hash).toEqual(hashKey(secret));
    expect(hash.toString('latin1')).not.toContain(secret);
    expect(keyIdOf(secret, environment)).toBe(keyId);
  });

  it('are unique', () => {
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
  ] as const)('have no row id when the key is %j and the environment is %s', (secret, environment) => {
    expect(keyIdOf(secret, environment)).toBeUndefined();
  });

  it('are compared by their complete hash and not by a part of it', () => {
    expect(hashesEqual(hashKey('a'), hashKey('a'))).toBe(true);
    expect(hashesEqual(hashKey('a'), hashKey('b'))).toBe(false);
    expect(hashesEqual(hashKey('a'), hashKey('a').subarray(0, 31))).toBe(false);
  });
});

describe('webhook secrets', () => {
  it('have the format of the Standard Webhooks specification', () => {
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

  it('decrypts encrypted secrets, and the encrypted bytes do not contain the secret', () => {
    fc.assert(
      fc.property(secrets, fc.string(), (secret, context) => {
        const sealed = vault.seal(secret, context);
        expect(vault.open(sealed, context)).toEqual(secret);
        if (secret.length >= 8) expect(sealed.includes(secret)).toBe(false);
      }),
    );
  });

  it('encrypts the same secret to different bytes each time', () => {
    const secret = Buffer.from('a secret');
    expect(vault.seal(secret, 'x')).not.toEqual(vault.seal(secret, 'x'));
  });

  it('decrypts secrets in the format of existing databases', () => {
    const iv = Buffer.alloc(12, 3);
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from('whose'));
    const body = Buffer.concat([cipher.update('a secret'), cipher.final()]);
    const kept = Buffer.concat([iv, cipher.getAuthTag(), body]);
    expect(vault.open(kept, 'whose').toString()).toBe('a secret');
    expect(vault.seal(Buffer.from('a secret'), 'whose')).toHaveLength(kept.length);
  });

  it('computes the same keyed hashes as before, which existing databases store as fingerprints of their secret key', () => {
    const markKey = Buffer.from(hkdfSync('sha256', key, '', 'dragoman marks', 32));
    expect(vault.mark('a text')).toEqual(createHmac('sha256', markKey).update('a text').digest());
    expect(vault.mark('a text')).not.toEqual(vault.mark('another'));
    expect(vault.mark('a text')).not.toEqual(createVault(Buffer.alloc(32, 2)).mark('a text'));
  });

  it('fails to decrypt a secret with another context or key', () => {
    const sealed = vault.seal(Buffer.from('a secret'), 'account 1 production');
    expect(() => vault.open(sealed, 'account 1 sandbox')).toThrow();
    expect(() => vault.open(sealed, 'account 2 production')).toThrow();
    expect(() => vault.open(sealed, '')).toThrow();
    expect(() => createVault(Buffer.alloc(32, 2)).open(sealed, 'account 1 production')).toThrow();
  });

  it('fails to decrypt altered or truncated bytes', () => {
    const sealed = vault.seal(Buffer.from('a secret'), 'x');
    for (let at = 0; at < sealed.length; at++) {
      const altered = Buffer.from(sealed);
      altered[at]! ^= 1;
      expect(() => vault.open(altered, 'x'), `byte ${at}`).toThrow();
      expect(() => vault.open(sealed.subarray(0, at), 'x'), `cut at ${at}`).toThrow();
    }
  });
});

describe('the key file', () => {
  const made: string[] = [];
  afterEach(() => {
    for (const directory of made.splice(0)) rmSync(directory, { recursive: true });
  });
  function fresh() {
    const directory = mkdtempSync(join(tmpdir(), 'dragoman-key-'));
    made.push(directory);
    return { directory, path: join(directory, 'secret.key') };
  }

  it('is created once, readable only by its owner', () => {
    const { directory, path } = fresh();
    expect(readKeyFile(directory)).toBeUndefined();
    const key = createKeyFile(directory);
    expect(key).toHaveLength(32);
    expect(readKeyFile(directory)).toEqual(key);
    expect(createKeyFile(directory)).toEqual(key);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toBe(`${key.toString('base64')}\n`);
    expect(createKeyFile(fresh().directory)).not.toEqual(key);
  });

  it('is created together with its data directory, which only its owner can open', () => {
    const directory = join(fresh().directory, 'a', 'b');
    expect(createKeyFile(directory)).toHaveLength(32);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  it("reports the system's error code when it cannot be created", () => {
    // No user, not even root, can create a file in this directory.
    let code: unknown;
    try {
      createKeyFile('/sys');
    } catch (error) {
      code = (error as NodeJS.ErrnoException).code;
    }
    expect(['EACCES', 'EPERM', 'EROFS']).toContain(code);
  });

  it('is refused and left unchanged when its content is not a key', () => {
    const { directory, path } = fresh();
    writeFileSync(path, 'short\n');
    for (const read of [readKeyFile, createKeyFile]) {
      expect(() => read(directory)).toThrow(/secret\.key must hold 32 bytes in base64/);
    }
    expect(readFileSync(path, 'utf8')).toBe('short\n');
  });
});
