/** The service as a process that a proof kills and starts again. */
import { believeEngine, type Program, startProgram } from '../../scripts/program.ts';

export interface Service {
  readonly url: string;
  readonly port: number;
  /** The running process. */
  readonly program: Program;
  /** Unix milliseconds of each kill. */
  readonly kills: readonly number[];
  /** Ends the process with SIGKILL. */
  kill(): Promise<void>;
  /** Starts the service again on its port, and waits until it is ready. */
  start(environment?: Record<string, string>): Promise<void>;
  /** Asks the process to stop and waits for its end. */
  stop(): Promise<void>;
}

/**
 * Starts the service with one language pair, English to Spanish, without a self-test.
 * @param logFile receives the output of the program
 */
export async function startService(
  directory: string,
  environment: Record<string, string> = {},
  logFile?: string,
): Promise<Service> {
  await believeEngine(directory);
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
