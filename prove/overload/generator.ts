// A process of its own that creates machine jobs: at a fixed rate whatever is answered, or as fast as `connections`
// closed loops can. Prints one line of JSON. Arguments: URL KEY SECONDS RATE CONNECTIONS (a rate of 0: closed loops).
import { Pool } from 'undici';

export interface Answered {
  /** Milliseconds since the run began, and from the moment when the request was due to the end of its answer. */
  at: number;
  milliseconds: number;
  /** 0 for a connection that broke. */
  status: number;
  retryAfter: boolean;
  uid: string;
}

const TICK_MILLISECONDS = 5;

if (import.meta.main) {
  const [url, key, seconds, rate, connections] = process.argv.slice(2) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const pool = new Pool(url, { connections: Number(connections), pipelining: 1 });
  const answers: Answered[] = [];
  const begun = performance.now();
  const end = begun + Number(seconds) * 1000;
  let count = 0;
  const create = async (due: number) => {
    const uid = `load-${process.pid}-${++count}`;
    const answer = { at: due - begun, uid, status: 0, retryAfter: false };
    try {
      const { statusCode, headers, body } = await pool.request({
        method: 'POST',
        path: '/tapi/v2/mt_translation/',
        headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          uid,
          text: 'The house is big.',
          source_language: 'en',
          target_language: 'es',
        }),
      });
      await body.dump();
      answer.status = statusCode;
      answer.retryAfter = headers['retry-after'] !== undefined;
    } catch {
      // A broken connection is an answer too: none.
    }
    answers.push({ ...answer, milliseconds: performance.now() - due });
  };
  if (Number(rate) === 0) {
    const loop = async () => {
      while (performance.now() < end) await create(performance.now());
    };
    await Promise.all(Array.from({ length: Number(connections) }, loop));
  } else {
    const pending: Promise<void>[] = [];
    const gap = 1000 / Number(rate);
    for (let due = begun; due < end; ) {
      for (; due < performance.now(); due += gap) pending.push(create(due));
      await new Promise((resolve) => setTimeout(resolve, TICK_MILLISECONDS));
    }
    await Promise.all(pending);
  }
  await pool.close();
  process.stdout.write(JSON.stringify(answers));
}
