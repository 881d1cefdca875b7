/**
 * Creates a job, waits until it is translated, and prints the translation. It needs Node.js 24 and no packages:
 * `node quick_start.ts`. The TypeScript client does the same in two calls (docs/client.md).
 *
 *   DRAGOMAN_URL   the address of the server; with /sandbox at its end, the sandbox
 *   DRAGOMAN_KEY   the API key, as user:key
 */
import { setTimeout } from 'node:timers/promises';

const jobs = `${process.env.DRAGOMAN_URL}/tapi/v2/mt_translation/`;
const headers = { authorization: `ApiKey ${process.env.DRAGOMAN_KEY}`, 'content-type': 'application/json' };

async function call(method: string, url: string, body?: object): Promise<Record<string, string>> {
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Record<string, string>;
}

// With a uid of your own, you can repeat a request that got no response: the job is created only once.
const uid = crypto.randomUUID();
let job = await call('POST', jobs, {
  uid,
  text: 'The house is big.',
  source_language: 'en',
  target_language: 'es',
});
while (!['completed', 'failed', 'canceled'].includes(job.status!)) {
  await setTimeout(500);
  job = await call('GET', `${jobs}${uid}/`);
}
if (job.status !== 'completed') throw new Error(`the job is ${job.status}: ${job.failure}`);
console.log(job.translated_text);
