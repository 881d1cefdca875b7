/** The browser of tests, proofs and benchmarks, and waiting until a page is idle. */
import { existsSync } from 'node:fs';
import type { BrowserContext, Page, Request } from 'playwright-core';

const BROWSERS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

/** Returns the path of the browser. @throws Error when none is installed */
export function findBrowser(): string {
  const found = BROWSERS.find((path) => existsSync(path));
  if (found === undefined) throw new Error('no browser: run `node scripts/prepare-tests.ts`');
  return found;
}

/** The unanswered requests of each page. */
const pending = new WeakMap<Page, Set<Request>>();

/** Counts the requests of the window's pages from now on, for {@link rested}. */
export function countRequests(context: BrowserContext): void {
  context.on('page', (page) => {
    const waiting = new Set<Request>();
    pending.set(page, waiting);
    page.on('request', (request) => {
      // An event stream never ends.
      const stream =
        request.resourceType() === 'eventsource' || request.headers().accept?.includes('text/event-stream');
      if (stream !== true) waiting.add(request);
    });
    page.on('requestfinished', (request) => waiting.delete(request));
    page.on('requestfailed', (request) => waiting.delete(request));
  });
}

/** Waits until all requests of a page are answered, and those that followed from the answers. */
export async function rested(page: Page): Promise<void> {
  const waiting = pending.get(page) ?? new Set();
  // Answers are drawn and may cause more requests: the page gets two frames for that, in each of three rounds.
  for (let rounds = 0; rounds < 3; rounds += 1) {
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    if (waiting.size > 0) rounds = -1;
  }
}
