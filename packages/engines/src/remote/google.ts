/** Engine for Google Cloud Translation: version 2 with a key, version 3 with a token and a project. */

import type { Capabilities, Engine, Language } from '../engine.ts';
import { HTML } from '../markup.ts';
import type { RemoteOptions, ServiceAdapter } from './remote.ts';
import { allPairs, failure, field, positional, RemoteEngine, strings } from './remote.ts';

export interface GoogleOptions extends RemoteOptions {
  key: string;
}

export interface GoogleProjectOptions extends RemoteOptions {
  /** Returns a bearer token. It is called before each request, because tokens expire soon. */
  token: () => string;
  project: string;
  /** Default: `global`. */
  location?: string;
  /** The model to use: `general/nmt`, `general/translation-llm`, or a custom model. */
  model?: string;
  /** Name of a glossary that is stored at the service, in the same location. */
  glossary?: string;
}

const CAPABILITIES: Capabilities = {
  codes: 'best effort',
  terms: false,
  tone: false,
  instructions: false,
  context: false,
  remote: true,
};

export function createGoogle(options: GoogleOptions): Engine {
  return new RemoteEngine(versionTwo(options), options);
}

export function createGoogleProject(options: GoogleProjectOptions): Engine {
  return new RemoteEngine(versionThree(options), options);
}

function versionTwo({ key }: GoogleOptions): ServiceAdapter {
  return {
    name: 'google',
    capabilities: CAPABILITIES,
    notation: HTML,
    limits: { segments: 128, characters: 25_000 },
    settings: { version: 2 },
    // The key is sent in a header, because proxies log URLs.
    headers: { 'x-goog-api-key': key },

    async list(send) {
      const result = await send({ method: 'GET', path: '/language/translate/v2/languages' });
      if (!result.ok) return result;
      const codes = strings(field(field(result.json, 'data'), 'languages'), 'language') ?? [];
      const apiCodes = named(codes.filter((code) => code !== null));
      return allPairs(apiCodes, apiCodes);
    },

    health: (send) => send({ method: 'GET', path: '/language/translate/v2/languages' }),

    async translate(send, { offer, texts, marked }) {
      const result = await send({
        method: 'POST',
        path: '/language/translate/v2',
        // Without a format, Google assumes `html` and writes entities into its replies.
        body: {
          q: texts,
          source: offer.source,
          target: offer.target,
          format: marked ? 'html' : 'text',
          model: 'nmt',
        },
      });
      if (!result.ok) return failure(result);
      const list = field(field(result.json, 'data'), 'translations');
      return positional(strings(list, 'translatedText'), texts.length);
    },
  };
}

function versionThree(options: GoogleProjectOptions): ServiceAdapter {
  const { token, project, location = 'global', model, glossary } = options;
  const name = /^[\w.:-]+$/;
  for (const part of [project, location]) {
    if (!name.test(part)) throw new Error('a project and a location may have letters, digits, - . _ and :');
  }
  const parent = `projects/${project}/locations/${location}`;
  return {
    name: 'google',
    capabilities: CAPABILITIES,
    notation: HTML,
    limits: { segments: 256, characters: 25_000 },
    settings: { version: 3, parent, glossary },
    ...(model === undefined ? {} : { model }),
    get headers() {
      return { authorization: `Bearer ${token()}`, 'x-goog-user-project': project };
    },

    async list(send) {
      const result = await send({ method: 'GET', path: `/v3/${parent}/supportedLanguages` });
      if (!result.ok) return result;
      const languages = field(result.json, 'languages');
      const codes = (can: string): string[] =>
        (Array.isArray(languages) ? languages : []).flatMap((each) => {
          const code = field(each, 'languageCode');
          return typeof code === 'string' && field(each, can) === true ? [code] : [];
        });
      return allPairs(named(codes('supportSource')), named(codes('supportTarget')));
    },

    health: (send) => send({ method: 'GET', path: `/v3/${parent}/supportedLanguages` }),

    async translate(send, { offer, texts, marked }) {
      const result = await send({
        method: 'POST',
        path: `/v3/${parent}:translateText`,
        body: {
          contents: texts,
          mimeType: marked ? 'text/html' : 'text/plain',
          sourceLanguageCode: offer.source,
          targetLanguageCode: offer.target,
          ...(model === undefined ? {} : { model: `${parent}/models/${model}` }),
          ...(glossary === undefined
            ? {}
            : { glossaryConfig: { glossary: `${parent}/glossaries/${glossary}`, ignoreCase: true } }),
        },
      });
      if (!result.ok) return failure(result);
      // If the request names a glossary, `translations` has the translations without the glossary,
      // `glossaryTranslations` those with it.
      const list = field(result.json, glossary === undefined ? 'translations' : 'glossaryTranslations');
      return positional(strings(list, 'translatedText'), texts.length);
    },
  };
}

/**
 * Language codes of Google, each with the codes of Dragoman that it serves. Google's Portuguese without a region is
 * Brazilian.
 */
const API_CODES: Readonly<Record<string, Language[]>> = {
  'zh-cn': ['zh-hans', 'zh'],
  zh: ['zh-hans', 'zh'],
  'zh-tw': ['zh-hant'],
  iw: ['he'],
  jw: ['jv'],
  no: ['nb', 'no'],
  tl: ['fil', 'tl'],
};

function named(codes: readonly string[]): [Language, string][] {
  const has = (code: string): boolean => codes.some((each) => each.toLowerCase() === code);
  return codes.flatMap((code): [Language, string][] => {
    const lower = code.toLowerCase();
    if (lower === 'pt') return (has('pt-pt') ? ['pt-br'] : ['pt', 'pt-br']).map((apiCode) => [apiCode, code]);
    if (lower === 'pt-pt') return ['pt', 'pt-pt'].map((apiCode) => [apiCode, code]);
    return (API_CODES[lower] ?? [lower]).map((apiCode) => [apiCode, code]);
  });
}
