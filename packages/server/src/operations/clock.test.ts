/** Tests a process whose clock is wrong, on a database whose clock is right. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createVault } from '../access/secrets.ts';
import { createAccount } from '../accounts/accounts.ts';
import {
  createClient,
  createTestDatabase,
  type Receiver,
  SECRET_KEY,
  startReceiver,
  type TestDatabase,
  until,
} from '../testing/harness.ts';
import { killPrograms, markEngineTested, type Serving, serve, urlOf } from '../testing/programs.ts';

const TOKEN = 'for-the-test';

/** Returns a setting of Node that moves the clock of a process. */
function shifted(seconds: number): string {
  const code = `
    const Real = Date, shift = ${seconds * 1000};
    globalThis.Date = class Date extends Real {
      constructor(...given) { given.length > 0 ? super(...given) : super(Real.now() + shift); }
      static now() { return Real.now() + shift; }
    };`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}

let test: TestDatabase;
let receiver: Receiver;
beforeEach(async () => {
  test = await createTestDatabase();
  await markEngineTested(test.database);
  receiver = await startReceiver();
});
afterEach(async () => {
  await killPrograms();
  await receiver.close();
  await test.drop();
});

async function startShifted(seconds: number): Promise<Serving> {
  const program = await serve([], {
    DATABASE_URL: urlOf(test.connection),
    NODE_OPTIONS: shifted(seconds),
    DRAGOMAN_CALLBACK_SCHEDULE: '60,600',
    DRAGOMAN_METRICS_TOKEN: TOKEN,
  });
  await program.answers('/healthz');
  return program;
}

const readiness = async ({ url }: Serving) => {
  const answer = await fetch(`${url}/readyz`);
  // biome-ignore lint/suspicious/noExplicitAny: JSON of the interface
  return { status: answer.status, body: (await answer.json()) as any };
};

describe.each([-600, 7_200])('a process whose clock is %i s off', (seconds) => {
  it('signs and schedules deliveries by the clock of the database, and is not ready', async () => {
    const { production_key } = await createAccount(
      test.database,
      createVault(Buffer.from(SECRET_KEY, 'base64')),
      'command',
      {
        username: 'shifted',
        email: undefined,
        balanceCents: 0,
        dialect: 'spec',
        chat: false,
        prepaid: false,
      },
    );
    receiver.answer(() => 500);
    const program = await startShifted(seconds);
    const job = {
      text: 'The house.',
      source_language: 'en',
      target_language: 'es',
      callback_url: receiver.url,
    };
    const call = createClient(program.url, production_key);
    expect((await call('POST', '/tapi/v2/mt_translation/', job)).status).toBe(201);
    const { headers } = await receiver.next();
    const owner = await test.connectOwner();
    const read = async (sql: string) => (await owner.query(sql)).rows[0];
    const { now } = await read('select extract(epoch from clock_timestamp())::float8 as now');
    expect(Math.abs(Number(headers['webhook-timestamp']) - now)).toBeLessThan(120);
    const { wait } = await until(async () =>
      read(
        `select extract(epoch from due_at - clock_timestamp())::float8 as wait from deliveries
          where attempts = 1 and lease_token is null`,
      ),
    );
    expect(Math.abs(wait)).toBeLessThan(75);
    expect(wait).toBeGreaterThan(0);

    const { status, body } = await readiness(program);
    expect(status).toBe(503);
    const side = seconds > 0 ? 'ahead of' : 'behind';
    expect(body.checks.clock).toMatch(new RegExp(`^is [\\d.]+ s ${side} the database's; set both by NTP$`));
    expect(program.output.stderr).toContain('the clock of this process differs from the database');
  });
});

it.each([-60, 60])(
  'a process whose clock is %i s off is ready with a warning and a metric',
  async (seconds) => {
    const program = await startShifted(seconds);
    await program.answers('/readyz');
    const { body } = await readiness(program);
    expect(body.warnings).toEqual([
      expect.stringMatching(/^clock: (59|60)\.\d s .* the database's; set both by NTP$/),
    ]);
    const metrics = await fetch(`${program.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    const [, ahead] = /^dragoman_clock_ahead_seconds (\S+)$/m.exec(await metrics.text())!;
    expect(Math.round(Number(ahead) / 10) * 10).toBe(seconds);
  },
);
