/**
 * What a running program holds, asked of it from outside: by Node's inspector, and by what the system says of
 * its process. Nothing in the program knows of it.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What is held after a garbage collection. */
export interface Held {
  rssBytes: number;
  heapBytes: number;
  /** Sockets, pipes and servers that are open in the program; its timers are counted apart. */
  handles: number;
  timers: number;
  files: number;
  /** Connections to PostgreSQL that the heap knows of, and the most statements prepared on one of them. */
  connections: number;
  statements: number;
  /** Processes below the program that are neither its own kind nor PostgreSQL: those of the engines. */
  engines: number;
}

export interface Watch {
  look(): Promise<Held>;
  /** Processes of its own kind below it, those that look through texts, that have not ended. */
  scanning(): number;
  close(): void;
}

/** What Node is to be started with, so that its inspector opens on a port of its choice, which it says at once. */
export const INSPECTABLE = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/** @param said the file that has what the program said */
export async function watchProgram(said: string): Promise<Watch> {
  // What it starts itself opens one too, but later.
  const [url] = /ws:\/\/127\.0\.0\.1:\S+/.exec(readFileSync(said, 'utf8'))!;
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error('the inspector does not answer'));
  });
  const waiting = new Map<number, (result: Result) => void>();
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result: Result };
    if (id === undefined) return;
    waiting.get(id)?.(result);
    waiting.delete(id);
  };
  let asked = 0;
  const ask = (method: string, params: object = {}): Promise<Result> =>
    new Promise((resolve) => {
      waiting.set(++asked, resolve);
      socket.send(JSON.stringify({ id: asked, method, params }));
    });
  const evaluate = async (expression: string) => {
    const { result, exceptionDetails } = await ask('Runtime.evaluate', {
      ...{ expression, includeCommandLineAPI: true, returnByValue: true },
    });
    if (exceptionDetails !== undefined)
      throw new Error(`the program says: ${JSON.stringify(exceptionDetails)}`);
    return result?.value;
  };

  // Not the process that was started, where that has started another on a newer Node.
  const pid = (await evaluate('process.pid')) as number;

  /** Of every client of PostgreSQL on the heap, how many statements it has prepared. */
  async function preparedStatements(): Promise<number[]> {
    const { result } = await ask('Runtime.evaluate', {
      ...{ expression: "require('pg').Client.prototype", includeCommandLineAPI: true, objectGroup: 'soak' },
    });
    const { objects } = await ask('Runtime.queryObjects', {
      ...{ prototypeObjectId: result!.objectId, objectGroup: 'soak' },
    });
    const counted = await ask('Runtime.callFunctionOn', {
      objectId: objects!.objectId,
      functionDeclaration: `function () {
        const open = this.filter((client) => client._connected && !client._ended && !client._ending);
        return open.map((client) => Object.keys(client.connection.parsedStatements).length);
      }`,
      returnByValue: true,
    });
    await ask('Runtime.releaseObjectGroup', { objectGroup: 'soak' });
    return counted.result!.value as number[];
  }

  return {
    async look() {
      const prepared = await preparedStatements();
      await ask('HeapProfiler.collectGarbage');
      await ask('HeapProfiler.collectGarbage');
      const { memory, resources } = (await evaluate(
        '({ memory: process.memoryUsage(), resources: process.getActiveResourcesInfo() })',
      )) as { memory: { rss: number; heapUsed: number; external: number }; resources: string[] };
      return {
        rssBytes: memory.rss,
        heapBytes: memory.heapUsed,
        handles: resources.filter((name) => HANDLES.test(name)).length,
        timers: resources.filter((name) => name === 'Timeout').length,
        files: readdirSync(`/proc/${pid}/fd`).length,
        connections: prepared.length,
        statements: Math.max(0, ...prepared),
        engines: enginesBelow(pid),
      };
    },
    scanning: () => scannersBelow(pid).length,
    close: () => socket.close(),
  };
}

interface Result {
  result?: { objectId?: string; value?: unknown };
  objects?: { objectId: string };
  exceptionDetails?: object;
}

const HANDLES = /^(TCP|Pipe|TLS|TTY|UDP|Process|FSEvent|Worker|MessagePort)/;

/** The processes that descend from one. Those that end while they are read are none. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = read(() => readFileSync(`/proc/${entry}/stat`, 'utf8'));
    // The name stands in brackets and may hold anything.
    const parent = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
    if (parent !== undefined) parents.set(Number(entry), Number(parent));
  }
  const found: number[] = [];
  for (let next = [pid]; next.length > 0; ) {
    next = [...parents].filter(([, parent]) => next.includes(parent)).map(([child]) => child);
    found.push(...next);
  }
  return found;
}

function enginesBelow(pid: number): number {
  return programsBelow(pid).filter((path) => !/\/(node|postgres|initdb)$/.test(path)).length;
}

/** The processes below one in which texts are read: no other runs Node. */
export function scannersBelow(pid: number): number[] {
  return descendantsOf(pid).filter((child) =>
    read(() => readlinkSync(`/proc/${child}/exe`))?.endsWith('/node'),
  );
}

function programsBelow(pid: number): string[] {
  const programs = descendantsOf(pid).map((child) => read(() => readlinkSync(`/proc/${child}/exe`)));
  return programs.filter((path) => path !== undefined);
}

function read<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return undefined;
    throw error;
  }
}
