/**
 * Runs several API and worker processes (the fleet) on one PostgreSQL, each with its own network link. A process that
 * ends is started again, as a service manager would do.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { EmbeddedPostgres } from '@dragoman/embedded-postgres';
import { createKeyFile } from '../../packages/server/src/access/secrets.ts';
import { startEmbedded } from '../../packages/server/src/database/embedded.ts';
import { type Program, startProgram } from '../../scripts/program.ts';
import { type Link, startLink } from './link.ts';

type Role = 'api' | 'worker';

export interface Member {
  role: Role;
  link: Link;
  /** The running process. Undefined while it is being started. */
  program: Program | undefined;
  /** True if the process has a fault, so that it gets no other fault at the same time. */
  busy: boolean;
}

export interface Fleet {
  members: readonly Member[];
  /** The URLs of the API processes. They never change. */
  urls: readonly string[];
  connection: EmbeddedPostgres['connection'];
  /** Kills a process with SIGKILL and starts it again. */
  kill(member: Member): Promise<void>;
  /**
   * Starts a process with another secret key, which must not serve.
   *
   * @returns true if it served nevertheless
   */
  startStranger(role: Role): Promise<boolean>;
  stop(): Promise<void>;
}

const START_PAUSE_MILLISECONDS = 100;

/**
 * Starts the fleet.
 *
 * @param prepare called with the URL of the database before any process is started
 */
export async function startFleet(options: {
  directory: string;
  api: number;
  workers: number;
  environment: Record<string, string>;
  prepare(databaseUrl: string): Promise<void>;
}): Promise<Fleet> {
  const { directory, environment } = options;
  const embedded = await startEmbedded({ dataDir: directory, role: 'command' });
  createKeyFile(directory); // The fleet and the commands need the same key file.
  const { host, port, user, database } = embedded.connection;
  const socketPath = join(host, `.s.PGSQL.${port}`);
  const urlOver = (link: Link) => `postgres://${user}@127.0.0.1:${link.port}/${database}`;
  const logFile = join(directory, 'fleet.log');
  const roles: Role[] = [
    ...Array<Role>(options.api).fill('api'),
    ...Array<Role>(options.workers).fill('worker'),
  ];
  const members: Member[] = [];
  for (const role of roles)
    members.push({ role, link: await startLink({ path: socketPath }), program: undefined, busy: false });
  await options.prepare(urlOver(members[0]!.link));
  const ports = new Map<Member, number>();
  let stopping = false;

  /** Starts a process. The start is repeated if it failed because the database was down. */
  async function start(member: Member): Promise<void> {
    while (!stopping) {
      const started = await startProgram({
        directory,
        role: member.role,
        ...(ports.has(member) ? { port: ports.get(member)! } : {}),
        environment: { ...environment, DATABASE_URL: urlOver(member.link) },
        logFile,
      }).catch(() => undefined);
      if (started !== undefined) {
        ports.set(member, started.port);
        member.program = started;
        // A process that ends by itself is also started again.
        started.child.once('exit', () => {
          if (member.program !== started || stopping) return;
          member.program = undefined;
          void start(member);
        });
        return;
      }
      await wait(START_PAUSE_MILLISECONDS);
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
        directory,
        role,
        logFile,
        environment: { ...environment, ...key, DATABASE_URL: urlOver(members[0]!.link) },
      }).catch(() => undefined);
      await stranger?.kill();
      return stranger !== undefined;
    },
    async stop() {
      stopping = true;
      await Promise.all(members.map(({ program }) => program?.kill()));
      await Promise.all(members.map(({ link }) => link.close()));
      await embedded.stop();
    },
  };
}
