/**
 * A rotation run: an account's webhook secrets and keys are rolled again and again while it is at work. Its receiver
 * changes to a new secret a while after the roll, as a real one is deployed, and checks every delivery with the one
 * secret that it has, by a verifier that is not ours.
 */
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { createAccount, startProgram } from '../../scripts/program.ts';
import { startBeside } from '../beside.ts';
import { createRandom } from '../random.ts';

const MAIN = new URL('../../packages/server/src/main.ts', import.meta.url).pathname;

export interface RotateOptions {
  directory: string;
  /** How often both are rolled. */
  rolls: number;
  seed: number;
  say(line: string): void;
}

export interface RotateHistory {
  rolls: number;
  /** Deliveries that were asked for, and those that came, each once under its id. */
  asked: string[];
  received: { id: string; verified: boolean }[];
  /** What requests with a key that was good then were answered. */
  answers: number[];
  /** What requests with a revoked key were answered, a second and more after. */
  revoked: number[];
}

const CLIENTS = 4;
/** From a roll to the moment when the receiver and the clients have the new one, at most. */
const DEPLOY_MILLISECONDS = 1_500;
/** Revocation reaches every process with a message; this is long for one. */
const REVOKED_MILLISECONDS = 1_000;
const ARRIVE_MILLISECONDS = 30_000;

export async function runRotate({ directory, rolls, seed, say }: RotateOptions): Promise<RotateHistory> {
  const random = createRandom(seed);
  const program = await startProgram({ directory });
  const account = await createAccount(directory, 'rotate', 1_000_000);
  const history: RotateHistory = { rolls, asked: [], received: [], answers: [], revoked: [] };
  let verifier = new Webhook(account.webhook_secret_production);
  let key = account.production_key;
  let stopped = false;

  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      history.received.push({
        id: String(request.headers['webhook-id']),
        verified: verifies(verifier, Buffer.concat(chunks), request.headers as Record<string, string>),
      });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;

  async function client(): Promise<void> {
    while (!stopped) {
      const response = await fetch(`${program.url}/api/v1/test-event/`, {
        method: 'POST',
        headers: { authorization: `ApiKey ${key}` },
        body: JSON.stringify({ url }),
      });
      history.answers.push(response.status);
      const { id } = (await response.json()) as { id?: string };
      if (id !== undefined) history.asked.push(id);
      await wait(10);
    }
  }

  const clients = startBeside(...Array.from({ length: CLIENTS }, client));
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
    await wait(100); // requests that were sent with the old one are answered
    await command('key', 'revoke', 'rotate', current.key_id);
    await wait(REVOKED_MILLISECONDS);
    const headers = { authorization: `ApiKey ${old}` };
    history.revoked.push((await fetch(`${program.url}/tapi/v2/account/`, { headers })).status);
    say(`roll ${roll} of ${rolls}, ${history.received.length} deliveries`);
  }
  stopped = true;
  await clients.done();
  const until = Date.now() + ARRIVE_MILLISECONDS;
  while (history.received.length < history.asked.length && Date.now() < until) await wait(50);
  await program.stop();
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
  return history;

  async function command(...args: string[]) {
    const all = [MAIN, ...args, '--data', directory, '--json'];
    return JSON.parse((await promisify(execFile)(process.execPath, all)).stdout);
  }
}

function verifies(verifier: Webhook, body: Buffer, headers: Record<string, string>): boolean {
  try {
    verifier.verify(body.toString(), headers);
    return true;
  } catch {
    return false;
  }
}
