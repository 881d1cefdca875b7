/** Azure Translator, version 3.0. */

import type { Engine, Language } from '../engine.ts';
import { HTML } from '../markup.ts';
import type { RemoteOptions, Service } from './remote.ts';
import { cross, failure, field, positional, Remote } from './remote.ts';

export interface AzureOptions extends RemoteOptions {
  key: string;
  /** Of the resource, where it has one: `westeurope`. */
  region?: string;
  /** `category`: a model of one's own. */
  model?: string;
}

export function createAzure(options: AzureOptions): Engine {
  return new Remote(azure(options), options);
}

function azure({ key, region, model }: AzureOptions): Service {
  return {
    name: 'azure',
    capabilities: {
      codes: 'best effort',
      terms: false,
      tone: false,
      instructions: false,
      context: false,
      remote: true,
    },
    notation: HTML,
    limits: { segments: 100, characters: 40_000 },
    settings: { version: '3.0' },
    ...(model === undefined ? {} : { model }),
    headers: {
      'ocp-apim-subscription-key': key,
      ...(region === undefined ? {} : { 'ocp-apim-subscription-region': region }),
    },

    async list(ask) {
      const answer = await ask({ method: 'GET', path: '/languages?api-version=3.0&scope=translation' });
      if (!answer.ok) return answer;
      const languages = field(answer.json, 'translation');
      const codes = typeof languages === 'object' && languages !== null ? Object.keys(languages) : [];
      const ours = codes.flatMap((code) => named(code));
      return cross(ours, ours);
    },

    health: (ask) => ask({ method: 'GET', path: '/languages?api-version=3.0&scope=translation' }),

    async translate(ask, { offer, texts, marked }) {
      const query = new URLSearchParams({
        'api-version': '3.0',
        from: offer.source,
        to: offer.target,
        textType: marked ? 'html' : 'plain',
        ...(model === undefined ? {} : { category: model, allowFallback: 'true' }),
      });
      const answer = await ask({
        method: 'POST',
        path: `/translate?${query}`,
        body: texts.map((Text) => ({ Text })),
      });
      if (!answer.ok) return failure(answer);
      const list = Array.isArray(answer.json)
        ? answer.json.map((each) => {
            const translations = field(each, 'translations');
            const text = Array.isArray(translations) ? field(translations[0], 'text') : null;
            return typeof text === 'string' ? text : null;
          })
        : null;
      return positional(list, texts.length);
    },
  };
}

/** Plain `pt` is Brazilian there. */
const OURS: Readonly<Record<string, Language[]>> = {
  pt: ['pt-br'],
  'pt-pt': ['pt', 'pt-pt'],
  'zh-hans': ['zh-hans', 'zh'],
  'sr-cyrl': ['sr-cyrl', 'sr'],
  'mn-cyrl': ['mn-cyrl', 'mn'],
};

function named(code: string): [Language, string][] {
  const lower = code.toLowerCase();
  return (OURS[lower] ?? [lower]).map((ours) => [ours, code]);
}
