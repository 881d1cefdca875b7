/**
 * The rotation scenario: an account's webhook secrets and API keys are rotated while the account is active. Then the
 * secret key, which encrypts the webhook secrets, is rotated: the program starts with both keys, all secrets are encrypted
 * with the new one under load, and the program starts with the new key alone.
 * The account's receiver uses a new secret only some time after the rotation, as with a deployment. The
 * receiver checks every delivery with its one secret and an independent verifier (`standardwebhooks`).
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { createAccount, runCommand, runCommandWith } from '../../scripts/program.ts';
import { startBackgroundLoad } from '../harness/background-load.ts';
import { createRandom } from '../harness/random.ts';
import { startReceiver } from '../harness/receiver.ts';
import type { RunOptions } from '../harness/run.ts';
import { startService } from '../harness/service.ts';

export interface RotateOptions extends RunOptions {
  /** The number of rotations of the secret and of the key. */
  rolls: number;
}

export interface RotateHistory {
  rolls: number;
  /** The ids of the deliveries of the test events that the clients requested. */
  asked: string[];
  received: { id: string; verified: boolean }[];
  /** The statuses of requests with a key that was valid at that time. */
  answers: number[];
  /** The statuses of requests with a revoked key, a second or more after the revocation. */
  revoked: number[];
  /** The result of the rotation of the secret key. */
  secretKey: { sealed: number; left: number; unreadable: number };
  /** The number of deliveries that were requested when the program had the new secret key alone. */
  askedLater: number;
}

const CLIENTS = 4;
/** The longest time from a rotation until the receiver and the clients use the new secret and key. */
const DEPLOY_MILLISECONDS = 1_500;
/**
 * The time after which a revoked key must be refused. Notifying every process of the revocation takes much less time.
 */
const REVOKED_MILLISECONDS = 1_000;
const ARRIVE_MILLISECONDS = 30_000;

export async function runRotate({ directory, rolls, seed, say }: RotateOptions): Promise<RotateHistory> {
  const random = createRandom(seed);
  const service = await startService(directory);
  const account = await createAccount(directory, 'rotate', 1_000_000);
  const history: RotateHistory = {
    rolls,
    asked: [],
    received: [],
    answers: [],
    revoked: [],
    secretKey: { sealed: 0, left: 0, unreadable: 0 },
    askedLater: 0,
  };
  let verifier = new Webhook(account.webhook_secret_production);
  let key = account.production_key;
  let stopped = false;
  const receiver = await startReceiver(({ webhookId, body }, headers) =>
    history.received.push({
      id: webhookId,
      verified: verifies(verifier, body, headers as Record<string, string>),
    }),
  );

  async function client(): Promise<void> {
    while (!stopped) {
      const response = await fetch(`${service.url}/api/v1/test-event/`, {
        method: 'POST',
        headers: { authorization: `ApiKey ${key}` },
        body: JSON.stringify({ url: `${receiver.url}/` }),
      });
      history.answers.push(response.status);
      const { id } = (await response.json()) as { id?: string };
      if (id !== undefined) history.asked.push(id);
      await wait(10);
    }
  }

  const command = async (...args: string[]) => JSON.parse(await runCommand(directory, ...args, '--json'));
  const startClients = () => {
    stopped = false;
    return startBackgroundLoad(...Array.from({ length: CLIENTS }, client));
  };
  const stopClients = async (clients: ReturnType<typeof startClients>) => {
    stopped = true;
    await clients.done();
  };
  const clients = startClients();
  for (let roll = 1; roll <= rolls; roll++) {
    clients.check();
    const secret = await command('webhook-secret', 'roll', 'rotate', '--environment', 'production');
    const { keys } = await command('key', 'list', 'rotate');
    const current = keys.find(
      (one: { live: boolean; environment: string }) => one.live && one.environment === 'production',
    );
    const rolled = await command('key', 'roll', 'rotate', current.key_id);
    await wait(random.below(DEPLOY_MILLISECONDS));
    verifier = new Webhook(secret.webhook_secret);
    const old = key;
    key = rolled.key;
    await wait(100); // Waits until requests with the old key are answered.
    await command('key', 'revoke', 'rotate', current.key_id);
    await wait(REVOKED_MILLISECONDS);
    const headers = { authorization: `ApiKey ${old}` };
    history.revoked.push((await fetch(`${service.url}/tapi/v2/account/`, { headers })).status);
    say(`roll ${roll} of ${rolls}, ${history.received.length} deliveries`);
  }
  await stopClients(clients);

  const next = { DRAGOMAN_SECRET_KEY: randomBytes(32).toString('base64') };
  const previous = readFileSync(join(directory, 'secret.key'), 'utf8').trim();
  const both = { ...next, DRAGOMAN_SECRET_KEY_PREVIOUS: previous };
  await service.stop();
  await service.start(both);
  const during = startClients();
  await wait(DEPLOY_MILLISECONDS);
  history.secretKey = JSON.parse(await runCommandWith(both, directory, 'secret-key', 'rotate', '--json'));
  during.check();
  await stopClients(during);
  await service.stop();
  await service.start(next);
  const before = history.asked.length;
  const after = startClients();
  await wait(DEPLOY_MILLISECONDS);
  await stopClients(after);
  history.askedLater = history.asked.length - before;
  say(`rotated the secret key, ${history.received.length} deliveries`);

  const end = Date.now() + ARRIVE_MILLISECONDS;
  while (history.received.length < history.asked.length && Date.now() < end) await wait(50);
  await service.stop();
  await receiver.close();
  return history;
}

function verifies(verifier: Webhook, body: string, headers: Record<string, string>): boolean {
  try {
    verifier.verify(body, headers);
    return true;
  } catch {
    return false;
  }
}
