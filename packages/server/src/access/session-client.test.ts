/** Tests which network, browser and operating system are stored for a session. */
import { describe, expect, it } from 'vitest';
import { describeAgent, networkOf } from './sessions.ts';

describe('networkOf', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '8193:3512:1:2'],
    ['2001:db8:1:2::9', '8193:3512:1:2'],
    ['2001:db8:1:3::9', '8193:3512:1:3'],
    ['unknown', 'unknown'],
    ['203.0.113.9:50000', 'unknown'],
    ['', 'unknown'],
  ])('returns for the client address %j the network %j', (address, counted) => {
    expect(networkOf(address)).toBe(counted);
  });
});

describe('describeAgent', () => {
  const KIT = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';
  it.each([
    [undefined, ''],
    ['', ''],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox, Linux'],
    [`Mozilla/5.0 (iPad; CPU OS 18_0 like Mac OS X) ${KIT} FxiOS/140.0 Safari/605.1`, 'Firefox, iPad'],
    [
      'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0',
      'Edge, Windows',
    ],
    [`Mozilla/5.0 (Linux; Android 15) ${KIT} Chrome/140.0 Mobile Safari/537.36 EdgA/140.0`, 'Edge, Android'],
    [`Mozilla/5.0 (Macintosh; Intel Mac OS X 14_0) ${KIT} Chrome/140.0 Safari/537 OPR/120`, 'Opera, macOS'],
    [`Mozilla/5.0 (X11; CrOS x86_64 16181) ${KIT} Chrome/140.0 Safari/537.36`, 'Chrome, ChromeOS'],
    [`Mozilla/5.0 (X11; Linux x86_64) ${KIT} Chromium/140.0 Safari/537.36`, 'Chrome, Linux'],
    [
      `Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${KIT} CriOS/140.0 Safari/604`,
      'Chrome, iPhone',
    ],
    [`Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${KIT} Safari/604.1`, 'Safari, iPhone'],
    [`Mozilla/5.0 (Macintosh; Intel Mac OS X 14_0) ${KIT} Version/18.0 Safari/605.1`, 'Safari, macOS'],
    ['Something (Windows NT 10.0)', 'Windows'],
    ['Chrome/140', 'Chrome'],
    ['curl/8.5.0 and more', 'curl'],
    ['<script>', ''],
    ['(curl)', ''],
    [`${'a'.repeat(40)}b`, 'a'.repeat(40)],
  ])('returns for the user agent %s the name %s', (given, shown) => {
    expect(describeAgent(given)).toBe(shown);
  });

  it('does not match a browser’s name inside a longer word', () => {
    expect(describeAgent('NotFirefox/1 xWindows')).toBe('NotFirefox');
  });
});
