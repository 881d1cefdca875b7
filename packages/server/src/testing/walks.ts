/** What tests share that take random steps with one edited job. */
import type pg from 'pg';
import { expect } from 'vitest';
import { accountNamed } from '../access/accounts.ts';
import { saveBrand } from '../brands/brands.ts';
import { emptyEditing, expireClaims, expireDeadline, HUMAN } from './editors.ts';
import { type Answer, createClient, type TestServer, until, waitForStatus } from './harness.ts';

const MACHINE = '/tapi/v2/mt_translation/';

/** The job named `job` of an account of its own. Its brand `fb` delivers the machine's draft after the deadline. */
export class WalkedJob {
  readonly owner: pg.Client;
  readonly call: ReturnType<typeof createClient>;
  readonly part: number;
  readonly accountId: string;
  readonly jobId: string;
  #written = 0;

  constructor(owner: pg.Client, call: WalkedJob['call'], part: number, accountId: string, jobId: string) {
    this.owner = owner;
    this.call = call;
    this.part = part;
    this.accountId = accountId;
    this.jobId = jobId;
  }

  /** Returns a new text of an editor. */
  text(): string {
    return `Aquí está ${String.fromCharCode(97 + (++this.#written % 26)).repeat(this.#written)}.`;
  }

  /** Upgrades the job. @returns whether it is an upgraded job now. An upgrade that is repeated changes nothing */
  async upgrade(): Promise<boolean> {
    const body = { status: 'upgrade', properties: { brand: 'fb' } };
    if ((await this.call('PATCH', `${MACHINE}job/`, body)).status !== 202) return false;
    await until(async () => (await this.call('GET', `${HUMAN}job/`)).body.status !== 'new');
    return true;
  }

  expireClaims = () => expireClaims(this.owner, { job_id: this.jobId });

  expireDeadline = () => expireDeadline(this.owner, { part: this.part, job_id: this.jobId });

  async passDeadline(): Promise<void> {
    await this.expireDeadline();
    await this.settled();
  }

  /** Waits until the background has no work on the account's jobs. */
  settled() {
    return until(async () => {
      const { rowCount } = await this.owner.query(
        `select from edited_jobs where account_id = $1 and due_at <= now() + interval '31 s'
         union all select from propagations where account_id = $1`,
        [this.accountId],
      );
      return rowCount === 0;
    });
  }

  /**
   * Reads the job, which has one tier, and checks the charges before the last one: those of the machine's result, and
   * of canceled upgrades.
   *
   * @param prices in cents
   * @returns the job, and its last charge if it is a human job, such as `hold 24, capture 24`
   */
  async read(prices: {
    human: number;
    machine: number;
  }): Promise<{ body: Answer['body']; charge: string | undefined }> {
    const [human, machine] = [
      await this.call('GET', `${HUMAN}job/`),
      await this.call('GET', `${MACHINE}job/`),
    ];
    expect([human.status, machine.status].sort()).toEqual([200, 404]);
    const { rows } = await this.owner.query(
      `select string_agg(kind || ' ' || amount_cents, ', ' order by transfer_id) as kinds
         from transfers where job_id = $1 group by charge order by charge`,
      [this.jobId],
    );
    const charges: string[] = rows.map(({ kinds }) => kinds);
    const isHuman = human.status === 200;
    const charge = isHuman ? charges.pop()! : undefined;
    for (const [index, earlier] of charges.entries()) {
      const [cents, end] = index === 0 ? [prices.machine, 'capture'] : [prices.human, 'void'];
      expect(earlier).toBe(`hold ${cents}, ${end} ${cents}`);
    }
    return { body: (isHuman ? human : machine).body, charge };
  }
}

/** Removes all jobs from editing, and creates the job of a walk: a human job, or an upgraded machine job. */
export async function orderWalkedJob(
  server: TestServer,
  owner: pg.Client,
  text: string,
  isUpgraded: boolean,
): Promise<WalkedJob> {
  await emptyEditing(owner);
  const account = await server.createAccount({ balanceCents: 100_000 });
  const { ref } = await accountNamed(server.database, account.username);
  const brand = { externalId: 'fb', name: 'fb', default: undefined, languages: new Map() };
  await saveBrand(server.database, 'command', ref, { ...brand, fallback: 'machine' }, false);
  const call = createClient(server.url, account.production_key);
  const path = isUpgraded ? MACHINE : HUMAN;
  const job = { uid: 'job', text, source_language: 'en', target_language: 'es' };
  const created = await call('POST', path, isUpgraded ? job : { ...job, brand: 'fb' });
  expect(created.status, created.text).toBe(201);
  await waitForStatus(call, `${path}job/`, isUpgraded ? 'completed' : 'translating');
  const { rows } = await owner.query(`select job_id from jobs where uid = 'job' and account_id = $1`, [
    ref.accountId,
  ]);
  const walked = new WalkedJob(owner, call, ref.part, ref.accountId, rows[0].job_id);
  if (isUpgraded) await walked.upgrade();
  return walked;
}
