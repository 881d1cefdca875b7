/** `dragoman model …`: the models of Bergamot, fetched or taken as they are. */
import { join } from 'node:path';
import { ModelError, pullModel, sealModel } from '@dragoman/engines';
import type { Command } from 'commander';
import { modelsFolder } from '../translation/engines.ts';
import { data, settingsWith } from './options.ts';
import { CommandError, print, say } from './output.ts';

interface Options {
  data?: string;
  folder?: string;
}

export function addModelCommands(program: Command): void {
  const model = program.command('model').description('models of Bergamot, the neural engine of this machine');

  model
    .command('pull')
    .description('fetch a model; a pull that broke off goes on where it ended')
    .argument('<source>', 'source language')
    .argument('<target>', 'target language')
    .requiredOption('--from <url>', 'a folder of models: en-es/manifest.json and its files')
    .option('--folder <dir>', 'where models stand (DRAGOMAN_BERGAMOT_MODELS)')
    .addOption(data())
    .action((source: string, target: string, options: Options & { from: string }) =>
      pull(`${source}-${target}`, options.from, folderOf(options)),
    );

  model
    .command('seal')
    .description('write the manifest of files that you have put there, named as Firefox names them')
    .argument('<source>', 'source language')
    .argument('<target>', 'target language')
    .option('--folder <dir>', 'where models stand (DRAGOMAN_BERGAMOT_MODELS)')
    .addOption(data())
    .action(async (source: string, target: string, options: Options) => {
      const place = join(folderOf(options), `${source}-${target}`);
      const { model } = await explained('sealed', () => sealModel(place, source, target));
      print(`${source}-${target} is sealed: ${model.name}, ${megabytes(model.bytes)} MB.`);
    });
}

async function pull(pair: string, from: string, folder: string): Promise<void> {
  const stop = new AbortController();
  const onInterrupt = (): void =>
    stop.abort(new CommandError('The pull was stopped; begin it again to go on.'));
  process.once('SIGINT', onInterrupt);
  const told = new Map<string, number>();
  try {
    await explained('pulled', () =>
      pullModel({
        pair,
        from,
        folder,
        signal: stop.signal,
        onProgress({ file, bytes, of }) {
          const tenth = Math.floor((10 * bytes) / of);
          if (told.get(file) === tenth) return;
          told.set(file, tenth);
          say(`  ${file}: ${tenth * 10} % of ${megabytes(of)} MB`);
        },
      }),
    );
  } finally {
    process.off('SIGINT', onInterrupt);
  }
  print(`${pair} is in ${folder}.`);
}

async function explained<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    throw new CommandError(`The model could not be ${what}: ${error.message}.`);
  }
}

const folderOf = (options: Options): string => options.folder ?? modelsFolder(settingsWith(options));

const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1);
