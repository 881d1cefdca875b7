/** The rooms whose tests are tried, and the tests that each is held by: its own, not those that come by chance. */
export interface Room {
  /** Named in the promise: nine of ten mutants, and a reason for each that survives. The others: four of five. */
  critical: boolean;
  /** Files and folders below `packages`. */
  files: readonly string[];
  tests: readonly string[];
}

export const ROOMS: Readonly<Record<string, Room>> = {
  ledger: {
    critical: true,
    files: ['server/src/ledger/ledger.ts', 'server/src/ledger/store.ts'],
    tests: ['server/src/ledger/', 'server/src/jobs/counts.test.ts'],
  },
  prices: {
    critical: true,
    files: ['server/src/ledger/prices.ts', 'server/src/ledger/price-list.ts'],
    tests: ['server/src/ledger/price'],
  },
  words: {
    critical: true,
    files: ['documents/src/count.ts', 'documents/src/words.ts'],
    tests: ['documents/src/count.test.ts', 'documents/test/words.test.ts'],
  },
  states: {
    critical: true,
    files: ['server/src/jobs/states.ts', 'server/src/chats/states.ts', 'server/src/editing/states.ts'],
    tests: [
      'server/src/jobs/states.test.ts',
      'server/src/chats/states.test.ts',
      'server/src/editing/moves.test.ts',
      'server/src/editing/states.test.ts',
      'server/src/jobs/cancel.test.ts',
    ],
  },
  signer: {
    critical: true,
    files: ['server/src/deliveries/signature.ts'],
    tests: ['server/src/deliveries/signature.test.ts', 'server/src/deliveries/independent.test.ts'],
  },
  addresses: {
    critical: true,
    files: ['server/src/deliveries/addresses.ts', 'server/src/deliveries/connector.ts'],
    tests: [
      'server/src/deliveries/addresses.test.ts',
      'server/src/deliveries/closed.test.ts',
      'server/src/deliveries/connector',
      'server/src/deliveries/post.tls.test.ts',
    ],
  },
  authentication: {
    critical: true,
    files: [
      'server/src/accounts/keys.ts',
      'server/src/accounts/sessions.ts',
      'server/src/accounts/session-store.ts',
      'server/src/accounts/passwords.ts',
      'server/src/accounts/secrets.ts',
      'server/src/accounts/door.ts',
    ],
    tests: [
      'server/src/accounts/keys.test.ts',
      'server/src/accounts/session',
      'server/src/accounts/visitors.test.ts',
      'server/src/accounts/passwords.test.ts',
      'server/src/accounts/secrets.test.ts',
      'server/src/accounts/door.test.ts',
      'server/src/accounts/people.test.ts',
    ],
  },
  documents: {
    critical: false,
    files: [
      ...['align', 'codes', 'cues', 'cut', 'escapes', 'html-stack', 'html', 'lengths', 'lines', 'pieces'],
      ...['rebuild', 'render', 'repair', 'sentences', 'splice', 'srt', 'text', 'xliff-inline', 'xliff-units'],
    ].map((name) => `documents/src/${name}.ts`),
    tests: ['documents/src/', 'documents/test/'],
  },
  checks: {
    critical: false,
    files: [
      ...['addresses', 'bidi', 'codes', 'distance', 'doubled-words', 'empty', 'end-mark', 'endings'],
      ...['glossary', 'length', 'numbers', 'placeholders', 'punctuation', 'spaces', 'subtitles', 'terms'],
      ...['tokens', 'untranslated'],
    ].map((name) => `checks/src/${name}.ts`),
    tests: ['checks/src/', 'checks/test/'],
  },
  deliveries: {
    critical: false,
    files: ['breaker', 'deliveries', 'desk', 'queue', 'schedule', 'sender', 'store'].map(
      (name) => `server/src/deliveries/${name}.ts`,
    ),
    tests: ['server/src/deliveries/'],
  },
  jobs: {
    critical: false,
    files: ['create', 'insert', 'jobs', 'prepare', 'query', 'request', 'store', 'upgrade', 'verdict'].map(
      (name) => `server/src/jobs/${name}.ts`,
    ),
    tests: ['server/src/jobs/'],
  },
  editing: {
    critical: false,
    files: [
      'access',
      'access-store',
      'claims',
      'claims-store',
      'edits-store',
      'finish',
      'request',
      'review',
      'save',
      'store',
    ].map((name) => `server/src/editing/${name}.ts`),
    tests: ['server/src/editing/'],
  },
};
