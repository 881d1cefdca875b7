/**
 * `npm run bench -- workbench` measures the workbench with 2,000 and 10,000 segments, compared with one
 * segment. It also compares the time of a keystroke with that in an editable element without the workbench,
 * and the download size with its limit (`scripts/web-size.ts`). The goals hold for 2,000 segments. The built page is
 * measured (run `npm run build` first). The benchmark starts its own server, which returns the tasks.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import type { Lease, Me, Segment, Task } from '../packages/web/src/api/generated.ts';
import { findBrowser } from '../scripts/browser.ts';
import { BuiltApp, MAX_WORKBENCH_KB } from '../scripts/web-size.ts';
import { type Figure, type Flags, goalAtMost, median, type Report } from './figures.ts';

const DIST = new URL('../packages/web/dist/', import.meta.url);
/** The number of segments of a long task. The goals hold for it. */
const LONG = 2_000;
/** The maximum time of a keystroke, compared with an editable element without the workbench. */
const MAX_KEYSTROKE = 1.1;
/** The maximum time to confirm a segment and show the next one, in keystrokes. */
const MAX_CONFIRM = 2;
const TYPES: Record<string, string> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
};
const HOUR_MS = 3_600_000;

export async function benchWorkbench({ numbers }: Flags): Promise<Report> {
  const rounds = numbers.rounds ?? 3;
  const server = await serve();
  const executablePath = findBrowser();
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const sizes = [1, LONG, 10_000];
    const measured = new Map<number, Measures[]>(sizes.map((size) => [size, []]));
    const bare: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const size of sizes) {
        const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
        measured.get(size)!.push(await measure(page, url, size));
        await page.close();
      }
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
      await page.goto(`${url}/bare`);
      await page.locator('[contenteditable]').focus();
      bare.push(await keystroke(page));
      await page.close();
    }
    const of = (size: number, pick: keyof Measures) => median(measured.get(size)!.map((one) => one[pick]));
    const figures: Figure[] = [];
    for (const size of sizes.slice(1)) {
      const beside = (name: string, pick: keyof Measures): Figure => ({
        name: `${name}, ${size.toLocaleString('en')} segments`,
        value: of(size, pick),
        unit: 'ms',
        ratio: { value: of(size, pick) / of(1, pick), against: 'one segment' },
      });
      figures.push(
        beside('task answered to text drawn', 'mount'),
        beside('page asked for to text drawn', 'paint'),
      );
      figures.push(
        {
          name: `keystroke to frame, ${size.toLocaleString('en')} segments`,
          value: of(size, 'key'),
          unit: 'ms',
          ratio: { value: of(size, 'key') / median(bare), against: 'a bare editable element' },
        },
        {
          name: `confirm and next to frame, ${size.toLocaleString('en')} segments`,
          value: of(size, 'confirm'),
          unit: 'ms',
          ratio: { value: of(size, 'confirm') / of(size, 'key'), against: 'a keystroke' },
        },
      );
    }
    const key = of(LONG, 'key');
    figures.push(
      goalAtMost('keystroke, in keystrokes of a bare editable element', key / median(bare), MAX_KEYSTROKE),
      goalAtMost('confirm and next, in keystrokes', of(LONG, 'confirm') / key, MAX_CONFIRM),
    );
    const weight = new BuiltApp().kilobytesOver('src/workbench/Task.tsx');
    figures.push(goalAtMost('the workbench over the shell, compressed', weight, MAX_WORKBENCH_KB, ' kB', 1));
    return { figures };
  } finally {
    await browser.close();
    server.close();
  }
}

interface Measures {
  mount: number;
  paint: number;
  key: number;
  confirm: number;
}

async function measure(page: Page, url: string, size: number): Promise<Measures> {
  // In the flow view, which is the default for HTML, a segment has no text field until the editor begins to type.
  await page.addInitScript("localStorage.setItem('dragoman.view.html', 'rows')");
  await page.goto(`${url}/app/tasks/${size}`);
  await page.locator('[role=textbox]:focus').waitFor();
  const { mount, paint } =
    (await page.evaluate(`new Promise((done) => requestAnimationFrame(() => setTimeout(() => {
    const answered = performance.getEntriesByType('resource').findLast(({ name }) => name.includes('/api/editing/tasks/'));
    done({ mount: performance.now() - answered.responseEnd, paint: performance.now() });
  })))`)) as { mount: number; paint: number };
  const key = await keystroke(page);
  const confirms: number[] = [];
  // A task with one segment is skipped, because it has no next segment to move to.
  for (let time = 0; time < 20 && size > 1; time += 1) confirms.push(await framed(page, 'Control+Enter'));
  return { mount, paint, key, confirm: median(confirms.length > 0 ? confirms : [key]) };
}

