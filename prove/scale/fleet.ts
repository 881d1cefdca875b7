/**
 * Several API and worker processes on one PostgreSQL, each with a network link of its own. A process that ends is
 * started again, as a service manager would.
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

/** One process of the fleet. */
export interface Member {
  role: Role;
  link: Link;
  /** Undefined while it is being started. */
  program: Program | undefined;
  /** It has a fault, so no other fault may meet it. */
  busy: boolean;
}

export interface Fleet {
  members: readonly Member[];
  /** The URLs of the API processes, which stay the same. */
  urls: readonly string[];
  connection: EmbeddedPostgres['connection'];
  /** Ends a process with SIGKILL and starts it again. */
  kill(member: Member): Promise<void>;
  /** Starts a process with another secret key. @returns whether it served */
  startStranger(role: Role): Promise<boolean>;
  stop(): Promise<void>;
}

const START_PAUSE_MILLISECONDS = 100;

/** @param prepare called with the URL of the database before any process is started */
export async function startFleet(options: {
  directory: string;
  api: number;
  workers: number;
  environment: Record<string, string>;
  prepare(databaseUrl: string): Promise<void>;
}): Promise<Fleet> {
  const { directory, environment } = options;
  const embedded = await startEmbedded({ dataDir: directory, role: 'command' });
  createKeyFile(directory); // the fleet and the commands need the same one
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
    members.push({ role, link: await startLink(socketPath), program: undefined, busy: false });
  await options.prepare(urlOver(members[0]!.link));
  const ports = new Map<Member, number>();
  let stopping = false;

  /** Repeats a start that failed because the database was away. */
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
        // A process that ends by itself is started again too.
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
