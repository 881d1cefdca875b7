/** Engine for LibreTranslate, hosted or local: `POST /translate` with an array of texts. */

import type { Engine, Language } from '../engine.ts';
import { HTML } from '../markup.ts';
import type { OfferedDirection, RemoteOptions, ServiceAdapter } from './remote.ts';
import { failure, field, positional, RemoteEngine } from './remote.ts';

export interface LibreTranslateOptions extends RemoteOptions {
  /** The API key. Local servers often need none. */
  key?: string;
}

export function createLibreTranslate(options: LibreTranslateOptions): Engine {
  return new RemoteEngine(libreTranslate(options), options);
}

function libreTranslate({ key }: LibreTranslateOptions): ServiceAdapter {
  return {
    name: 'libretranslate',
    capabilities: {
      codes: 'best effort',
      terms: false,
      tone: false,
      instructions: false,
      context: false,
      remote: true,
    },
    notation: HTML,
    // The server translates the texts of a call one after another, so a large call would exceed the deadline.
    limits: { segments: 20, characters: 5_000 },
    settings: {},
    headers: {},

    async list(send) {
      const result = await send({ method: 'GET', path: '/languages' });
      if (!result.ok) return result;
      const languages = Array.isArray(result.json) ? result.json : [];
      return languages.flatMap((language): OfferedDirection[] => {
        const [source, targets] = [field(language, 'code'), field(language, 'targets')];
        if (typeof source !== 'string' || !Array.isArray(targets)) return [];
        return targets
          .filter((target) => typeof target === 'string')
          .map((target) => ({ from: apiCodeOf(source), to: apiCodeOf(target), source, target }));
      });
    },

    health: (send) => send({ method: 'GET', path: '/languages' }),

    async translate(send, { offer, texts, marked }) {
      const result = await send({
        method: 'POST',
        path: '/translate',
        body: {
          q: texts,
          source: offer.source,
          target: offer.target,
          format: marked ? 'html' : 'text',
          ...(key === undefined ? {} : { api_key: key }),
        },
      });
      if (!result.ok) return failure(result);
      const list = field(result.json, 'translatedText');
      return positional(
        Array.isArray(list) ? list.map((text) => (typeof text === 'string' ? text : null)) : null,
        texts.length,
      );
    },
  };
}

/** Dragoman's language code for each language code of LibreTranslate, including the older codes `zt` and `pb`. */
const API_CODES: Readonly<Record<string, Language>> = { zh: 'zh-hans', zt: 'zh-hant', pb: 'pt-br', no: 'nb' };

const apiCodeOf = (code: string): Language => API_CODES[code.toLowerCase()] ?? code.toLowerCase();
