/**
 * The scenario of the turns proof: each door of the service that takes a long text gets texts of its greatest length,
 * filled with one short text (an atom) over and over. The service measures how long the event loop worked without a turn.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ATOMS, fill, PLACES } from '../../packages/documents/test/growth.ts';
import { createAccount, runCommand } from '../../scripts/program.ts';
import { inReference, timeUnit } from '../../scripts/test-budget.ts';
import { createRandom } from '../harness/random.ts';
import type { RunOptions } from '../harness/run.ts';
import { startService } from '../harness/service.ts';
import { createUser, SAME_ORIGIN, signIn } from '../harness/users.ts';

const MEBIBYTE = 1024 * 1024;
/** A file for an import, with some room for what is around the filler. */
const LONGEST_FILE = 7.9 * MEBIBYTE;
const ACCOUNT = 'acme';
const BRANDS = `/api/console/accounts/${ACCOUNT}/brands/shop`;
const PAIR = { source_language: 'en', target_language: 'es' };
/** How often the service notes its processor time, in milliseconds. It is the error of a measurement. */
const NOTE_MILLISECONDS = 4;
/** A service without work has only turns below this time. */
const CALM_MILLISECONDS = 10;
const CALM_READINGS = 5;

/** A door: a field of a request that takes a long text. */
interface Door {
  name: string;
  method?: string;
  path: string;
  /** True if the door refuses every such text, so that only the refusal is measured. */
  refuses?: true;
  /** The greatest length of the filler, in bytes. */
  length: number;
  by: 'key' | 'customer' | 'operator';
  body(filler: string): unknown;
}

export interface Turn {
  door: string;
  atom: string;
  status: number;
  /** The processor time of the longest turn, in milliseconds of the reference machine. */
  milliseconds: number;
}

/** The goal in milliseconds of the reference machine. */
export const LONGEST_TURN = 100;

export interface TurnsHistory {
  /** The number of doors. */
  doors: number;
  /** The doors that took none of the texts, so that only a refusal was measured. */
  shut: string[];
  turns: Turn[];
  /** A turn that the proof kept busy itself for 600 ms, as it was measured. */
  planted: number;
}

export interface TurnsOptions extends RunOptions {
  /** The number of texts for each door. */
  count: number;
}

/** What the route of agents answers with. */
const ACCEPTED = 'application/json, text/event-stream';
const job = (format: string, text: string) => ({ ...PAIR, text_format: format, text });
const tmx = (filler: string, place: 'seg' | 'note' | 'attribute' | 'units' | 'code' | 'header') => {
  const at = (one: typeof place) => (place === one ? filler : '');
  const unit = (text: string) =>
    `<tu${at('attribute')}><note>${at('note')}</note><tuv xml:lang="en"><seg>${text}</seg></tuv><tuv xml:lang="es"><seg>casa</seg></tuv></tu>\n`;
  const code = place === 'code' ? `<ph>${filler}</ph>` : '';
  const units = place === 'units' ? unit('house').repeat(Math.floor(filler.length / 150)) : '';
  return `<tmx version="1.4"><header creationtool="${at('header')}"/><body>\n${unit(`house ${at('seg')}${code}`)}${units}</body></tmx>`;
};
const tbx = (filler: string, place: 'term' | 'note' | 'attribute' | 'entries') => {
  const at = (one: typeof place) => (place === one ? filler : '');
  const entry = (term: string) =>
    `<termEntry${at('attribute')}><note>${at('note')}</note><langSet xml:lang="en"><tig><term>${term}</term></tig></langSet><langSet xml:lang="es"><tig><term>casa</term></tig></langSet></termEntry>\n`;
  const entries =
    place === 'entries'
      ? Array.from({ length: filler.length / 200 }, (_, i) => entry(`house ${i}`)).join('')
      : '';
  return `<martif type="TBX" xml:lang="en"><text><body>\n${entry(`house ${at('term')}`)}${entries}</body></text></martif>`;
};

