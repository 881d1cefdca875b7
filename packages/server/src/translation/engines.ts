/** The engines of the settings, in the order in which they are tried. None starts anything before its first use. */
import { join } from 'node:path';
import { createApertium, type Engine } from '@dragoman/engines';
import type { Settings } from '../settings.ts';
import type { EngineName } from './names.ts';
import type { EngineLimits } from './stations.ts';

/** The folder for a private Apertium; where there is none in it, the system's is used. */
export function apertiumRoot(settings: Settings): string {
  return settings.apertiumRoot ?? join(settings.data, 'apertium');
}

export function createEngines(settings: Settings): Engine[] {
  return settings.engines.map((name) => MAKERS[name](settings));
}

const MAKERS: Record<EngineName, (settings: Settings) => Engine> = {
  apertium: (settings) =>
    createApertium({ root: apertiumRoot(settings), memoryMebibytes: settings.apertiumMebibytes }),
};

export function limitsOf(settings: Settings, engine: string): EngineLimits {
  return {
    concurrency: settings.engineConcurrency[engine] ?? DEFAULT_CONCURRENCY,
    perSecond: settings.engineRates[engine],
    centsPerMillion: settings.engineCosts[engine] ?? 0,
  };
}

const DEFAULT_CONCURRENCY = 4;
