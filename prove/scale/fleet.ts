/**
 * Several api and worker processes on one PostgreSQL, each by a way of its own. Whoever ends is started again, as a
 * service manager would.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createKeyFile } from '../../packages/server/src/accounts/secrets.ts';
import { type Embedded, startEmbedded } from '../../packages/server/src/database/embedded.ts';
import { type Program, startProgram } from '../../scripts/program.ts';
import { startWay, type Way } from './way.ts';

/** One process of the fleet. */
export interface Member {
  name: string;
  role: 'api' | 'worker';
  way: Way;
  /** Undefined while it is being started. */
  program: Program | undefined;
  /** It is stopped, blocked or being started: no other fault meets it. */
  busy: boolean;
}

export interface Fleet {
  members: readonly Member[];
  /** Of the api processes; they stay the same. */
  urls: readonly string[];
  connection: Embedded['connection'];
  /** Kills it with -9 and starts it again. */
  kill(member: Member): Promise<void>;
  /** Starts a process with a secret key of its own beside the others. @returns whether it served */
  startStranger(role: 'api' | 'worker'): Promise<boolean>;
  /** How many times PostgreSQL was started again. */
  readonly restarts: number;
  stop(): Promise<void>;
}

const FIRST_PAUSE_MILLISECONDS = 100;

/** @param prepare is given the address of the database before anybody is started */
export async function startFleet(options: {
  directory: string;
  api: number;
  workers: number;
  environment: Record<string, string>;
  prepare(databaseUrl: string): Promise<void>;
}): Promise<Fleet> {
  const { directory, environment } = options;
  const embedded = await startEmbedded({ dataDir: directory, role: 'command' });
  createKeyFile(directory); // all of the fleet, and the commands beside it, need the same one
  const { host, port, user, database } = embedded.connection;
  const socketPath = join(host, `.s.PGSQL.${port}`);
  const urlOver = (way: Way) => `postgres://${user}@127.0.0.1:${way.port}/${database}`;
  const roles = [
    ...Array.from({ length: options.api }, () => 'api' as const),
    ...Array.from({ length: options.workers }, () => 'worker' as const),
  ];
  const members: Member[] = [];
  for (const [index, role] of roles.entries()) {
    const way = await startWay(socketPath);
    members.push({ name: `${role} ${index}`, role, way, program: undefined, busy: false });
  }
  await options.prepare(urlOver(members[0]!.way));
  const ports = new Map<Member, number>();
  let stopping = false;

  /** A start that meets a database that is away fails; the next one may not. */
  async function start(member: Member): Promise<void> {
    while (!stopping) {
      const started = await startProgram({
        directory,
        role: member.role,
        ...(ports.has(member) ? { port: ports.get(member)! } : {}),
        environment: { ...environment, DATABASE_URL: urlOver(member.way) },
        logFile: join(directory, 'fleet.log'),
      }).catch(() => undefined);
      if (started !== undefined) {
        ports.set(member, started.port);
        member.program = started;
        // One that ends by itself is started again too.
        started.child.once('exit', () => {
          if (member.program !== started || stopping) return;
          member.program = undefined;
          void start(member);
        });
        return;
      }
      await wait(FIRST_PAUSE_MILLISECONDS);
    }
  }

  await Promise.all(members.map(start));
  return {
    members,
    urls: members.flatMap(({ program, role }) => (role === 'api' ? [program!.url] : [])),
    connection: embedded.connection,
    async kill(member) {
      const { program } = member;
      member.program = undefined;
      await program?.kill();
      await start(member);
    },
    async startStranger(role) {
      const key = { DRAGOMAN_SECRET_KEY: randomBytes(32).toString('base64') };
      const stranger = await startProgram({
        ...{ directory, role, logFile: join(directory, 'fleet.log') },
        environment: { ...environment, ...key, DATABASE_URL: urlOver(members[0]!.way) },
      }).catch(() => undefined);
      await stranger?.kill();
      return stranger !== undefined;
    },
    get restarts() {
      return embedded.restarts;
    },
    async stop() {
      stopping = true;
      await Promise.all(members.map(({ program }) => program?.kill()));
      await Promise.all(members.map(({ way }) => way.close()));
      await embedded.stop();
    },
  };
}
