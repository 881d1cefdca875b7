/** Finds the browser for tests, proofs and benchmarks, and waits until a page is idle. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page, Request } from 'playwright-core';
import { TOOLS } from './test-tools.ts';

export const BROWSERS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const PRIVATE = join(TOOLS, 'bin/chromium-headless-shell');

/**
 * Returns the path of an installed browser.
 *
 * @throws Error when none is installed
 */
export function findBrowser(): string {
  const found = [...BROWSERS, PRIVATE].find((path) => existsSync(path));
  if (found === undefined) throw new Error('no browser: run `node scripts/prepare-tests.ts`');
  return found;
}

/** The requests of each page that have no response yet. */
const pending = new WeakMap<Page, Set<Request>>();

/** Counts the requests of the browser context's pages from now on. {@link rested} needs it. */
export function countRequests(context: BrowserContext): void {
  context.on('page', (page) => {
    const waiting = new Set<Request>();
    pending.set(page, waiting);
    page.on('request', (request) => {
      // An event stream never ends, so it is not counted.
      const stream =
        request.resourceType() === 'eventsource' || request.headers().accept?.includes('text/event-stream');
      if (stream !== true) waiting.add(request);
    });
    page.on('requestfinished', (request) => waiting.delete(request));
    page.on('requestfailed', (request) => waiting.delete(request));
  });
}

/** Waits until a page has received all responses, including responses to requests that earlier responses caused. */
export async function rested(page: Page): Promise<void> {
  const waiting = pending.get(page) ?? new Set();
  // Rendering a response may cause more requests. The page therefore gets two frames in each of three rounds.
  for (let rounds = 0; rounds < 3; rounds += 1) {
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    if (waiting.size > 0) rounds = -1;
  }
}
