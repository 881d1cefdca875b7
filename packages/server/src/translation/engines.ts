/**
 * Creates the configured engines, in the order of preference. No engine starts a process before its first
 * use.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createApertium,
  createAzure,
  createBergamot,
  createDeepL,
  createGoogle,
  createGoogleProject,
  createLanguageModel,
  createLibreTranslate,
  type Engine,
  restrictionOf,
} from '@dragoman/engines';
import type { EngineName } from '../settings/engine-names.ts';
import { languageModelSettings, SettingError, type Settings } from '../settings/settings.ts';
import type { EngineLimits } from './engine-runner.ts';

/**
 * Returns the folder of a private Apertium installation. If the folder contains no installation, the system's
 * installation is used.
 */
export function apertiumRoot(settings: Settings): string {
  return settings.apertiumRoot ?? join(settings.data, 'apertium');
}

export function modelsFolder(settings: Settings): string {
  return settings.bergamotModels ?? join(settings.data, 'bergamot');
}

/** Returns whether the folder of the models contains any, also if they cannot be used. */
function hasModels(settings: Settings): boolean {
  try {
    return readdirSync(modelsFolder(settings)).some((name) => !name.startsWith('.'));
  } catch {
    return false;
  }
}

/** Returns the configured engines, without the engine bergamot while it has no model and is not the only engine. */
export function enginesWithData(settings: Settings): EngineName[] {
  if (settings.engines.length === 1 || hasModels(settings)) return settings.engines;
  return settings.engines.filter((name) => name !== 'bergamot');
}

/** Returns a line that offers a neural model if Apertium is the only engine that can translate; otherwise undefined. */
export function offerOfModel(settings: Settings): string | undefined {
  if (enginesWithData(settings).join() !== 'apertium') return undefined;
  const setting = settings.engines.includes('bergamot') ? '' : ', and set DRAGOMAN_ENGINES=bergamot,apertium';
  return `for better translations, install a neural model: dragoman model pull en-es${setting}; on a machine without internet access, add --from FOLDER (docs/engines.md#bergamot)`;
}

/** Creates the engines that the settings name. @throws SettingError when a configured engine lacks a setting */
export function createEngines(settings: Settings): Engine[] {
  return settings.engines.map((name) =>
    isLanguageModel(name) ? makeLanguageModel(settings, name) : MAKERS[name](settings),
  );
}

const MAKERS: Record<Exclude<EngineName, LanguageModelName>, (settings: Settings) => Engine> = {
  apertium: (settings) =>
    createApertium({
      root: apertiumRoot(settings),
      memoryMebibytes: settings.apertiumMebibytes,
      bulkPipelines: settings.apertiumPipelines,
    }),
  bergamot: (settings) => {
    const folder = modelsFolder(settings);
    const memoryMebibytes = settings.bergamotMebibytes;
    return createBergamot({ folder, ...(memoryMebibytes === undefined ? {} : { memoryMebibytes }) });
  },
  deepl: (settings) =>
    createDeepL({
      ...common(settings, 'deepl', settings.deeplUrl, settings.deeplPairs),
      key: needed(settings.deeplKey, 'DRAGOMAN_DEEPL_KEY', 'deepl'),
      ...(settings.deeplModel === undefined ? {} : { model: settings.deeplModel }),
    }),
  libretranslate: (settings) =>
    createLibreTranslate({
      ...common(
        settings,
        'libretranslate',
        needed(settings.libretranslateUrl, 'DRAGOMAN_LIBRETRANSLATE_URL', 'libretranslate'),
        settings.libretranslatePairs,
      ),
      ...(settings.libretranslateKey === undefined ? {} : { key: settings.libretranslateKey }),
    }),
  google(settings) {
    const where = common(settings, 'google', settings.googleUrl, settings.googlePairs);
    const { googleProject: project, googleKey: key, googleTokenFile, googleGlossary: glossary } = settings;
    if (project === undefined)
      return createGoogle({ ...where, key: needed(key, 'DRAGOMAN_GOOGLE_KEY', 'google') });
    const file = needed(googleTokenFile, 'DRAGOMAN_GOOGLE_TOKEN_FILE', 'google');
    return createGoogleProject({
      ...where,
      project,
      location: settings.googleLocation,
      token: () => readToken(file),
      ...(glossary === undefined ? {} : { glossary }),
    });
  },
  azure: (settings) =>
    createAzure({
      ...common(settings, 'azure', settings.azureUrl, settings.azurePairs),
      key: needed(settings.azureKey, 'DRAGOMAN_AZURE_KEY', 'azure'),
      ...(settings.azureRegion === undefined ? {} : { region: settings.azureRegion }),
    }),
};

type LanguageModelName = 'llm' | `llm:${string}`;
const isLanguageModel = (name: EngineName): name is LanguageModelName => /^llm(?::|$)/.test(name);

/** Creates the engine `llm` or `llm:NAME`. @throws SettingError also when the license of its model has limits */
function makeLanguageModel(settings: Settings, name: LanguageModelName): Engine {
  const own = languageModelSettings(settings, name);
  if (own.llmAnswers === undefined) throw new SettingError(`DRAGOMAN_ENGINES must name the engine ${name}.`);
  const prefix = name.toUpperCase().replace(':', '_');
  const { llmKey: key, llmProfile: profile, llmContext: context } = own;
  const model = needed(own.llmModel, `DRAGOMAN_${prefix}_MODEL`, name);
  const restriction = restrictionOf(model, profile);
  if (restriction !== undefined && own.llmLicense === undefined) {
    throw new SettingError(
      `The license of ${model} ${restriction}. If you may use it, set DRAGOMAN_${prefix}_LICENSE=accepted.`,
    );
  }
  const url = needed(own.llmUrl, `DRAGOMAN_${prefix}_URL`, name);
  const pairs = own.llmPairs.length === 0 ? undefined : own.llmPairs;
  return createLanguageModel({
    ...common(settings, name, url),
    model,
    directions: needed(pairs, `DRAGOMAN_${prefix}_PAIRS`, name),
    answers: own.llmAnswers,
    parameters: own.llmParameters,
    ...(key === undefined ? {} : { key }),
    ...(profile === undefined ? {} : { profile }),
    ...(context === undefined ? {} : { context }),
  });
}

function common(settings: Settings, name: EngineName, baseUrl: string, pairs: readonly string[] = []) {
  const limits = { concurrency: limitsOf(settings, name).concurrency };
  return { name, baseUrl, ...limits, ...(pairs.length === 0 ? {} : { directions: pairs }) };
}

/**
 * Returns the token in a file, or '' if the file cannot be read. With '', the service refuses requests until the file
 * has a token.
 */
function readToken(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}

function needed<T>(value: T | undefined, setting: string, engine: EngineName): T {
  if (value === undefined) throw new SettingError(`${setting} must be set for the engine ${engine}.`);
  return value;
}

const DEFAULT_CONCURRENCY = 4;

export function limitsOf(settings: Settings, engine: string): EngineLimits {
  return {
    concurrency: settings.engineConcurrency[engine] ?? DEFAULT_CONCURRENCY,
    perSecond: settings.engineRates[engine],
    centsPerMillion: settings.engineCosts[engine] ?? 0,
  };
}
