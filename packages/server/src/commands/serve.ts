import { flushCompileCache } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';
import { invitationLink, linkForFirstOperator } from '../access/invitations.ts';
import { hasOperator } from '../access/people.ts';
import { createLog, type Log } from '../base/log.ts';
import type { Database } from '../database/database.ts';
import { addressForLinks, removeAddress, writeAddress } from '../roles/address.ts';
import { openStore } from '../roles/program.ts';
import type { Role } from '../roles/serve.ts';
import { type Settings, warnOfUnknownSettings } from '../settings/settings.ts';
import { createEngines } from '../translation/engines.ts';
import { CommandError, print } from './output.ts';

/**
 * The time limit of a stop after the first signal, in addition to `DRAGOMAN_DRAIN_SECONDS`. The process then ends even if the stop is not complete. A second
 * signal ends the process at once. The documented limit is 10 s.
 */
const LAST_MILLISECONDS = 9_500;

/** Loading the server takes longer than a refusal of `openStore`, and less time than the start of PostgreSQL. */
const REFUSED_MILLISECONDS = 50;

const LISTEN_CODES = new Set(['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES', 'ENOTFOUND']);

export async function serve(settings: Settings, role: Role): Promise<void> {
  const log = createLog(settings.logLevel);
  for (const sentence of warnOfUnknownSettings(process.env)) log.warn(sentence);
  // The engines are created before the store is opened, so that a missing setting stops the start early.
  const engines = role === 'api' ? [] : createEngines(settings);
  const opening = openStore(settings, 'serve', log);
  await Promise.race([opening, wait(REFUSED_MILLISECONDS)]);
  const { startServer } = await import('../roles/serve.ts');
  const store = await opening;
  const server = await startServer({
    store,
    settings,
    role,
    engines: () => engines,
    log,
  }).catch(async (error: NodeJS.ErrnoException) => {
    await store.close();
    throw LISTEN_CODES.has(error.code ?? '') ? new CommandError(cannotListen(settings, error.code!)) : error;
  });
  const signal = untilSignal();
  if (role !== 'worker') await announce(settings, server.url, store.database, log);
  flushCompileCache(); // Node's compile cache is written now, because the process may be killed later.
  await signal;
  log.info('stopping');
  const last = setTimeout(
    () => {
      log.error('stopped without draining');
      process.exit(1);
    },
    settings.drainSeconds * 1000 + LAST_MILLISECONDS,
  );
  process.once('SIGINT', () => process.exit(1));
  if (role !== 'worker') removeAddress(settings, server.url);
  await server.stop();
  await store.close();
  clearTimeout(last);
  log.info('stopped');
}

/**
 * Writes the address of the server for other commands, and shows the first steps. An error is only logged, because
 * the server is already running.
 */
async function announce(settings: Settings, url: string, database: Database, log: Log): Promise<void> {
  try {
    writeAddress(settings, url);
    await showFirstSteps(settings, database, log);
  } catch (error) {
    log.warn({ error }, 'could not write the address of the server or show the first steps');
  }
}

/**
 * Prints the address on a terminal and, while there is no operator, the link that creates the first one. Without a
 * terminal the output is a log, which must not contain a secret. The log therefore names the command that creates a
 * link. The terminal names this command too when users sign in with the provider, because the link would set a
 * password.
 */
async function showFirstSteps(settings: Settings, database: Database, log: Log): Promise<void> {
  const address = addressForLinks(settings);
  if (!process.stdout.isTTY) {
    if (await hasOperator(database)) return;
    log.info('no operator yet; get a link for one with "dragoman user invite EMAIL --role operator"');
    return;
  }
  print(`Dragoman is running at ${address}/app/`);
  if (settings.passwordUsers !== 'everybody') {
    if (await hasOperator(database)) return;
    print('There is no operator yet, and users sign in with the provider. Invite the first operator:');
    print('dragoman user invite EMAIL --role operator');
    return;
  }
  const link = await linkForFirstOperator(database);
  if (link === undefined) return;
  print('There is no operator yet. Create the first one here:');
  print(invitationLink(address, link.token));
  print('The link works once, for 24 hours. A new start of the server replaces it.');
}

function cannotListen({ host, port }: Settings, code: string): string {
  const sentence = `Cannot listen on ${host}:${port}: ${code}.`;
  if (code !== 'EADDRINUSE') return sentence;
  return `${sentence} Each process on one machine, including workers, needs its own --port (DRAGOMAN_PORT).`;
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
  });
}
