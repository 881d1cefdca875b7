/** LibreTranslate, also as a server of one's own: `POST /translate`, an array in, an array out. */

import type { Engine, Language } from '../engine.ts';
import { HTML } from '../markup.ts';
import type { Offer, RemoteOptions, Service } from './remote.ts';
import { failure, field, positional, Remote } from './remote.ts';

export interface LibreTranslateOptions extends RemoteOptions {
  /** Servers of one's own often need none. */
  key?: string;
}

export function createLibreTranslate(options: LibreTranslateOptions): Engine {
  return new Remote(libreTranslate(options), options);
}

function libreTranslate({ key }: LibreTranslateOptions): Service {
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
    // The server works through the array one by one: small calls keep within the deadline.
    limits: { segments: 20, characters: 5_000 },
    settings: {},
    headers: {},

    async list(ask) {
      const answer = await ask({ method: 'GET', path: '/languages' });
      if (!answer.ok) return answer;
      const languages = Array.isArray(answer.json) ? answer.json : [];
      return languages.flatMap((language): Offer[] => {
        const [source, targets] = [field(language, 'code'), field(language, 'targets')];
        if (typeof source !== 'string' || !Array.isArray(targets)) return [];
        return targets
          .filter((target) => typeof target === 'string')
          .map((target) => ({ from: oursOf(source), to: oursOf(target), source, target }));
      });
    },

    health: (ask) => ask({ method: 'GET', path: '/languages' }),

    async translate(ask, { offer, texts, marked }) {
      const answer = await ask({
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
      if (!answer.ok) return failure(answer);
      const list = field(answer.json, 'translatedText');
      return positional(
        Array.isArray(list) ? list.map((text) => (typeof text === 'string' ? text : null)) : null,
        texts.length,
      );
    },
  };
}

/** Its names changed over time: `zt` and `pb` are the older ones. */
const OURS: Readonly<Record<string, Language>> = { zh: 'zh-hans', zt: 'zh-hant', pb: 'pt-br', no: 'nb' };

const oursOf = (code: string): Language => OURS[code.toLowerCase()] ?? code.toLowerCase();
