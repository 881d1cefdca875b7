import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startEmbedded } from './embedded.ts';

it('startEmbedded recommends DATABASE_URL when the embedded server does not start', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'dragoman-embedded-'));
  try {
    const settings = { shared_buffers: 'plenty' };
    await expect(startEmbedded({ dataDir: directory, role: 'command', settings })).rejects.toMatchObject({
      code: 'start',
      message: expect.stringMatching(/plenty.*\nSet DATABASE_URL to use another PostgreSQL server/s),
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
