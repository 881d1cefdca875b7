/**
 * Mutants of the critical rooms that no test kills, each with the reason why that is right: it does what the original
 * does, or what differs is no promise. A reason whose mutant there is no more is an error.
 */
export interface Survivor {
  /** Below `packages`. */
  file: string;
  /** The line as it stands, without its indentation. */
  line: string;
  mutation: string;
  why: string;
}

export const SURVIVORS: readonly Survivor[] = [
  {
    file: 'server/src/deliveries/signature.ts',
    line: 'if (entry.length === expected.length && timingSafeEqual(entry, expected)) matches += 1;',
    mutation: '1 → 2',
    why: 'how many matched is not asked, only whether any did',
  },
  {
    file: 'server/src/deliveries/addresses.ts',
    line: `const LOCAL_NAMES = ['localhost', 'local', 'home.arpa', 'internal', 'localdomain', 'lan', 'intranet', 'corp'];`,
    mutation: `'localhost' → ''`,
    why: 'names under localhost are decided before, as names of the loopback; no name ends with a dot here',
  },
  {
    file: 'server/src/deliveries/addresses.ts',
    line: 'const hex = isIP(text) === 6 ? URL.parse(`http://[${text}]`)?.hostname.slice(1, -1) : undefined;',
    mutation: 'isIP(text) === 6 → true',
    why: 'what is no IPv6 address is no URL in brackets either, and is read as it is',
  },
  {
    file: 'server/src/deliveries/addresses.ts',
    line: `return url.protocol === 'https:' ? 443 : 80;`,
    mutation: `url.protocol === 'https:' → true`,
    why: '443 and 80 are both open everywhere: no verdict hangs on which of them it is',
  },
  {
    file: 'server/src/deliveries/addresses.ts',
    line: `return url.protocol === 'https:' ? 443 : 80;`,
    mutation: `url.protocol === 'https:' → false`,
    why: '443 and 80 are both open everywhere: no verdict hangs on which of them it is',
  },
  {
    file: 'server/src/deliveries/addresses.ts',
    line: `return url.protocol === 'https:' ? 443 : 80;`,
    mutation: '=== → !==',
    why: '443 and 80 are both open everywhere: no verdict hangs on which of them it is',
  },
  {
    file: 'server/src/deliveries/addresses.ts',
    line: `return url.protocol === 'https:' ? 443 : 80;`,
    mutation: `'https:' → ''`,
    why: '443 and 80 are both open everywhere: no verdict hangs on which of them it is',
  },
  {
    file: 'server/src/deliveries/connector.ts',
    line: 'buildConnector({ allowH2: false, rejectUnauthorized: true, timeout: Math.ceil(timeoutMs / 2) });',
    mutation: 'ceil → floor',
    why: 'half a millisecond of a time limit; half the time for one address is a share, not a promise',
  },
  {
    file: 'server/src/deliveries/connector.ts',
    line: 'buildConnector({ allowH2: false, rejectUnauthorized: true, timeout: Math.ceil(timeoutMs / 2) });',
    mutation: '/ → *',
    why: 'the promise is the time for everything, which a timer of ours keeps; the share of one address is only seen against a network that swallows packets, which no test on the loopback has',
  },
  {
    file: 'server/src/deliveries/connector.ts',
    line: 'buildConnector({ allowH2: false, rejectUnauthorized: true, timeout: Math.ceil(timeoutMs / 2) });',
    mutation: '2 → 3',
    why: 'the promise is the time for everything, which a timer of ours keeps; the share of one address is no promise',
  },
  {
    file: 'server/src/deliveries/connector.ts',
    line: `throw failure ?? new ConnectFailed('ETIMEDOUT', 'no connection in time');`,
    mutation: `'ETIMEDOUT' → ''`,
    why: 'thrown only after the time is over, when the caller has been told so already and nobody listens',
  },
];
