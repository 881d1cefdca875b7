/**
 * Runs the program as a user does, in its own process or in this process, and returns its exit status,
 * standard output and error output.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApertium } from '@dragoman/engines';
import { privateApertium } from '../../../../scripts/test-tools.ts';
import type { Database } from '../database/database.ts';
import { replacePairs } from '../languages/store.ts';
import { main } from '../main.ts';
import { SECRET_KEY, type TestDatabase, until } from './harness.ts';

/** The executable that users run. It enables Node's compile cache. */
export const DRAGOMAN = fileURLToPath(new URL('../../bin/dragoman.js', import.meta.url));
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

const running = new Set<ChildProcess>();
/** Kills the programs that a test has left running. */
export async function killPrograms(): Promise<void> {
  for (const child of running) child.kill('SIGKILL');
  await Promise.all([...running].map((child) => once(child, 'exit')));
}

type Environment = Record<string, string>;

/** Returns an environment without the settings of the developer who runs the tests. */
function environment(own: Environment): Environment {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(DRAGOMAN_(?!APERTIUM_ROOT)|DATABASE_URL$|CI$|NODE_OPTIONS$|VITEST)/.test(name),
  );
  const shared = own.DATABASE_URL === undefined ? {} : { DRAGOMAN_SECRET_KEY: SECRET_KEY };
  return { ...(Object.fromEntries(inherited) as Environment), ...shared, ...own };
}

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface Program {
  child: ChildProcess;
  output: { stdout: string; stderr: string };
  ended: Promise<Ended>;
}

export function start(command: string, args: string[], own: Environment = {}, input?: string): Program {
  const child = spawn(command, args, { cwd: ROOT, env: environment(own), stdio: 'pipe' });
  running.add(child);
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  // A write fails if the command exits before it reads its input, which is no error here.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const ended = once(child, 'close').then(([status]) => {
    running.delete(child);
    return { status: status as number | null, ...output };
  });
  return { child, output, ended };
}

/** Runs a command in its own process, for tests about processes and standard input. */
export const dragomanProcess = (args: string[], own: Environment = {}, input?: string): Promise<Ended> =>
  start(process.execPath, [DRAGOMAN, ...args], own, input).ended;

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command in this process, which saves the second that a process takes to start. Commands run one at
 * a time.
 */
export function dragoman(args: string[], own: Environment = {}): Promise<Ended> {
  const ended = last.then(() => inThisProcess(args, environment(own)));
  last = ended.catch(() => {});
  return ended;
}

async function inThisProcess(args: string[], own: NodeJS.ProcessEnv): Promise<Ended> {
  const { env, exitCode, stdout, stderr } = process;
  const [writeOut, writeError] = [stdout.write, stderr.write];
  const output = { stdout: '', stderr: '' };
  const into = (stream: 'stdout' | 'stderr') => (text: string | Uint8Array) => {
    output[stream] += text;
    return true;
  };
  process.env = own;
  process.exitCode = undefined;
  stdout.write = into('stdout');
  stderr.write = into('stderr');
  try {
    await main(args);
    return { status: Number(process.exitCode ?? 0), ...output };
  } finally {
    process.env = env;
    process.exitCode = exitCode;
    stdout.write = writeOut;
    stderr.write = writeError;
  }
}

/** Returns a port that no program of 127.0.0.1 listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export interface Serving extends Program {
  url: string;
  /** Waits until a path answers 200. @throws Error with the program's output when the program exits first */
  answers(path: string): Promise<void>;
  /** Sends SIGTERM and returns the exit status. */
  terminate(): Promise<number | null>;
}

/** Runs a program on its own terminal, and copies what the terminal shows to standard output. */
const ON_TERMINAL = ['python3', '-c', 'import pty, sys; pty.spawn(sys.argv[1:])'];

/**
 * @param terminal whether the program's output is a terminal; by default it is a pipe, as for a service
 * @param url where it listens; by default at a free port of 127.0.0.1
 */
export async function serve(
  args: string[],
  own: Environment = {},
  { terminal = false, url = '' } = {},
): Promise<Serving> {
  const at = new URL(url || `http://127.0.0.1:${await freePort()}`);
  const [command, ...line] = [
    ...(terminal ? ON_TERMINAL : []),
    ...[process.execPath, DRAGOMAN, 'serve', '--host', at.hostname, '--port', at.port, ...args],
  ];
  const program = start(command!, line, {
    DRAGOMAN_LOG_LEVEL: 'warn',
    DRAGOMAN_ALLOWED_NETWORKS: '127.0.0.0/8',
    DRAGOMAN_KEY_REQUESTS: '0',
    ...own,
  });
  return {
    ...program,
    url: at.origin,
    answers: (path) =>
      until(async () => {
        if (program.child.exitCode !== null) throw new Error(program.output.stderr);
        return (await fetch(`${at.origin}${path}`).catch(() => undefined))?.status === 200;
      }).then(() => {}),
    async terminate() {
      program.child.kill('SIGTERM');
      return (await program.ended).status;
    },
  };
}

/** Returns the URL of a test's database, for DATABASE_URL. */
export function urlOf(connection: TestDatabase['connection']): string {
  if (connection.connectionString !== undefined) return connection.connectionString;
  const { user, database, host = '', port = 5432 } = connection;
  return `postgres://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
}

/**
 * Creates an installation of Apertium that has no languages, so that `doctor` has no language pairs to test. Returns
 * the setting that selects it; without this setting, the system's Apertium would be used.
 * @param root the folder of the installation
 */
export function engineWithoutLanguages(root: string): { DRAGOMAN_APERTIUM_ROOT: string } {
  mkdirSync(join(root, 'usr/bin'), { recursive: true });
  writeFileSync(join(root, 'usr/bin/lt-proc'), '');
  return { DRAGOMAN_APERTIUM_ROOT: root };
}

/** Records an engine self-test of today. A real self-test takes ten seconds of processor time. */
export async function markEngineTested(database: Database): Promise<void> {
  const engine = createApertium(privateApertium());
  const tested = { name: engine.name, version: await engine.version() };
  const pair = { from: 'en', to: 'es', route: 'apertium:eng-spa', hops: 1 };
  await database.transaction((transaction) => replacePairs(transaction, tested, [pair]));
}
