/** `dragoman serve`. */
import { flushCompileCache } from 'node:module';
import { createLog } from '../log.ts';
import { openStore } from '../program.ts';
import { type Role, startServer } from '../serve.ts';
import type { Settings } from '../settings.ts';
import { createEngines } from '../translation/engines.ts';
import { CommandError } from './output.ts';

/** A second signal, or this long, ends a stop that hangs; the contract is 10 s. */
const LAST_MILLISECONDS = 9_500;

const LISTEN_CODES = new Set(['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES', 'ENOTFOUND']);

export async function serve(settings: Settings, role: Role): Promise<void> {
  const log = createLog(settings.logLevel);
  // Before anything is open: an engine that lacks a setting stops the start.
  const engines = role === 'api' ? [] : createEngines(settings);
  const store = await openStore(settings, 'serve', log);
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
  flushCompileCache(); // for the next start, also where this one is killed
  await untilSignal();
  log.info('stopping');
  const last = setTimeout(() => {
    log.error('stopped without draining');
    process.exit(1);
  }, LAST_MILLISECONDS);
  process.once('SIGINT', () => process.exit(1));
  await server.stop();
  await store.close();
  clearTimeout(last);
  log.info('stopped');
}

function cannotListen({ host, port }: Settings, code: string): string {
  const sentence = `Cannot listen on ${host}:${port}: ${code}.`;
  if (code !== 'EADDRINUSE') return sentence;
  return `${sentence} Each process of one machine, workers too, needs a --port (DRAGOMAN_PORT) of its own.`;
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
  });
}
