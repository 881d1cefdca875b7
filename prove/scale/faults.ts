/** Causes the faults of the scale proof. A fault may last for some time, while the run continues. */
import { setTimeout as wait } from 'node:timers/promises';
import { killDatabase } from '../../scripts/program.ts';
import type { Random } from '../harness/random.ts';
import type { Fleet, Member } from './fleet.ts';

export const FAULTS = [
  'api killed',
  'worker killed',
  'api paused',
  'worker paused',
  'PostgreSQL killed',
  'PostgreSQL restarted at once',
  'connections cut',
  'partition',
] as const;
export type Fault = (typeof FAULTS)[number];

/**
 * The signals that cause the faults of PostgreSQL. After SIGQUIT, PostgreSQL ends all its processes immediately. The
 * fleet then starts it again.
 */
export const DATABASE_FAULTS: Partial<Record<Fault, 'SIGKILL' | 'SIGQUIT'>> = {
  'PostgreSQL killed': 'SIGKILL',
  'PostgreSQL restarted at once': 'SIGQUIT',
};

export interface FaultInjector {
  /** Starts the next fault. Every kind of fault happens once before any kind happens again. */
  next(): Fault;
  /** Resolves when all faults have ended and every process runs. */
  over(): Promise<void>;
}

/**
 * Creates the fault injector.
 *
 * @param leaseSeconds the lease; pauses and partitions last longer, so that another worker takes over the work
 */
export function createFaultInjector(
  fleet: Fleet,
  directory: string,
  random: Random,
  leaseSeconds: number,
): FaultInjector {
  let left: Fault[] = [];
  const lasting = new Set<Promise<void>>();

  function draw(): Fault {
    if (left.length === 0) left = [...FAULTS];
    return left.splice(random.below(left.length), 1)[0]!;
  }

  /** Returns a running process with this role that has no fault at the moment. */
  function victim(role?: Member['role']): Member | undefined {
    const free = fleet.members.filter(
      (member) =>
        !member.busy && member.program !== undefined && (role === undefined || member.role === role),
    );
    return free[random.below(Math.max(1, free.length))];
  }

  const longerThanLease = () => wait((leaseSeconds + 1) * 1000 + random.below(2_000));

  async function harm(fault: Fault, member: Member): Promise<void> {
    if (fault === 'connections cut') member.link.cut();
    else if (fault === 'partition') {
      member.link.block();
      await longerThanLease();
      member.link.unblock(random.below(2) === 0 ? 'late' : 'never');
    } else if (fault.endsWith('killed')) await fleet.kill(member);
    else {
      const { child } = member.program!;
      child.kill('SIGSTOP');
      await longerThanLease();
      child.kill('SIGCONT');
    }
  }

  /** Starts a fault. Returns undefined when no process is free for it. */
  function start(fault: Fault): Promise<void> | undefined {
    const signal = DATABASE_FAULTS[fault];
    if (signal !== undefined) {
      try {
        killDatabase(directory, signal);
      } catch {
        // PostgreSQL is already stopped, so there is no process to signal.
      }
      return Promise.resolve();
    }
    const role = fault.startsWith('api') ? 'api' : fault.startsWith('worker') ? 'worker' : undefined;
    const member = victim(role);
    if (member === undefined) return undefined;
    member.busy = true;
    return harm(fault, member).then(() => {
      member.busy = false;
    });
  }

  return {
    next() {
      for (;;) {
        const fault = draw();
        const end = start(fault);
        if (end === undefined) continue;
        lasting.add(end);
        void end.finally(() => lasting.delete(end));
        return fault;
      }
    },
    async over() {
      await Promise.all(lasting);
    },
  };
}
