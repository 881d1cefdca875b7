/**
 * A program that starts an embedded server, for tests that kill it. It takes its options as JSON in the
 * first argument, prints each event as a line of JSON, and stops when it reads the line `stop`. With `leave`
 * it does not wait for input, which shows whether the server keeps a program from exiting.
 */
import { createInterface } from 'node:readline';
import { EmbeddedPostgresError, startEmbeddedPostgres } from '../src/embedded-postgres.ts';

const { leave, ...options } = JSON.parse(process.argv[2]!);
const print = (event: object) => process.stdout.write(`${JSON.stringify(event)}\n`);

try {
  const server = await startEmbeddedPostgres({
    ...options,
    log: (line) => print({ event: 'log', line }),
  });
  const { connection, owned, version } = server;
  print({ event: 'ready', connection, owned, version });
  if (!leave) {
    const lines = createInterface({ input: process.stdin });
    lines.on('line', async () => {
      print({ event: 'stopping' });
      await server.stop();
      print({ event: 'stopped' });
      lines.close();
    });
  }
} catch (error) {
  if (!(error instanceof EmbeddedPostgresError)) throw error;
  print({ event: 'refused', code: error.code, message: error.message });
}
