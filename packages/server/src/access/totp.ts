/**
 * Time-based one-time passwords (RFC 6238) as authenticator apps compute them: HMAC-SHA-1, six digits, a new
 * code every 30 seconds.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const STEP_MILLISECONDS = 30_000;
const DIGITS = 6;
/** The length that RFC 4226 §4 recommends: 160 bits. */
const SECRET_BYTES = 20;
/** The number of time steps by which the clock of the user's device may differ, in both directions. */
const MAX_DRIFT_STEPS = 1;

export function createTotpSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** Returns the time step of a moment. @param milliseconds since 1970 */
export function stepAt(milliseconds: number): number {
  return Math.floor(milliseconds / STEP_MILLISECONDS);
}

/** Returns the code of a time step, with leading zeros (RFC 4226 §5.3). */
export function codeOfStep(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const truncated = mac.readUInt32BE(mac.at(-1)! & 15) & 0x7fff_ffff;
  return String(truncated % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** Returns the time step of a code, or undefined if the code is not valid at this moment. */
export function stepOfCode(secret: Buffer, code: string, milliseconds: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const now = stepAt(milliseconds);
  for (let step = now - MAX_DRIFT_STEPS; step <= now + MAX_DRIFT_STEPS; step++) {
    if (timingSafeEqual(Buffer.from(codeOfStep(secret, step)), Buffer.from(code))) return step;
  }
  return undefined;
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Encodes bytes in base32 without padding (RFC 4648 §6). */
export function base32(bytes: Buffer): string {
  let [text, bits, value] = ['', 0, 0];
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(value >> bits) & 31];
      value &= (1 << bits) - 1;
    }
  }
  return bits === 0 ? text : text + BASE32[(value << (5 - bits)) & 31];
}

/** Returns the URI that authenticator apps read from a QR code. @param email the name of the entry in the app */
export function otpauthUri(secret: Buffer, email: string): string {
  return `otpauth://totp/Dragoman:${encodeURIComponent(email)}?secret=${base32(secret)}&issuer=Dragoman`;
}
