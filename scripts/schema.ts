// Writes packages/server/src/database/schema.sql anew from the migrations, with a database of its own.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../packages/server/src/database/embedded.ts';
import { migrate } from '../packages/server/src/database/migrate.ts';
import { describeSchema } from '../packages/server/src/database/schema.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-schema-'));
const embedded = await startEmbedded({ dataDir: directory, role: 'command' });
try {
  await migrate(embedded.connection);
  const file = new URL('../packages/server/src/database/schema.sql', import.meta.url);
  writeFileSync(file, await describeSchema(embedded.connection));
} finally {
  await embedded.stop();
  rmSync(directory, { recursive: true, force: true });
}
