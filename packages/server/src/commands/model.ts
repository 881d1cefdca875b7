/** The command `dragoman model`: installs the models of the Bergamot engine. */
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

interface PullOptions extends Options {
  from: string;
  sha256?: string;
  insecure?: boolean;
}

export function addModelCommands(program: Command): void {
  const model = program.command('model').description('install models of the Bergamot engine');

  model
    .command('pull')
    .description('download a model; an interrupted download continues where it stopped')
    .argument('<source>', 'source language')
    .argument('<target>', 'target language')
    .requiredOption('--from <url>', 'a URL with en-es/manifest.json and the model’s files')
    .option('--sha256 <hex>', 'the SHA-256 of the manifest, which contains those of all files')
    .option('--insecure', 'allow http, where others could change the download')
    .option('--folder <dir>', 'where the models are (DRAGOMAN_BERGAMOT_MODELS)')
    .addOption(data())
    .action((source: string, target: string, options: PullOptions) =>
      pull(`${source}-${target}`, options, folderOf(options)),
    );

  model
    .command('seal')
    .description('write the manifest of model files that you copied there, with the names that Firefox uses')
    .argument('<source>', 'source language')
    .argument('<target>', 'target language')
    .option('--folder <dir>', 'where the models are (DRAGOMAN_BERGAMOT_MODELS)')
    .addOption(data())
    .action(async (source: string, target: string, options: Options) => {
      const place = join(folderOf(options), `${source}-${target}`);
      const { model } = await explained('sealed', () => sealModel(place, source, target));
      print(`Wrote the manifest of ${source}-${target}: ${model.name}, ${megabytes(model.bytes)} MB.`);
    });
}

async function pull(
  pair: string,
  { from, sha256, insecure = false }: PullOptions,
  folder: string,
): Promise<void> {
  const stop = new AbortController();
  const onInterrupt = (): void =>
    stop.abort(new CommandError('The download was interrupted. Run the command again to continue.'));
  process.once('SIGINT', onInterrupt);
  const reported = new Map<string, number>();
  try {
    await explained('pulled', () =>
      pullModel({
        pair,
        from,
        sha256,
        insecure,
        folder,
        signal: stop.signal,
        onProgress({ file, bytes, of }) {
          const tenth = Math.floor((10 * bytes) / of);
          if (reported.get(file) === tenth) return;
          reported.set(file, tenth);
          say(`  ${file}: ${tenth * 10} % of ${megabytes(of)} MB`);
        },
      }),
    );
  } finally {
    process.off('SIGINT', onInterrupt);
  }
  print(`Installed ${pair} in ${folder}.`);
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
