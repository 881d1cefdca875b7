/** Engine for Azure Translator, version 3.0. */

import type { Engine, Language } from '../engine.ts';
import { HTML } from '../markup.ts';
import type { RemoteOptions, ServiceAdapter } from './remote.ts';
import { allPairs, failure, field, positional, RemoteEngine } from './remote.ts';

export interface AzureOptions extends RemoteOptions {
  key: string;
  /** Region of the Azure resource, if it has one, such as `westeurope`. */
  region?: string;
  /** The `category` parameter, which selects a custom model. */
  model?: string;
}

export function createAzure(options: AzureOptions): Engine {
  return new RemoteEngine(azure(options), options);
}

function azure({ key, region, model }: AzureOptions): ServiceAdapter {
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

    async list(send) {
      const result = await send({ method: 'GET', path: '/languages?api-version=3.0&scope=translation' });
      if (!result.ok) return result;
      const languages = field(result.json, 'translation');
      const codes = typeof languages === 'object' && languages !== null ? Object.keys(languages) : [];
      const apiCodes = codes.flatMap((code) => named(code));
      return allPairs(apiCodes, apiCodes);
    },

    health: (send) => send({ method: 'GET', path: '/languages?api-version=3.0&scope=translation' }),

    async translate(send, { offer, texts, marked }) {
      const query = new URLSearchParams({
        'api-version': '3.0',
        from: offer.source,
        to: offer.target,
        textType: marked ? 'html' : 'plain',
        ...(model === undefined ? {} : { category: model, allowFallback: 'true' }),
      });
      const result = await send({
        method: 'POST',
        path: `/translate?${query}`,
        body: texts.map((Text) => ({ Text })),
      });
      if (!result.ok) return failure(result);
      const list = Array.isArray(result.json)
        ? result.json.map((each) => {
            const translations = field(each, 'translations');
            const text = Array.isArray(translations) ? field(translations[0], 'text') : null;
            return typeof text === 'string' ? text : null;
          })
        : null;
      return positional(list, texts.length);
    },
  };
}

/** Language codes of Azure, each with the codes of Dragoman that it serves. Azure's `pt` is Brazilian Portuguese. */
const API_CODES: Readonly<Record<string, Language[]>> = {
  pt: ['pt-br'],
  'pt-pt': ['pt', 'pt-pt'],
  'zh-hans': ['zh-hans', 'zh'],
  'sr-cyrl': ['sr-cyrl', 'sr'],
  'mn-cyrl': ['mn-cyrl', 'mn'],
};

function named(code: string): [Language, string][] {
  const lower = code.toLowerCase();
  return (API_CODES[lower] ?? [lower]).map((apiCode) => [apiCode, code]);
}
