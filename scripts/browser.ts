/** The browser of tests, proofs and benchmarks, and when a page in it has come to rest. */
import { existsSync } from 'node:fs';
import type { BrowserContext, Page, Request } from 'playwright-core';

const BROWSERS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

/** @throws Error where there is none */
export function findBrowser(): string {
  const found = BROWSERS.find((path) => existsSync(path));
  if (found === undefined) throw new Error('no browser: run `node scripts/prepare-tests.ts`');
  return found;
}

/** What each page has asked for and is waiting for. */
const underway = new WeakMap<Page, Set<Request>>();

/** From now on it is known of the pages of a window what they wait for. */
export function countRequests(context: BrowserContext): void {
  context.on('page', (page) => {
    const waiting = new Set<Request>();
    underway.set(page, waiting);
    page.on('request', (request) => {
      // A stream of events has no end.
      const stream =
        request.resourceType() === 'eventsource' || request.headers().accept?.includes('text/event-stream');
      if (stream !== true) waiting.add(request);
    });
    page.on('requestfinished', (request) => waiting.delete(request));
    page.on('requestfailed', (request) => waiting.delete(request));
  });
}

/** Waits until all has come that a page asked for, and what it asked for after that. */
export async function rested(page: Page): Promise<void> {
  const waiting = underway.get(page) ?? new Set();
  // What has come is drawn, and may ask for more: it has had two pictures to do so, in each of three rounds.
  for (let rounds = 0; rounds < 3; rounds += 1) {
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    if (waiting.size > 0) rounds = -1;
  }
}
