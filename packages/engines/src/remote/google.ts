/** Google's translation service: version 2 with a key, version 3 with a token and a project. */

import type { Capabilities, Engine, Language } from '../engine.ts';
import { HTML } from '../markup.ts';
import type { RemoteOptions, Service } from './remote.ts';
import { cross, failure, field, positional, Remote, strings } from './remote.ts';

export interface GoogleOptions extends RemoteOptions {
  key: string;
}

export interface GoogleProjectOptions extends RemoteOptions {
  /** A bearer token, asked for before each call: they are short-lived. */
  token: () => string;
  project: string;
  /** Default: `global`. */
  location?: string;
  /** `general/nmt`, `general/translation-llm`, or one of one's own. */
  model?: string;
  /** The name of a glossary made at the service; it must be in the same location. */
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
  return new Remote(versionTwo(options), options);
}

export function createGoogleProject(options: GoogleProjectOptions): Engine {
  return new Remote(versionThree(options), options);
}

function versionTwo({ key }: GoogleOptions): Service {
  return {
    name: 'google',
    capabilities: CAPABILITIES,
    notation: HTML,
    limits: { segments: 128, characters: 25_000 },
    settings: { version: 2 },
    // In a header, not in the address, where proxies would write it down.
    headers: { 'x-goog-api-key': key },

    async list(ask) {
      const answer = await ask({ method: 'GET', path: '/language/translate/v2/languages' });
      if (!answer.ok) return answer;
      const codes = strings(field(field(answer.json, 'data'), 'languages'), 'language') ?? [];
      const ours = named(codes.filter((code) => code !== null));
      return cross(ours, ours);
    },

    health: (ask) => ask({ method: 'GET', path: '/language/translate/v2/languages' }),

    async translate(ask, { offer, texts, marked }) {
      const answer = await ask({
        method: 'POST',
        path: '/language/translate/v2',
        // `format` is html unless said otherwise: entities would come back.
        body: {
          q: texts,
          source: offer.source,
          target: offer.target,
          format: marked ? 'html' : 'text',
          model: 'nmt',
        },
      });
      if (!answer.ok) return failure(answer);
      const list = field(field(answer.json, 'data'), 'translations');
      return positional(strings(list, 'translatedText'), texts.length);
    },
  };
}

function versionThree(options: GoogleProjectOptions): Service {
  const { token, project, location = 'global', model, glossary } = options;
  const name = /^[\w.:-]+$/;
  for (const part of [project, location]) {
    if (!name.test(part)) throw new Error('a project and a location are letters, digits, - . _ and :');
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

    async list(ask) {
      const answer = await ask({ method: 'GET', path: `/v3/${parent}/supportedLanguages` });
      if (!answer.ok) return answer;
      const languages = field(answer.json, 'languages');
      const codes = (can: string): string[] =>
        (Array.isArray(languages) ? languages : []).flatMap((each) => {
          const code = field(each, 'languageCode');
          return typeof code === 'string' && field(each, can) === true ? [code] : [];
        });
      return cross(named(codes('supportSource')), named(codes('supportTarget')));
    },

    health: (ask) => ask({ method: 'GET', path: `/v3/${parent}/supportedLanguages` }),

    async translate(ask, { offer, texts, marked }) {
      const answer = await ask({
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
      if (!answer.ok) return failure(answer);
      // With a glossary, `translations` is what it would have been without.
      const list = field(answer.json, glossary === undefined ? 'translations' : 'glossaryTranslations');
      return positional(strings(list, 'translatedText'), texts.length);
    },
  };
}

/** Its own or older names, and ours. Portuguese without a region is Brazilian there. */
const OURS: Readonly<Record<string, Language[]>> = {
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
    if (lower === 'pt') return (has('pt-pt') ? ['pt-br'] : ['pt', 'pt-br']).map((ours) => [ours, code]);
    if (lower === 'pt-pt') return ['pt', 'pt-pt'].map((ours) => [ours, code]);
    return (OURS[lower] ?? [lower]).map((ours) => [ours, code]);
  });
}
