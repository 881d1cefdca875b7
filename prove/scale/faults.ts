/** What befalls a fleet. Each fault begins at once and may last; the run goes on meanwhile. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../random.ts';
import type { Fleet, Member } from './fleet.ts';

export const KINDS = [
  'api killed',
  'worker killed',
  'api paused',
  'worker paused',
  'PostgreSQL killed',
  'PostgreSQL restarted at once',
  'connections cut',
  'partition',
] as const;
export type Kind = (typeof KINDS)[number];

/** Kinds that meet PostgreSQL, and so everybody. */
export const DATABASE_KINDS: readonly Kind[] = ['PostgreSQL killed', 'PostgreSQL restarted at once'];

export interface Troubles {
  /** Begins the next fault. Every kind comes once before any comes again. @returns what it is */
  next(): Kind;
  /** Resolves when the last one is over, and everybody runs. */
  over(): Promise<void>;
}

/** @param leaseSeconds pauses and partitions last longer: who wakes up finds its work in other hands */
export function startTroubles(
  fleet: Fleet,
  directory: string,
  random: Random,
  leaseSeconds: number,
): Troubles {
  let left: Kind[] = [];
  const lasting = new Set<Promise<void>>();

  function draw(): Kind {
    if (left.length === 0) left = [...KINDS];
    const [kind] = left.splice(random.below(left.length), 1);
    return kind!;
  }

  /** Somebody of the role whom nothing else has befallen. */
  function victim(role?: Member['role']): Member | undefined {
    const free = fleet.members.filter(
      (member) =>
        !member.busy && member.program !== undefined && (role === undefined || member.role === role),
    );
    return free[random.below(Math.max(1, free.length))];
  }

  const longer = () => wait((leaseSeconds + 1) * 1000 + random.below(2_000));

  async function befall(member: Member, trouble: () => Promise<void>): Promise<void> {
    member.busy = true;
    await trouble();
    member.busy = false;
  }

  function begin(kind: Kind): Promise<void> | undefined {
    if (kind === 'PostgreSQL killed' || kind === 'PostgreSQL restarted at once') {
      // Its first process ends the others at once on SIGQUIT, and is started again by this run's supervisor.
      signalPostgres(directory, kind === 'PostgreSQL killed' ? 'SIGKILL' : 'SIGQUIT');
      return Promise.resolve();
    }
    const role = kind.startsWith('api') ? 'api' : kind.startsWith('worker') ? 'worker' : undefined;
    const member = victim(role);
    if (member === undefined) return undefined;
    if (kind === 'connections cut') return befall(member, async () => member.way.cut());
    if (kind === 'partition') {
      return befall(member, async () => {
        member.way.block();
        await longer();
        member.way.open(random.below(2) === 0 ? 'late' : 'never');
      });
    }
    if (kind.endsWith('killed')) return befall(member, () => fleet.kill(member));
    return befall(member, async () => {
      const { child } = member.program!;
      child.kill('SIGSTOP');
      await longer();
      child.kill('SIGCONT');
    });
  }

  return {
    next() {
      for (;;) {
        const kind = draw();
        const fault = begin(kind);
        // Nobody of that role is free: another kind.
        if (fault === undefined) continue;
        lasting.add(fault);
        void fault.finally(() => lasting.delete(fault));
        return kind;
      }
    },
    async over() {
      await Promise.all(lasting);
    },
  };
}

function signalPostgres(directory: string, signal: 'SIGKILL' | 'SIGQUIT'): void {
  try {
    const [pid] = readFileSync(join(directory, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), signal);
  } catch {
    // It is down already.
  }
}