const importing = (name: string, length: number, text: (filler: string) => string): Door => ({
  name: `glossary import, ${name}`,
  path: `${BRANDS}/import`,
  length,
  by: 'operator',
  body: (filler) => ({
    revision: 0,
    language: 'es',
    from: 'en',
    text: text(filler),
    mode: 'merge',
    dry_run: true,
  }),
});
const remembering = (place: Parameters<typeof tmx>[1]): Door => ({
  name: `memory import, ${place}`,
  ...(['seg', 'attribute'].includes(place) ? { refuses: true } : {}),
  path: '/api/account/memory/import',
  length: LONGEST_FILE,
  by: 'customer',
  body: (filler) => ({ from: 'en', to: 'es', tmx: tmx(filler, place), dry_run: true }),
});

/** The slowest patterns that a brand accepts. */
const PATTERNS = [0, 1].map((index) => `a[ab ]{0,140}Q${index}`);
const { below } = createRandom(7);
/**
 * Returns a new text in which the patterns never match, so that each is tried at each character. No text is sent twice,
 * because a pattern is fast where it was before.
 */
const unmatched = (length: number): string => Array.from({ length }, () => 'ab'[below(2)]).join('');
let messages = 0;
/** Patterns of which a single one is larger than a brand accepts. */
const TOO_LARGE = Array.from({ length: 50 }, () => `${'[a ]{0,999}'.repeat(17)}Q`);
/** A text up to 512 characters is read at once, a longer one in a scanner process. */
const withPatterns = (length: number): Door[] => [
  {
    name: `chat message, patterns, ${length} characters`,
    path: '/v2/chats/messages',
    length: 0,
    by: 'key',
    body: () => ({
      ...job('text', unmatched(length)),
      brand: 'patterns',
      chat_external_id: 'patterns',
      external_id: String(++messages),
      author_external_id: 'one',
      agent_external_id: 'two',
    }),
  },
  {
    name: `job, patterns, ${length} characters`,
    path: '/tapi/v2/mt_translation/',
    length: 0,
    by: 'key',
    body: () => ({ ...job('text', unmatched(length)), brand: 'patterns' }),
  },
  {
    name: `trial of patterns, ${Math.min(length, 5_000)} characters`,
    path: `${BRANDS}/protect`,
    length: 0,
    by: 'operator',
    body: () => ({ protect: PATTERNS, text: unmatched(Math.min(length, 5_000)) }),
  },
];

