/**
 * A program of its own that holds an embedded server, for tests that kill it. The options come as JSON in the
 * first argument; every event goes out as a line of JSON; the line `stop` stops it. With `leave` it neither
 * listens nor stops, and so shows whether the server keeps a program from ending.
 */
import { createInterface } from 'node:readline';
import { EmbeddedError, startEmbedded } from '../embedded.ts';

const { forbidNamespaces, leave, ...options } = JSON.parse(process.argv[2]!);
const say = (event: object) => process.stdout.write(`${JSON.stringify(event)}\n`);

try {
  const embedded = await startEmbedded({
    ...options,
    ...(forbidNamespaces && { canUnshare: () => false }),
    log: (line) => say({ event: 'log', line }),
  });
  const { connection, owned, version } = embedded;
  say({ event: 'ready', connection, owned, version });
  if (!leave) {
    const lines = createInterface({ input: process.stdin });
    lines.on('line', async () => {
      say({ event: 'stopping' });
      await embedded.stop();
      say({ event: 'stopped' });
      lines.close();
    });
  }
} catch (error) {
  if (!(error instanceof EmbeddedError)) throw error;
  say({ event: 'refused', code: error.code, message: error.message });
}
