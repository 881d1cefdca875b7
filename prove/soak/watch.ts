/** Measures the resources of a running service from outside, through Node's inspector and `/proc`. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The resources that the service uses after a garbage collection. */
export interface Held {
  rssBytes: number;
  heapBytes: number;
  /** The number of open sockets, pipes and servers. */
  handles: number;
  timers: number;
  files: number;
  /** The number of connections to PostgreSQL, counted as client objects on the heap. */
  connections: number;
  /** The maximum number of prepared statements on one connection. */
  statements: number;
  /** The number of engine processes: descendants that are neither Node.js nor PostgreSQL. */
  engines: number;
}

export interface Watch {
  sample(): Promise<Held>;
  /** The number of running scanner processes. */
  scanners(): number;
  close(): void;
}

/** Makes Node.js open its inspector on a free port, and print the port. */
export const INSPECTABLE = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/**
 * Connects to the inspector of a service.
 *
 * @param logFile the output of the service, which was started with {@link INSPECTABLE}
 */
export async function watchProgram(logFile: string): Promise<Watch> {
  // The first inspector address in the log belongs to the service. Its child processes also open an inspector, but
  // later.
  const [url] = /ws:\/\/127\.0\.0\.1:\S+/.exec(readFileSync(logFile, 'utf8'))!;
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error('no connection to the inspector'));
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
      expression,
      includeCommandLineAPI: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined)
      throw new Error(`the program threw: ${JSON.stringify(exceptionDetails)}`);
    return result?.value;
  };

  // The service's process is asked for its id, because the command may have started another process with a newer
  // Node.js.
  const pid = (await evaluate('process.pid')) as number;

  /** Returns the number of prepared statements of each PostgreSQL client on the heap. */
  async function preparedStatements(): Promise<number[]> {
    const { result } = await ask('Runtime.evaluate', {
      expression: "require('pg').Client.prototype",
      includeCommandLineAPI: true,
      objectGroup: 'soak',
    });
    const { objects } = await ask('Runtime.queryObjects', {
      prototypeObjectId: result!.objectId,
      objectGroup: 'soak',
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
    async sample() {
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
    scanners: () => scannersBelow(pid).length,
    close: () => socket.close(),
  };
}

interface Result {
  result?: { objectId?: string; value?: unknown };
  objects?: { objectId: string };
  exceptionDetails?: object;
}

const HANDLES = /^(TCP|Pipe|TLS|TTY|UDP|Process|FSEvent|Worker|MessagePort)/;

/** Returns the descendants of a process. Processes that end during the search are left out. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = read(() => readFileSync(`/proc/${entry}/stat`, 'utf8'));
    // The process name is in parentheses and may contain any character.
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

/** Returns the scanner processes below a process. No other descendants run Node.js. */
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
