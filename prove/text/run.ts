/** Reads lines of real texts, sends them as machine jobs of 40 lines, and pairs each line with its translation. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { createAccount } from '../../scripts/program.ts';
import type { RunOptions } from '../harness/run.ts';
import { startService } from '../harness/service.ts';

export interface TextHistory {
  lines: number;
  jobs: number;
  failedJobs: number;
  /** Segments that no engine could translate. */
  untranslated: number;
  pairs: { source: string; target: string }[];
}

export interface TextOptions extends Pick<RunOptions, 'directory' | 'say'> {
  files: string;
  from: string;
  to: string;
  /** The maximum number of lines. */
  most: number;
}

const LINES_A_JOB = 40;
const POLL_MILLISECONDS = 100;
const TEXT_FILE =
  /(?:\.(?:txt|md|markdown|rst|srt|html?|po|properties|strings)|\/(?:README|LICEN[CS]E|COPYING|CHANGELOG|changelog|NEWS|copyright)[\w.-]*)(?:\.gz)?$/;
const LARGEST_FILE = 2_000_000;

/** Returns distinct lines of prose of all text files below a folder, evenly from all of them. */
export function readLines(folder: string, most: number): string[] {
  const found = new Set<string>();
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => TEXT_FILE.test(path) && statSync(path, { throwIfNoEntry: false })?.isFile())
    .filter((path) => statSync(path).size <= LARGEST_FILE)
    .sort();
  const share = Math.max(3, Math.ceil((2 * most) / Math.max(1, files.length)));
  for (const path of files) {
    if (found.size >= most) break;
    let taken = 0;
    for (const line of readText(path).split(/\r?\n/)) {
      const own = line.trim();
      const isProse = own.length >= 25 && own.length <= 250 && /(?:\p{L}{2,} ){2}/u.test(own);
      if (!isProse || found.has(own) || own.includes('\ufffd') || /^(?:```|~~~)/.test(own)) continue;
      found.add(own);
      taken += 1;
      if (taken >= share || found.size >= most) break;
    }
  }
  return [...found];
}

/** Returns the text of a file, '' if it is compressed and damaged, as the test data of packages may be. */
function readText(path: string): string {
  const bytes = readFileSync(path);
  if (!path.endsWith('.gz')) return bytes.toString('utf8');
  try {
    return gunzipSync(bytes).toString('utf8');
  } catch {
    return '';
  }
}

export async function runText({ directory, files, from, to, most, say }: TextOptions): Promise<TextHistory> {
  const lines = readLines(files, most);
  const service = await startService(directory, { DRAGOMAN_SANDBOX_HOLD: '0' }, undefined, { from, to });
  const { sandbox_key: key } = await createAccount(directory, 'texts');
  const history: TextHistory = { lines: lines.length, jobs: 0, failedJobs: 0, untranslated: 0, pairs: [] };
  for (let at = 0; at < lines.length; at += LINES_A_JOB) {
    const sent = lines.slice(at, at + LINES_A_JOB);
    const job = await translate(service.url, key, { from, to }, sent.join('\n'));
    history.jobs += 1;
    history.untranslated += job.untranslated ?? 0;
    const made = job.translated_text?.split('\n') ?? [];
    if (job.status !== 'completed' || made.length !== sent.length) history.failedJobs += 1;
    else for (const [index, source] of sent.entries()) history.pairs.push({ source, target: made[index]! });
    if (history.jobs % 10 === 0) say(`${at + sent.length} of ${lines.length} lines`);
  }
  await service.stop();
  return history;
}

interface Job {
  uid: string;
  status: string;
  translated_text?: string;
  untranslated?: number;
}

async function translate(url: string, key: string, pair: { from: string; to: string }, text: string) {
  const path = `${url}/sandbox/tapi/v2/mt_translation/`;
  const call = async (address: string, init: RequestInit = {}): Promise<Job> => {
    const headers = { authorization: `ApiKey ${key}`, 'content-type': 'application/json' };
    const answer = await fetch(address, { ...init, headers });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Job;
  };
  const body = JSON.stringify({ source_language: pair.from, target_language: pair.to, text });
  const { uid } = await call(path, { method: 'POST', body });
  for (;;) {
    const job = await call(`${path}${uid}/`);
    if (job.status === 'completed' || job.status === 'failed') return job;
    await wait(POLL_MILLISECONDS);
  }
}
