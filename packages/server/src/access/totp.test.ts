/** Tests of time-based codes with the vectors of the RFCs. */
import { describe, expect, it } from 'vitest';
import { base32, codeOfStep, createTotpSecret, otpauthUri, stepAt, stepOfCode } from './totp.ts';

const SECRET = Buffer.from('12345678901234567890');

describe('codeOfStep', () => {
  it.each([
    [0, '755224'],
    [1, '287082'],
    [2, '359152'],
    [3, '969429'],
    [4, '338314'],
    [5, '254676'],
    [6, '287922'],
    [7, '162583'],
    [8, '399871'],
    [9, '520489'],
  ])('returns the code of RFC 4226, appendix D, for the counter %i', (counter, code) => {
    expect(codeOfStep(SECRET, counter)).toBe(code);
  });

  // The RFC prints eight digits. Six digits are the same number modulo a million.
  it.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('returns the code of RFC 6238, appendix B, at second %i', (second, code) => {
    expect(codeOfStep(SECRET, stepAt(second * 1000))).toBe(code.slice(2));
  });
});

describe('stepOfCode', () => {
  const now = 1_700_000_000_000;
  const step = stepAt(now);

  it.each([
    [-2, undefined],
    [-1, step - 1],
    [0, step],
    [1, step + 1],
    [2, undefined],
  ])('accepts a code %i steps from now only if it is within the allowed clock difference', (later, found) => {
    expect(stepOfCode(SECRET, codeOfStep(SECRET, step + later), now)).toBe(found);
  });

  it.each(['', '12345', '1234567', '12345a', '１２３４５６'])('refuses %j', (code) => {
    expect(stepOfCode(SECRET, code, now)).toBeUndefined();
  });
});

describe('base32', () => {
  it.each([
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ])('encodes %j like RFC 4648, section 10, without padding', (text, encoded) => {
    expect(base32(Buffer.from(text))).toBe(encoded);
  });
});

describe('otpauthUri', () => {
  it('names the program, the user and the secret', () => {
    expect(otpauthUri(SECRET, 'ada+x@example.com')).toBe(
      'otpauth://totp/Dragoman:ada%2Bx%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Dragoman',
    );
    expect(createTotpSecret()).toHaveLength(20);
  });
});
