/**
 * Creates the configured engines, in the order of preference. No engine starts a process before its first
 * use.
 */
import { readFileSync } from 'node:fs';
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
} from '@dragoman/engines';
import type { EngineName } from '../settings/engine-names.ts';
import { SettingError, type Settings } from '../settings/settings.ts';
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

/** Creates the engines that the settings name. @throws SettingError when a configured engine lacks a setting */
export function createEngines(settings: Settings): Engine[] {
  return settings.engines.map((name) => MAKERS[name](settings));
}

const MAKERS: Record<EngineName, (settings: Settings) => Engine> = {
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
  llm: (settings) =>
    createLanguageModel({
      ...common(settings, 'llm', needed(settings.llmUrl, 'DRAGOMAN_LLM_URL', 'llm')),
      model: needed(settings.llmModel, 'DRAGOMAN_LLM_MODEL', 'llm'),
      directions: needed(
        settings.llmPairs.length === 0 ? undefined : settings.llmPairs,
        'DRAGOMAN_LLM_PAIRS',
        'llm',
      ),
      ...(settings.llmKey === undefined ? {} : { key: settings.llmKey }),
    }),
};

function common(settings: Settings, name: EngineName, baseUrl: string, pairs: readonly string[] = []) {
  const limits = { concurrency: limitsOf(settings, name).concurrency };
  return { name, baseUrl, ...limits, ...(pairs.length === 0 ? {} : { directions: pairs }) };
}

/** Returns '' if the file cannot be read. The service then refuses requests until a token exists. */
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
