/** Tests the proof `addresses`: its table of URLs is correct, and the proof detects a faulty address guard. */
import { describe, expect, it } from 'vitest';
import { type AddressGuard, createAddressGuard } from '../../packages/server/src/deliveries/addresses.ts';
import { proveAddresses } from './addresses.ts';
import { examine, type MakeGuard } from './examine.ts';
import { ROWS } from './rows.ts';

/** Returns the rows of the table that do not agree with the changed address guard. */
async function faultsUnder(change: (guard: AddressGuard) => Partial<AddressGuard>): Promise<string[]> {
  const makeGuard: MakeGuard = (allowed) => {
    const guard = createAddressGuard({ allowedNetworks: allowed });
    return { ...guard, ...change(guard) };
  };
  const findings = await Promise.all(ROWS.map((row) => examine(row, makeGuard)));
  return findings.filter(({ faults }) => faults.length > 0).map(({ row }) => row.why);
}

describe('table of the address guard', () => {
  it('expects for every URL what the real address guard and connector decide', async () => {
    const { figures, rows } = await proveAddresses({ names: [], json: false, numbers: {}, words: {} });
    expect(rows.flatMap(({ url, faults }) => faults.map((fault) => `${url}: ${fault}`))).toEqual([]);
    expect(figures.every((figure) => !('held' in figure) || figure.held)).toBe(true);
    expect(rows.length).toBeGreaterThanOrEqual(200);
    for (const { reason } of rows) expect(reason).not.toBe('');
  });

  it('has no row twice', () => {
    const keys = ROWS.map((row) => JSON.stringify([row.url, row.answers, row.allowed, row.remote]));
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
  });
});

describe('the table finds the planted fault:', () => {
  it('the guard allows every address', async () => {
    const found = await faultsUnder(() => ({ allows: () => true }));
    expect(found).toContain('one private address among public ones');
    expect(found).toContain('loopback');
  });

  it('the guard allows carrier-grade NAT', async () => {
    const found = await faultsUnder((guard) => ({
      allows: (ip) => ip.startsWith('100.64.') || guard.allows(ip),
    }));
    expect(new Set(found)).toEqual(
      new Set(['carrier-grade NAT (RFC 6598)', 'a name for carrier-grade NAT (RFC 6598)']),
    );
  });

  it('the guard treats IPv4-mapped addresses as IPv6', async () => {
    const found = await faultsUnder((guard) => ({
      allows: (ip) => ip.startsWith('::ffff:') || guard.allows(ip),
    }));
    expect(found).toContain('a name for IPv4-mapped metadata');
  });

  it('the guard accepts every URL', async () => {
    const found = await faultsUnder(() => ({
      checkUrl: (text) => ({ ok: true, url: URL.parse(text) ?? new URL('http://a.example') }),
    }));
    expect(found).toContain('credentials');
  });

  it('the guard allows every port', async () => {
    const found = await faultsUnder(() => ({ allowsPort: () => true }));
    expect(found).toContain('a port outside of it, behind a name');
  });

  it('the guard refuses every address', async () => {
    const found = await faultsUnder(() => ({ allows: () => false }));
    expect(found).toContain('a public name');
  });
});
