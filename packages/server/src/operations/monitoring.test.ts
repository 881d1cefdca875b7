/** Checks that the program, the documentation, the alerts and the dashboard all use the same metrics. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../testing/harness.ts';

const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');
const OURS = /\bdragoman_[a-z_]+/g;
const TOKEN = 'for-the-test';

let server: TestServer;
/** What the program exposes at its start. */
let text: string;
/** The type of each exposed metric, by name. */
let exposed: Map<string, string>;
beforeAll(async () => {
  server = await startTestServer({ settings: { DRAGOMAN_METRICS_TOKEN: TOKEN } });
  const answer = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  text = await answer.text();
  const lines = text.matchAll(/^# TYPE (\S+) (\S+)$/gm);
  exposed = new Map([...lines].map(([, name, type]) => [name!, type!]));
});
afterAll(() => server.stop());

const documented = (page: string): string[] =>
  [...page.matchAll(/^\| (`dragoman_[^|]*) \|/gm)].flatMap(([, cell]) => cell!.match(OURS) ?? []);

/** Returns the names of the time series that a query can use. A histogram has three of them. */
function series(): Set<string> {
  return new Set(
    [...exposed].flatMap(([name, type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name],
    ),
  );
}

const asked = (text: string): string[] => [...new Set(text.match(OURS) ?? [])];

it('the documentation lists exactly the metrics that the program exposes', () => {
  const ours = [...exposed.keys()].filter((name) => name.startsWith('dragoman_'));
  expect(documented(read('docs/operating.md')).sort()).toEqual(ours.sort());
});

it.each(['deploy/alerts.yaml', 'deploy/grafana.json'])(
  'the monitoring file %s uses only metrics that the program exposes',
  (path) => {
    const text = read(path);
    const there = series();
    expect(asked(text).length).toBeGreaterThan(5);
    expect(asked(text).filter((name) => !there.has(name))).toEqual([]);
    for (const [name] of text.matchAll(/\b(?:process|nodejs)_[a-z0-9_]+/g)) expect(there).toContain(name);
  },
);

it('every counter that an alert compares begins at 0 for production, so that the first event is an increase', () => {
  const watched = [
    ...read('deploy/alerts.yaml').matchAll(/(dragoman_\w+)\{environment="production", (\w+="\w+")\}/g),
  ];
  expect(watched.map(([, name]) => name).sort()).toEqual([
    'dragoman_delivery_attempt_seconds_count',
    'dragoman_delivery_seconds_count',
    'dragoman_jobs_settled_total',
  ]);
  for (const [, name, label] of watched) {
    const series = text.split('\n').filter((line) => line.startsWith(`${name}{`) && line.includes(label!));
    expect(series.map((line) => line.replace(/.*environment="(\w+)".*\} /, '$1 '))).toEqual([
      'production 0',
      'sandbox 0',
    ]);
  }
});

it('the dashboard shows every metric', () => {
  const text = read('deploy/grafana.json');
  const board = JSON.parse(text) as { panels: { id: number; targets: { expr: string }[] }[] };
  expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length);
  const names = [...exposed.keys()].filter((name) => name.startsWith('dragoman_'));
  expect(names.filter((name) => !text.includes(name))).toEqual([]);
});

it('these tests detect unknown and undocumented metrics', () => {
  expect(asked('rate(dragoman_planted_total[5m])').filter((name) => !series().has(name))).toHaveLength(1);
  expect(documented('| `dragoman_one`, `dragoman_two` | words of dragoman_three |')).toEqual([
    'dragoman_one',
    'dragoman_two',
  ]);
});
