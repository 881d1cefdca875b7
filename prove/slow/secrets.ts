/**
 * Measures deliveries of an account with far more webhook secrets than may sign a delivery, and of an account
 * with one secret.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { statement } from '../../packages/server/src/database/statements.ts';
import { type Credentials, createAccount, type Program } from '../../scripts/program.ts';
import { withStore } from '../harness/database.ts';
import { startReceiver } from '../harness/receiver.ts';

export interface SecretsHistory {
  /** The milliseconds from the request for a test event to its arrival, with one secret and with many secrets. */
  one: number[];
  many: number[];
  /** The number of signatures of each delivery to the account with many secrets. */
  signatures: number[];
}

const LIVE = 5_000;
const ENDED = 20_000;
const DELIVERIES = 100;

/** Adds secrets that are older than the account's first one, by SQL, because the API limits the number of secrets. */
const MULTIPLY = statement(
  'prove.multiply_secrets',
  `insert into webhook_secrets (part, account_id, secret_id, environment, sealed, expires_at)
   select s.part, s.account_id, lpad(to_hex(n), 32, '0')::uuid, s.environment, s.sealed,
          now() + make_interval(days => case when n > $2 then 1 else -1 end)
     from webhook_secrets s join accounts a on a.part = s.part and a.account_id = s.account_id
          cross join generate_series(1, $2::integer + $3::integer) n
    where a.username = $1 and s.environment = 'production'`,
);

export async function runSecrets(directory: string, program: Program): Promise<SecretsHistory> {
  const [one, many] = [
    await createAccount(directory, 'one-secret'),
    await createAccount(directory, 'secrets'),
  ];
  await withStore(directory, ({ database }) => database.query(MULTIPLY, [many.username, ENDED, LIVE]));
  let arrived: (headers: IncomingHttpHeaders) => void = () => {};
  const receiver = await startReceiver((_, headers) => arrived(headers));
  const deliver = async ({ production_key }: Credentials) => {
    const begun = performance.now();
    const arrival = new Promise<IncomingHttpHeaders>((resolve) => {
      arrived = resolve;
    });
    const response = await fetch(`${program.url}/api/v1/test-event/`, {
      method: 'POST',
      headers: { authorization: `ApiKey ${production_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: `${receiver.url}/` }),
    });
    if (response.status !== 202) throw new Error(`a test event was answered ${response.status}`);
    const headers = await arrival;
    return { milliseconds: performance.now() - begun, signed: String(headers['webhook-signature']) };
  };
  const history: SecretsHistory = { one: [], many: [], signatures: [] };
  for (let n = 0; n < DELIVERIES; n++) {
    history.one.push((await deliver(one)).milliseconds);
    const { milliseconds, signed } = await deliver(many);
    history.many.push(milliseconds);
    history.signatures.push(signed.split(' ').length);
  }
  await receiver.close();
  return history;
}