async function keystroke(page: Page): Promise<number> {
  const times: number[] = [];
  for (const letter of 'the quick brown fox jumps')
    times.push(await framed(page, letter === ' ' ? 'Space' : letter));
  return median(times);
}

/** Returns the milliseconds from the event of a key to the next frame. */
async function framed(page: Page, key: string): Promise<number> {
  await page.evaluate(`void (globalThis.framed = new Promise((done) => {
    addEventListener('keydown', function pressed({ key }) {
      if (key === 'Control') return;
      removeEventListener('keydown', pressed, { capture: true });
      const begun = performance.now();
      requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
    }, { capture: true });
  }))`);
  await page.keyboard.press(key);
  return (await page.evaluate('globalThis.framed')) as number;
}

/** Serves the files of the page, a signed-in user and tasks. The name of a task is its number of segments. */
async function serve(): Promise<Server> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://localhost');
    const json = (body: unknown) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(body));
    };
    const segment = /^\/api\/editing\/tasks\/(\d+)\/segments\/(\d+)$/.exec(pathname);
    if (pathname === '/bare') {
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><div contenteditable style="white-space: break-spaces">text</div>');
    } else if (pathname === '/api/session') json(ME);
    else if (segment) {
      let body = '';
      request.on('data', (part: Buffer) => {
        body += part.toString();
      });
      request.on('end', () => {
        const { revision, target, status } = JSON.parse(body) as {
          revision: number;
          target: unknown;
          status: string;
        };
        const saved = { ...segmentOf(Number(segment[2])), revision: revision + 1, target, status };
        json({ segment: saved, filled: [], findings: [], lease: leaseNow() });
      });
    } else if (pathname.endsWith('/matches')) json({ matches: [], terms: [] });
    else if (pathname.startsWith('/api/editing/tasks/')) json(taskOf(Number(pathname.split('/')[4])));
    else {
      const file = new URL(pathname.slice('/app/'.length), DIST);
      const isFile = extname(pathname) !== '' && existsSync(file);
      response.setHeader('content-type', isFile ? (TYPES[extname(pathname)] ?? 'font/woff2') : 'text/html');
      response.end(readFileSync(isFile ? file : new URL('index.html', DIST)));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const ME: Me = {
  user_id: '00000000-0000-7000-8000-000000000001',
  email: 'bench@example.com',
  name: 'Bench',
  role: 'editor',
  locale: 'en',
  theme: 'light',
  languages: [],
  has_password: true,
  second_factor: false,
  second_factor_missing: false,
  session: {
    session_id: '00000000-0000-7000-8000-000000000002',
    by_provider: false,
    ends_at: '2100-01-01T00:00:00Z',
    idle_seconds: 1_800,
  },
};

const leaseNow = (): Lease => {
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  return {
    token: '1',
    now: at(0),
    lease_until: at(HOUR_MS),
  };
};

const SOURCES = [
  'Your order has been shipped and will arrive within 3 days.',
  'You can return the backpack free of charge through our returns page.',
  'If the zip is damaged, our warranty covers the repair for the lifetime of the product.',
  'Best regards.',
];

function segmentOf(position: number): Segment {
  const text = SOURCES[position % SOURCES.length]!;
  const half = text.indexOf(' ') + 1;
  const pieces = (words: string) => [
    { text: words.slice(0, half) },
    { open: 1 },
    { text: words.slice(half, -1) },
    { close: 1 },
    { text: words.slice(-1) },
  ];
  return {
    position,
    unit: position >> 1,
    source: pieces(text),
    target: null,
    draft: pieces(text.replaceAll('e', 'é')),
    origin: 'machine',
    route: 'bench',
    status: 'open',
    revision: 0,
    mine: true,
    notes: [],
    draft_notes: [],
    codes: { open1: '<b>', close1: '</b>' },
    filled: false,
    changed: false,
    acknowledged: [],
    asked: false,
    unsure: false,
    comments: 0,
    issues: [],
  };
}

const taskOf = (count: number): Task => ({
  task: String(count),
  kind: 'edit',
  status: 'claimed',
  access: 'held',
  words: count * 10,
  returned: false,
  active_ms: 0,
  job: {
    uid: 'bench',
    name: null,
    order_number: 1,
    format: 'html',
    source_language: 'en',
    target_language: 'es',
    tone: null,
    topics: [],
    brand: null,
    instructions: [],
    words: count * 10,
    revision: 1,
    created_at: '2026-01-01T00:00:00Z',
    deadline: '2100-01-01T00:00:00Z',
  },
  lease: leaseNow(),
  segments: Array.from({ length: count }, (_, position) => segmentOf(position)),
  terms: [],
  comments: [],
  queries: [],
});
