/** The service in a separate process, which a proof can kill and start again. */
import { believeEngine, ENGLISH_TO_SPANISH, type Program, startProgram } from '../../scripts/program.ts';

export interface Service {
  readonly url: string;
  readonly port: number;
  readonly program: Program;
  /** The time of each kill in Unix milliseconds. */
  readonly kills: readonly number[];
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>;
  /** Starts the service again on the same port and waits until it is ready. */
  start(environment?: Record<string, string>): Promise<void>;
  /** Sends SIGTERM to the process and waits until it has ended. */
  stop(): Promise<void>;
}

/**
 * Starts the service with one language pair and without self-tests.
 *
 * @param logFile receives the output of the service
 */
export async function startService(
  directory: string,
  environment: Record<string, string> = {},
  logFile?: string,
  pair = ENGLISH_TO_SPANISH,
): Promise<Service> {
  await believeEngine(directory, undefined, pair);
  const log = logFile === undefined ? {} : { logFile };
  let program = await startProgram({ directory, environment, ...log });
  const { port, url } = program;
  const kills: number[] = [];
  return {
    url,
    port,
    kills,
    get program() {
      return program;
    },
    async kill() {
      await program.kill();
      kills.push(Date.now());
    },
    async start(again = environment) {
      program = await startProgram({ directory, port, environment: again, ...log });
    },
    stop: () => program.stop(),
  };
}
