import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { apertiumWith } from '../../../../scripts/test-tools.ts';
import { startRegistry } from '../../../engines/test/bergamot/registry.ts';
import { createPool } from '../database/connections.ts';
import { loadSettings } from '../settings/settings.ts';
import { startTestServer, until } from '../testing/harness.ts';
import { dragoman } from '../testing/programs.ts';
import { createEngines } from '../translation/engines.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-model-'));
const registry = await startRegistry();
registry.add('en-es');
const data = ['--data', join(directory, 'data')];
afterAll(() => {
  registry.close();
  rmSync(directory, { recursive: true });
});

describe('dragoman model', () => {
  it('lists, installs and mirrors models of a registry', async () => {
    const from = ['--from', registry.url];
    const list = await dragoman(['model', 'list', 'en-es', '--remote', ...from, ...data]);
    expect(list.stdout.split('\n').slice(0, 2)).toEqual([
      expect.stringMatching(/^PAIR +ARCHITECTURE +MB +CHRF +BLEU +NOTE$/),
      expect.stringMatching(/^en-es +tiny +0\.\d +55\.0 +27\.1 +installed by model pull$/),
    ]);
    expect(await dragoman(['model', 'list', ...data])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('There are no installed models.'),
    });
    const offline = await dragoman(['model', 'list', '--remote', '--from', 'http://127.0.0.1:1', ...data]);
    expect(offline.stderr).toBe(
      'The registry could not be read: the source cannot be reached (ECONNREFUSED); on a machine without internet access, use --from FOLDER.\n',
    );
    const mirror = join(directory, 'mirror');
    expect(await dragoman(['model', 'mirror', mirror, 'en-es', ...from])).toMatchObject({
      status: 0,
      stdout: `Copied 1 models to ${mirror}. Install them with --from.\n`,
    });
    const pulled = await dragoman(['model', 'pull', 'en-es', '--from', mirror, ...data]);
    expect(pulled).toMatchObject({
      status: 0,
      stdout: `Installed en-es (tiny) in ${join(directory, 'data', 'bergamot')}.\n`,
      stderr: expect.stringContaining('model.enes.intgemm.alphas.bin: 100 %'),
    });
    const { stdout } = await dragoman(['model', 'list', '--json', ...data]);
    expect(JSON.parse(stdout)).toMatchObject({
      models: [{ pair: 'en-es', file: 'model.enes.intgemm.alphas.bin' }],
      faults: [],
    });
  });

  it('makes a running server without any setting of engines offer the pair of an installed model within seconds', async () => {
    const bare = join(directory, 'bare');
    const { root } = apertiumWith(join(directory, 'apertium'), ['eng-spa']);
    const settings = { DRAGOMAN_DATA: bare, DRAGOMAN_APERTIUM_ROOT: root };
    const server = await startTestServer({ engines: () => createEngines(loadSettings(settings)), settings });
    const pair = `select from pairs where engine = 'bergamot' and source_language = 'en' and target_language = 'es'`;
    const owner = createPool(server.connection);
    try {
      expect((await owner.query(pair)).rowCount).toBe(0);
      const pull = ['model', 'pull', 'en-es', '--from', registry.url, '--data', bare];
      expect(await dragoman(pull)).toMatchObject({
        status: 0,
        stderr: expect.not.stringContaining('DRAGOMAN_ENGINES'),
      });
      // The worker publishes other changes only every ten minutes, which would exceed the time of a test.
      await until(async () => (await owner.query(pair)).rowCount === 1);
    } finally {
      await owner.end();
      await server.stop();
    }
  });

  it('names the setting that must include the engine when it is missing there', async () => {
    const pull = ['model', 'pull', 'en-es', '--small', '--from', registry.url, ...data];
    expect(await dragoman(pull, { DRAGOMAN_ENGINES: 'apertium' })).toMatchObject({
      status: 0,
      stderr: expect.stringContaining(
        'Add bergamot to DRAGOMAN_ENGINES, so that the server offers the pair.',
      ),
    });
  });

  it('prints the reason when a model cannot be installed', async () => {
    const pull = (pair: string, from: string) => dragoman(['model', 'pull', pair, '--from', from, ...data]);
    expect(await pull('en-xx', registry.url)).toMatchObject({
      status: 1,
      stderr: 'The model could not be pulled: the registry has no model for en-xx.\n',
    });
    const nowhere = join(directory, 'nowhere');
    expect(await pull('en-es', nowhere)).toMatchObject({
      status: 1,
      stderr: `The model could not be pulled: ${nowhere} is not a mirror: models.json cannot be read.\n`,
    });
  });

  it('writes the manifest of model files that an operator copied', async () => {
    const place = join(directory, 'copied', 'en-pt-br');
    mkdirSync(place, { recursive: true });
    const seal = ['model', 'seal', 'en', 'pt-br', '--folder', join(directory, 'copied')];
    expect(await dragoman(seal)).toMatchObject({
      status: 1,
      stderr: 'The model could not be sealed: there is no model.….bin.\n',
    });
    for (const name of ['model.enpt.intgemm.alphas.bin', 'vocab.enpt.spm'])
      writeFileSync(join(place, name), name);
    expect(await dragoman(seal)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Wrote the manifest'),
    });
  });
});
