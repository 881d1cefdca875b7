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
  {
    file: 'server/src/accounts/keys.ts',
    line: 'await database.notify(KEYS_CHANNEL);',
    mutation: 'await database.notify(KEYS_CHANNEL) → not awaited',
    why: 'the notice is sent all the same, after the commit; what differs is seen only where the database fails just then',
  },
  {
    file: 'server/src/accounts/sessions.ts',
    line: 'await store.forgetAttempts(database, marks.account);',
    mutation: 'await store.forgetAttempts(database, marks.account) → not awaited',
    why: 'done all the same; what differs is seen only where the database fails just then, or by who asks in the same millisecond',
  },
  {
    file: 'server/src/accounts/sessions.ts',
    line: 'await store.forgiveAttempt(database, marks.address);',
    mutation: 'await store.forgiveAttempt(database, marks.address) → not awaited',
    why: 'done all the same; what differs is seen only where the database fails just then, or by who asks in the same millisecond',
  },
  {
    file: 'server/src/accounts/sessions.ts',
    line: 'if (visitor.token !== undefined) await store.endByToken(on, hashKey(visitor.token));',
    mutation: 'await store.endByToken(on, hashKey(visitor.token)) → not awaited',
    why: `asked on the transaction's own connection, which answers in order: it is done before the commit, and where it fails, so does the commit`,
  },
  {
    file: 'server/src/accounts/sessions.ts',
    line: 'await store.endSessions(on, person.userId, person.sessionId);',
    mutation: 'await store.endSessions(on, person.userId, person.sessionId) → not awaited',
    why: `asked on the transaction's own connection, which answers in order: it is done before the commit, and where it fails, so does the commit`,
  },
  {
    file: 'server/src/accounts/session-store.ts',
    line: '`delete from sessions where session_id in (select session_id from sessions where ends_at < now() limit 50)`,',
    mutation: '< → <=',
    why: 'the very microsecond on which it ends belongs to neither side',
  },
  {
    file: 'server/src/accounts/session-store.ts',
    line: "(select mark from sign_ins where last_at < now() - interval '1 day' and closed_until < now() limit 50)`,",
    mutation: '< → <=',
    why: 'the very microsecond on which it ends belongs to neither side',
  },
  {
    file: 'server/src/accounts/session-store.ts',
    line: 'await on.query(FORGET_ENDED);',
    mutation: 'await on.query(FORGET_ENDED) → not awaited',
    why: 'done all the same, and nothing of an answer hangs on it; what differs is seen only where the database fails just then',
  },
  {
    file: 'server/src/accounts/session-store.ts',
    line: 'await on.query(FORGET_ATTEMPTS);',
    mutation: 'await on.query(FORGET_ATTEMPTS) → not awaited',
    why: 'done all the same, and nothing of an answer hangs on it; what differs is seen only where the database fails just then',
  },
  {
    file: 'server/src/accounts/session-store.ts',
    line: `attempts = case when sign_ins.last_at < now() - interval '1 day' then 1 else sign_ins.attempts + 1 end,`,
    mutation: '< → <=',
    why: 'the very microsecond on which it ends belongs to neither side',
  },
  {
    file: 'server/src/accounts/session-store.ts',
    line: `closed_until = case when sign_ins.last_at < now() - interval '1 day' then now()`,
    mutation: '< → <=',
    why: 'the very microsecond on which it ends belongs to neither side',
  },
  {
    file: 'server/src/accounts/session-store.ts',
    line: 'return Math.max(1, Math.ceil(row?.seconds ?? 1));',
    mutation: '1 → 2',
    why: 'said only where the row was forgotten between two questions; a second more is no promise',
  },
  {
    file: 'server/src/accounts/passwords.ts',
    line: `const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');`,
    mutation: '/=+$/ without $',
    why: 'base64 has its padding at the end alone',
  },
  {
    file: 'server/src/accounts/passwords.ts',
    line: `if (nonce === undefined || tag === undefined) throw new Error('a stored password cannot be read');`,
    mutation: '|| → &&',
    why: 'one expression finds both or neither',
  },
  {
    file: 'server/src/accounts/secrets.ts',
    line: 'return secret.startsWith(prefix) && /^[0-9a-f]{8}$/.test(id) ? id : undefined;',
    mutation: '/^[0-9a-f]{8}$/ without $',
    why: 'the text is cut to eight characters before',
  },
  {
    file: 'server/src/accounts/secrets.ts',
    line: "writeFileSync(path, `${randomBytes(32).toString('base64')}\\n`, { flag: 'wx', mode: 0o600, flush: true });",
    mutation: 'true → false',
    why: 'whether it is on the disk already is seen only when the power fails',
  },
  {
    file: 'server/src/accounts/door.ts',
    line: `const bare = hostname.replace(/^\\[|\\]$/g, '');`,
    mutation: '/^\\[|\\]$/g without $',
    why: 'a host name of a URL has brackets at its two ends or none',
  },
  {
    file: 'documents/src/count.ts',
    line: 'for (let code = 0; code < 0x250; code++) {',
    mutation: '< → <=',
    why: 'one letter more, Latin as well, is counted here as the segmenter counts it',
  },
  {
    file: 'documents/src/count.ts',
    line: 'for (let code = 0; code < 0x250; code++) {',
    mutation: '0x250 → 593',
    why: 'one letter more, Latin as well, is counted here as the segmenter counts it',
  },
  {
    file: 'documents/src/count.ts',
    line: 'for (let code = 0x80; code < 0x250; code++) {',
    mutation: '< → <=',
    why: 'what is beyond was made no letter before',
  },
  {
    file: 'documents/src/count.ts',
    line: 'for (let code = 0x80; code < 0x250; code++) {',
    mutation: '0x250 → 593',
    why: 'what is beyond was made no letter before',
  },
  {
    file: 'documents/src/count.ts',
    line: 'continue;',
    mutation: 'continue → nothing',
    why: 'what follows steps over a space as over a word without letters',
  },
  {
    file: 'documents/src/words.ts',
    line: `if ('keep' in piece) return ['keep', piece.text];`,
    mutation: `'keep' → ''`,
    why: 'what is protected has only to read unlike anything else',
  },
  {
    file: 'server/src/ledger/prices.ts',
    line: 'return one < other ? one : other;',
    mutation: '< → <=',
    why: 'of two equal moments either is the earlier',
  },
  {
    file: 'server/src/ledger/price-list.ts',
    line: 'await store.lockPrices(transaction);',
    mutation: 'await store.lockPrices(transaction) → not awaited',
    why: `asked on the transaction's own connection, which answers in order: it is done before the commit, and where it fails, so does the commit`,
  },
  {
    file: 'server/src/ledger/price-list.ts',
    line: 'if (end !== undefined) await store.endPrice(transaction, end.id, wanted.from);',
    mutation: 'await store.endPrice(transaction, end.id, wanted.from) → not awaited',
    why: `asked on the transaction's own connection, which answers in order: it is done before the commit, and where it fails, so does the commit`,
  },
  {
    file: 'server/src/ledger/price-list.ts',
    line: 'if (price.from < at && holds(price, at)) await store.endPrice(transaction, price.id, at);',
    mutation: 'await store.endPrice(transaction, price.id, at) → not awaited',
    why: `asked on the transaction's own connection, which answers in order: it is done before the commit, and where it fails, so does the commit`,
  },
  {
    file: 'server/src/ledger/price-list.ts',
    line: 'else await store.removePrice(transaction, price.id);',
    mutation: 'await store.removePrice(transaction, price.id) → not awaited',
    why: `asked on the transaction's own connection, which answers in order: it is done before the commit, and where it fails, so does the commit`,
  },
  {
    file: 'documents/src/count.ts',
    line: 'const JOINER = 6;',
    mutation: '6 → 7',
    why: 'its number tells it from the others, whichever it is',
  },
  {
    file: 'documents/src/count.ts',
    line: 'for (let code = 0; code < 0x250; code++) {',
    mutation: '0 → 1',
    why: 'the first character of all is no letter',
  },
  {
    file: 'documents/src/count.ts',
    line: 'for (let code = 0x80; code < 0x250; code++) {',
    mutation: '0x80 → 129',
    why: 'what stands at the first place is no letter',
  },
  {
    file: 'documents/src/count.ts',
    line: '} else if (kind !== APART && isInner(before) && end + 1 < text.length) {',
    mutation: '< → <=',
    why: 'beyond the end there is nothing that joins, as at it',
  },
  {
    file: 'documents/src/count.ts',
    line: '} else if (kind !== APART && isInner(before) && end + 1 < text.length) {',
    mutation: '+ → -',
    why: 'beyond the end there is nothing that joins, as at it',
  },
  {
    file: 'server/src/ledger/prices.ts',
    line: "return `${tier} ${accountId ?? '*'} ${pair?.sourceLanguage ?? '*'} ${pair?.targetLanguage ?? '*'}`;",
    mutation: `'*' → ''`,
    why: 'it stands for what was not named; no id and no shortname is empty either',
  },
  {
    file: 'server/src/ledger/price-list.ts',
    line: 'let until = 0;',
    mutation: '0 → 1',
    why: 'nothing is known before the first question, whatever the time',
  },
  {
    file: 'server/src/ledger/price-list.ts',
    line: 'if (replace !== undefined) await store.removePrice(transaction, replace.id);',
    mutation: 'await store.removePrice(transaction, replace.id) → not awaited',
    why: `asked on the transaction's own connection, which answers in order: it is done before the commit, and where it fails, so does the commit`,
  },
  {
    file: 'server/src/ledger/price-list.ts',
    line: 'await store.insertPrice(transaction, { ...price, id: uuidv7() });',
    mutation: 'await store.insertPrice(transaction, { ...price, id: uuidv7() }) → not awaited',
    why: `asked on the transaction's own connection, which answers in order: it is done before the commit, and where it fails, so does the commit`,
  },
];
