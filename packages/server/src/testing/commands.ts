/** Runs commands on the database of a server that one file of tests starts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { startTestServer, type TestServer } from './harness.ts';
import { dragoman, type Ended, urlOf } from './programs.ts';

/** Starts the server before the tests of a file, and stops it after them. @param words the first words of each command */
export function shareCommands(words: string[] = [], options: Parameters<typeof startTestServer>[0] = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-command-'));
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(options);
  });
  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const command = (...args: string[]): Promise<Ended> =>
    dragoman([...words, ...args, '--data', directory], { DATABASE_URL: urlOf(server.connection) });
  /** Runs a command and returns its standard output. */
  async function runText(...args: string[]): Promise<string> {
    const { status, stdout, stderr } = await command(...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout;
  }
  return {
    directory,
    get server() {
      return server;
    },
    command,
    runText,
    /** Runs a command with `--json` and returns what it prints. */
    runJson: async (...args: string[]) => JSON.parse(await runText(...args, '--json')),
  };
}