const LONGEST_TEXT = 9 * MEBIBYTE;
export const DOORS: readonly Door[] = [
  ...PLACES.map(
    ({ format, name, around }): Door => ({
      name: `job, ${format}, ${name}`,
      // Nearly no filler is well-formed there.
      ...(['tag', 'element name', 'time line', 'attribute'].includes(name) ? { refuses: true } : {}),
      path: '/tapi/v2/mt_translation/',
      length: 20_000,
      by: 'key',
      body: (filler) => job(format, around(filler)),
    }),
  ),
  {
    name: 'job, longest text',
    path: '/tapi/v2/translation/',
    length: LONGEST_TEXT,
    by: 'key',
    body: (filler) => job('text', filler),
  },
  {
    name: 'job, another field',
    refuses: true,
    path: '/tapi/v2/mt_translation/',
    length: MEBIBYTE,
    by: 'key',
    body: (filler) => ({
      ...job('text', 'House.'),
      instructions: filler,
      [filler.slice(0, 100_000)]: filler,
    }),
  },
  {
    name: 'bulk',
    method: 'PATCH',
    path: '/tapi/v2/translation/',
    length: MEBIBYTE,
    by: 'key',
    body: (filler) => ({
      objects: Array.from({ length: 50 }, () => job('text', filler.slice(0, filler.length / 50))),
    }),
  },
  {
    name: 'word count',
    path: '/tapi/v2/wordcount/',
    length: MEBIBYTE,
    by: 'key',
    body: (filler) => ({ source_language: 'en', text: filler }),
  },
  {
    name: 'quote, language unknown',
    path: '/api/v1/quote/',
    length: MEBIBYTE,
    by: 'key',
    body: (filler) => ({ target_language: 'es', text: `The house is big and old. ${filler}` }),
  },
  {
    name: 'chat message',
    path: '/v2/chats/messages',
    length: 15_000,
    by: 'key',
    body: (filler) => ({
      ...PAIR,
      chat_external_id: 'one',
      external_id: 'one',
      text: filler,
      text_format: 'text',
      author_external_id: 'one',
      agent_external_id: 'two',
    }),
  },
  ...[512, 15_000].flatMap(withPatterns),
  {
    name: 'trial of patterns, too large',
    refuses: true,
    path: `${BRANDS}/protect`,
    length: 4_900,
    by: 'operator',
    body: (filler) => ({ protect: TOO_LARGE, text: filler }),
  },
  {
    name: 'document in the browser',
    path: '/api/account/documents/quote',
    length: MEBIBYTE,
    by: 'customer',
    body: (filler) => ({
      environment: 'production',
      tier: 'human',
      source_language: 'en',
      target_languages: ['es'],
      text: filler,
      name: filler.slice(0, 200),
    }),
  },
  importing('cell', LONGEST_FILE, (filler) => `source,target\nhouse,"${filler}"\n`),
  importing('raw', LONGEST_FILE, (filler) => `source,target\nhouse,casa\n${filler}`),
  importing('header', LONGEST_FILE, (filler) => `source,target${filler}\nhouse,casa\n`),
  importing('rows', LONGEST_FILE, () =>
    ['source,target', ...Array.from({ length: 49_000 }, (_, i) => `house ${i},casa ${i}`)].join('\n'),
  ),
  ...(['term', 'note', 'attribute', 'entries'] as const).map((place) =>
    importing(`TBX, ${place}`, LONGEST_FILE, (filler) => tbx(filler, place)),
  ),
  ...(['seg', 'note', 'attribute', 'units', 'code', 'header'] as const).map(remembering),
  {
    name: 'brand, preview',
    path: `${BRANDS}/preview`,
    length: 4_900,
    by: 'operator',
    body: (filler) => ({ language: 'es', source_language: 'en', text: filler, of: 'published' }),
  },
  {
    name: 'brand, notes',
    method: 'PATCH',
    path: `${BRANDS}/draft`,
    length: 4_000,
    by: 'operator',
    body: (filler) => ({ revision: 0, languages: { es: { instructions: filler } } }),
  },
  {
    name: 'comparison of engines',
    path: '/api/console/comparisons',
    length: 600,
    by: 'operator',
    body: (filler) => {
      const text = Array(30)
        .fill(`The house ${filler.replaceAll(/\s/g, ' ')}`)
        .join('\n');
      return { ...PAIR, engines: ['apertium'], text, references: text };
    },
  },
  {
    name: 'tools of agents',
    path: '/mcp',
    length: MEBIBYTE,
    by: 'key',
    body: (filler) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'quote', arguments: { ...PAIR, text: filler } },
    }),
  },
];

/**
 * Returns the option of Node that lets the service note the processor time of its longest turn. On SIGUSR2 it writes the
 * time in microseconds to a file, and begins again. Processor time is counted, because another process of a busy machine
 * is no fault of the service.
 */
function watching(file: string): string {
  const code = `
    import { isMainThread } from 'node:worker_threads';
    import { renameSync, writeFileSync } from 'node:fs';
    if (isMainThread && process.argv.includes('serve')) {
      let most = 0, last = process.threadCpuUsage();
      const note = () => {
        const now = process.threadCpuUsage();
        most = Math.max(most, now.user + now.system - last.user - last.system);
        last = now;
      };
      setInterval(note, ${NOTE_MILLISECONDS}).unref();
      process.on('SIGUSR2', () => setTimeout(() => {
        note();
        writeFileSync(${JSON.stringify(`${file}.new`)}, String(most));
        renameSync(${JSON.stringify(`${file}.new`)}, ${JSON.stringify(file)});
        most = 0;
      }, 20));
      process.on('SIGWINCH', () => {
        const spent = ({ user, system }) => user + system;
        for (const from = spent(process.threadCpuUsage()); spent(process.threadCpuUsage()) < from + 600_000; ) ;
      });
    }`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}

/**
 * Measures once more if a turn takes too long, and again after that. The least time counts: the collection of garbage and
 * the other processes of a busy machine only add to it. Of the answers, the worst counts.
 */
async function least(
  measure: () => Promise<Pick<Turn, 'status' | 'milliseconds'>>,
  first: ReturnType<typeof measure> = measure(),
) {
  let { status, milliseconds } = await first;
  for (let again = 0; again < 2 && milliseconds > LONGEST_TURN; again++) {
    const next = await measure();
    milliseconds = Math.min(milliseconds, next.milliseconds);
    status = Math.max(status, next.status);
  }
  return { status, milliseconds };
}

