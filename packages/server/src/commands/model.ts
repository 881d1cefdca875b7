/** The command `dragoman model`: lists and installs the models of the Bergamot engine. */
import { join } from 'node:path';
import type { RemoteModel } from '@dragoman/engines';
import {
  chooseModel,
  findModels,
  listRemoteModels,
  MOZILLA,
  ModelError,
  mirrorModels,
  pullModel,
  sealModel,
} from '@dragoman/engines';
import { type Command, Option } from 'commander';
import { modelsFolder } from '../translation/engines.ts';
import { data, settingsWith } from './options.ts';
import { CommandError, print, printJson, printTable, say } from './output.ts';

interface Options {
  data?: string;
  folder?: string;
}

interface SourceOptions extends Options {
  from: string;
  insecure?: boolean;
}

interface ListOptions extends SourceOptions {
  remote?: boolean;
  json?: boolean;
}

const from = () =>
  new Option('--from <source>', 'the registry: that of Firefox, the URL of a mirror, or its folder').default(
    MOZILLA,
  );
const insecure = () =>
  new Option('--insecure', 'allow a mirror over http, where others could change the download');
const folder = () => new Option('--folder <dir>', 'where the models are (DRAGOMAN_BERGAMOT_MODELS)');

export function addModelCommands(program: Command): void {
  const model = program.command('model').description('list and install models of the Bergamot engine');

  model
    .command('list')
    .description('list the installed models, or those that can be installed')
    .argument('[pair]', 'such as en-es; all pairs if not given')
    .option('--remote', 'list the models of the registry')
    .addOption(from())
    .addOption(insecure())
    .addOption(folder())
    .addOption(data())
    .option('--json', 'print one JSON object')
    .action((pair: string | undefined, options: ListOptions) =>
      options.remote ? listRemote(pair, options) : listInstalled(pair, options),
    );

  model
    .command('pull')
    .description(
      'install the best released model of a pair; an interrupted download continues where it stopped',
    )
    .argument('<pair>', 'such as en-es')
    .option('--small', 'install the smallest model instead')
    .addOption(from())
    .addOption(insecure())
    .addOption(folder())
    .addOption(data())
    .action((pair: string, options: SourceOptions & { small?: boolean }) => pull(pair, options));

  model
    .command('mirror')
    .description('copy the best and the smallest model of each pair into a folder, for --from')
    .argument('<folder>', 'the folder of the mirror')
    .argument('<pairs...>', 'such as en-es es-en')
    .addOption(from())
    .addOption(insecure())
    .action((folder: string, pairs: string[], options: SourceOptions) => mirror(folder, pairs, options));

  model
    .command('seal')
    .description('write the manifest of model files that you copied there, with the names that Firefox uses')
    .argument('<source>', 'source language')
    .argument('<target>', 'target language')
    .addOption(folder())
    .addOption(data())
    .action(async (source: string, target: string, options: Options) => {
      const place = join(folderOf(options), `${source}-${target}`);
      const { model } = await explained('The model could not be sealed', () =>
        sealModel(place, source, target),
      );
      print(`Wrote the manifest of ${source}-${target}: ${model.name}, ${megabytes(model.bytes)} MB.`);
    });
}

async function listInstalled(pair: string | undefined, options: ListOptions): Promise<void> {
  const { models, faults } = await findModels(folderOf(options));
  const shown = models
    .map(({ manifest: { from, to, model }, digest }) => ({ pair: `${from}-${to}`, file: model.name, digest }))
    .filter((model) => pair === undefined || model.pair === pair);
  if (options.json) return printJson({ models: shown, faults });
  printTable(
    ['pair', 'model', 'digest'],
    shown.map((model) => [model.pair, model.file, model.digest]),
    'There are no installed models. `dragoman model list --remote` shows those that can be.',
  );
  for (const fault of faults) say(`Not usable: ${fault}.`);
}

async function listRemote(pair: string | undefined, options: ListOptions): Promise<void> {
  const all = await explained('The registry could not be read', () => listRemoteModels(options));
  const models = all.filter((model) => pair === undefined || model.pair === pair);
  const chosen = new Set<RemoteModel>();
  for (const { pair } of models) {
    try {
      chosen.add(chooseModel({ baseUrl: null, models }, pair));
    } catch {
      // No model of the pair can be installed. The printed table gives the reason.
    }
  }
  if (options.json) {
    const shown = models.map((model) => ({ ...model, files: undefined, chosen: chosen.has(model) }));
    return printJson({ models: shown });
  }
  const score = (value: number | null): string => (value === null ? '-' : value.toFixed(1));
  printTable(
    ['pair', 'architecture', 'MB', 'chrF', 'BLEU', 'note'],
    models.map((model) => [
      model.pair,
      model.architecture,
      megabytes(model.bytes),
      score(model.scores.chrf),
      score(model.scores.bleu),
      chosen.has(model) ? 'installed by model pull' : (model.fault ?? (model.released ? '' : 'not released')),
    ]),
    'The registry has no such model.',
  );
}

async function pull(pair: string, options: SourceOptions & { small?: boolean }): Promise<void> {
  const folder = folderOf(options);
  const model = await interruptible('The model could not be pulled', (signal, onProgress) =>
    pullModel({ ...options, pair, folder, signal, onProgress }),
  );
  print(`Installed ${pair} (${model.architecture}) in ${folder}.`);
  if (!settingsWith(options).engines.includes('bergamot'))
    say('Add bergamot to DRAGOMAN_ENGINES, so that the server offers the pair.');
}

async function mirror(folder: string, pairs: string[], options: SourceOptions): Promise<void> {
  const models = await interruptible('The models could not be copied', (signal, onProgress) =>
    mirrorModels({ ...options, folder, pairs, signal, onProgress }),
  );
  print(`Copied ${models.length} models to ${folder}. Install them with --from.`);
}

interface Progress {
  file: string;
  bytes: number;
  of: number;
}

/** Runs a download that Ctrl+C interrupts, and prints its progress in steps of ten percent. */
async function interruptible<T>(
  failed: string,
  work: (signal: AbortSignal, onProgress: (progress: Progress) => void) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const onInterrupt = (): void =>
    stop.abort(new CommandError('The download was interrupted. Run the command again to continue.'));
  process.once('SIGINT', onInterrupt);
  const reported = new Map<string, number>();
  function onProgress({ file, bytes, of }: Progress): void {
    const tenth = Math.floor((10 * bytes) / of);
    if (reported.get(file) === tenth) return;
    reported.set(file, tenth);
    say(`  ${file}: ${tenth * 10} % of ${megabytes(of)} MB`);
  }
  try {
    return await explained(failed, () => work(stop.signal, onProgress));
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

async function explained<T>(failed: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    throw new CommandError(`${failed}: ${error.message}.`);
  }
}

const folderOf = (options: Options): string => options.folder ?? modelsFolder(settingsWith(options));

const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1);