export async function runTurns({ directory, count, seed, say }: TurnsOptions): Promise<TurnsHistory> {
  const file = join(directory, 'longest-turn');
  const data = join(directory, 'data');
  const service = await startService(data, {
    NODE_OPTIONS: watching(file),
    DRAGOMAN_LOG_LEVEL: 'error',
    DRAGOMAN_MT_HOLD: '86400', // Jobs are checked and counted, and not translated.
  });
  const { url } = service;
  const account = await createAccount(data, ACCOUNT, 1_000_000_000, { chat: true });
  await createUser(data, 'customer@example.com', 'customer', '--account', ACCOUNT);
  await createUser(data, 'operator@example.com', 'operator');
  const customer = await signIn(url, 'customer@example.com');
  const operator = await signIn(url, 'operator@example.com');
  const headers = {
    key: { authorization: `ApiKey ${account.production_key}` },
    customer: { cookie: customer, ...SAME_ORIGIN },
    operator: { cookie: operator, ...SAME_ORIGIN },
  };
  const brand = join(directory, 'brand.json');
  for (const one of [
    { external_id: 'shop', name: 'Shop', languages: { es: {} } },
    { external_id: 'patterns', protect: PATTERNS, languages: { es: {} } },
  ]) {
    writeFileSync(brand, JSON.stringify(one));
    await runCommand(data, 'brand', 'import', ACCOUNT, brand);
  }

  async function longestTurn(): Promise<number> {
    rmSync(file, { force: true });
    service.program.child.kill('SIGUSR2');
    while (!existsSync(file)) await wait(2);
    return inReference(Number(readFileSync(file, 'utf8')) / 1_000, timeUnit());
  }

  /** Waits until the service rests. Workers go on after the answer: they draft and store what was ordered. */
  async function rest(): Promise<number> {
    let longest = 0;
    for (let calm = 0; calm < CALM_READINGS; ) {
      await wait(200);
      const turn = await longestTurn();
      longest = Math.max(longest, turn);
      calm = turn < CALM_MILLISECONDS ? calm + 1 : 0;
    }
    return longest;
  }

  async function post(door: Door, body: string): Promise<number> {
    await longestTurn();
    const answer = await fetch(`${url}${door.path}`, {
      method: door.method ?? 'POST',
      headers: { 'content-type': 'application/json', accept: ACCEPTED, ...headers[door.by] },
      body,
    });
    await answer.text();
    return answer.status;
  }

  const random = createRandom(seed);
  const atoms = [...ATOMS];
  const turns: Turn[] = [];
  for (const door of DOORS) {
    let again = async () => ({ status: 0, milliseconds: 0 });
    for (let turn = 0; turn < count; turn++) {
      const [atom, text] = atoms[random.below(atoms.length)]!;
      const filler = fill(text, door.length);
      const measure = async () => {
        const status = await post(door, JSON.stringify(door.body(filler)));
        return { status, milliseconds: await longestTurn() };
      };
      turns.push({ door: door.name, atom, ...(await least(measure)) });
      again = async () => ({ ...(await measure()), milliseconds: await rest() });
    }
    const last = { ...turns.at(-1)!, atom: 'afterwards' };
    const rested = rest().then((milliseconds) => ({ ...last, milliseconds }));
    turns.push({ ...last, ...(await least(again, rested)) });
    const own = turns.filter((one) => one.door === door.name);
    const longest = Math.max(...own.map(({ milliseconds }) => milliseconds));
    say(
      `${door.name}: ${Math.round(longest)} ms, ${[...new Set(own.map(({ status }) => status))].join(' ')}`,
    );
  }
  await longestTurn();
  service.program.child.kill('SIGWINCH');
  await wait(50);
  const planted = await longestTurn();
  await runCommand(data, 'ledger', 'verify');
  await service.stop();
  const isTaken = ({ name }: Door) => turns.some(({ door, status }) => door === name && status < 300);
  const shut = DOORS.filter((door) => !door.refuses && !isTaken(door));
  return { doors: DOORS.length, shut: shut.map(({ name }) => name), turns, planted };
}
