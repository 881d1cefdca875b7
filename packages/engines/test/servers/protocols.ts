/**
 * The protocols of the services according to their public documentation. Each protocol rejects the requests
 * that the real service rejects.
 */

import type { HttpResult, Protocol, ReceivedRequest } from './service.ts';

const KEY = 'a-key-that-must-not-leak';
const LANGUAGES = ['en', 'es', 'fr', 'pt'];
const refuse = (status: number, message: string): HttpResult => ({ status, json: { error: { message } } });

export const libreTranslate: Protocol = {
  key: KEY,
  translates: ({ path }) => path === '/translate',
  answer({ method, path, body }, translate) {
    if (method === 'GET' && path === '/languages') {
      return {
        status: 200,
        json: LANGUAGES.map((code) => ({ code, name: code, targets: LANGUAGES })),
      };
    }
    if (method !== 'POST' || path !== '/translate') return refuse(404, 'Not found');
    if (body.api_key !== KEY) return refuse(403, 'Invalid API key');
    if (!LANGUAGES.includes(body.source) || !LANGUAGES.includes(body.target)) {
      return refuse(400, 'not supported');
    }
    if (!Array.isArray(body.q) || !['text', 'html'].includes(body.format))
      return refuse(400, 'Invalid request');
    return { status: 200, json: { translatedText: translate(body.q, body.format === 'html') } };
  },
};

export const deepL: Protocol = {
  key: KEY,
  translates: ({ path }) => path === '/v2/translate',
  answer({ method, path, query, headers, body }, translate) {
    if (headers.authorization !== `DeepL-Auth-Key ${KEY}`) return refuse(403, 'Forbidden');
    if (method === 'GET' && path === '/v2/usage') {
      return { status: 200, json: { character_count: 1, character_limit: 500_000 } };
    }
    if (method === 'GET' && path === '/v2/languages') {
      const codes =
        query.get('type') === 'target'
          ? ['EN-GB', 'EN-US', 'ES', 'NB', 'PT-BR', 'PT-PT']
          : ['EN', 'ES', 'NB', 'PT'];
      return {
        status: 200,
        json: codes.map((language) => ({ language, name: language, supports_formality: language === 'ES' })),
      };
    }
    if (method !== 'POST' || path !== '/v2/translate') return refuse(404, 'Not found');
    if (JSON.stringify(body).length > 128 * 1024) return refuse(413, 'Request Entity Too Large');
    if (!Array.isArray(body.text) || body.text.length > 50) return refuse(400, 'Bad request: too many texts');
    if (/^(EN|PT)$/.test(body.target_lang)) return refuse(400, "Value for 'target_lang' not supported.");
    if (body.custom_instructions?.length > 10) return refuse(400, 'Too many instructions');
    const marked = body.tag_handling === 'xml';
    if (marked && body.text.some((text: string) => !isWellFormed(text))) {
      return refuse(400, 'Tag handling parsing failed');
    }
    return {
      status: 200,
      json: {
        translations: translate(body.text, marked).map((text) => ({
          detected_source_language: body.source_lang,
          text,
        })),
      },
    };
  },
};

export const googleTwo: Protocol = {
  key: KEY,
  translates: ({ path }) => path === '/language/translate/v2',
  answer({ method, path, query, headers, body }, translate) {
    if (headers['x-goog-api-key'] !== KEY || query.has('key')) return refuse(403, 'API key not valid');
    if (method === 'GET' && path === '/language/translate/v2/languages') {
      const codes = ['en', 'es', 'no', 'pt', 'zh-CN', 'zh-TW'];
      return { status: 200, json: { data: { languages: codes.map((language) => ({ language })) } } };
    }
    if (method !== 'POST' || path !== '/language/translate/v2') return refuse(404, 'Not found');
    if (!Array.isArray(body.q) || body.q.length > 128) return refuse(400, 'Too many text segments');
    const texts = translate(body.q, body.format !== 'text');
    return {
      status: 200,
      json: { data: { translations: texts.map((translatedText) => ({ translatedText, model: 'nmt' })) } },
    };
  },
};

export const googleThree: Protocol = {
  key: KEY,
  translates: ({ path }) => path.endsWith(':translateText'),
  answer({ method, path, headers, body }, translate) {
    if (headers.authorization !== `Bearer ${KEY}`) return refuse(401, 'UNAUTHENTICATED');
    const parent = '/v3/projects/mine/locations/global';
    if (method === 'GET' && path === `${parent}/supportedLanguages`) {
      const languages = ['en', 'es', 'pt'].map((languageCode) => ({
        languageCode,
        supportSource: true,
        supportTarget: true,
      }));
      const sourceOnly = { languageCode: 'la', supportSource: true };
      return { status: 200, json: { languages: [...languages, sourceOnly] } };
    }
    if (method !== 'POST' || path !== `${parent}:translateText`) return refuse(404, 'NOT_FOUND');
    if (!Array.isArray(body.contents) || body.contents.length > 1_024) return refuse(400, 'INVALID_ARGUMENT');
    const list = translate(body.contents, body.mimeType !== 'text/plain').map((translatedText) => ({
      translatedText,
    }));
    const plain = body.contents.map(() => ({ translatedText: 'without the glossary' }));
    return {
      status: 200,
      json: body.glossaryConfig
        ? { translations: plain, glossaryTranslations: list }
        : { translations: list },
    };
  },
};

export const azure: Protocol = {
  key: KEY,
  translates: ({ path }) => path === '/translate',
  answer({ method, path, query, headers, body }, translate) {
    if (query.get('api-version') !== '3.0') return refuse(400, 'The API version is missing');
    if (method === 'GET' && path === '/languages') {
      const codes = ['en', 'es', 'nb', 'pt', 'pt-pt', 'zh-Hans'];
      const entries = codes.map((code) => [code, { name: code, nativeName: code, dir: 'ltr' }]);
      return { status: 200, json: { translation: Object.fromEntries(entries) } };
    }
    if (method !== 'POST' || path !== '/translate') return refuse(404, 'Not found');
    if (
      headers['ocp-apim-subscription-key'] !== KEY ||
      headers['ocp-apim-subscription-region'] !== 'westeurope'
    ) {
      return refuse(401, 'The request is not authorized');
    }
    if (!Array.isArray(body) || body.length > 1_000) return refuse(400, 'The input has too many elements');
    const texts: string[] = body.map(({ Text }) => Text);
    const marked = query.get('textType') === 'html';
    if (texts.join('').length > 50_000) return refuse(400, 'The request is too long');
    if (marked && !texts.every(isWellFormed)) return refuse(400, 'The HTML is not well-formed');
    const to = query.get('to');
    return { status: 200, json: translate(texts, marked).map((text) => ({ translations: [{ text, to }] })) };
  },
};

export const languageModel: Protocol = {
  key: KEY,
  translates: ({ path }) => path === '/chat/completions',
  answer({ method, path, headers, body }, translate) {
    if (headers.authorization !== `Bearer ${KEY}`) return refuse(401, 'Incorrect API key provided');
    if (method === 'GET' && path === '/models') return { status: 200, json: { data: [{ id: 'm' }] } };
    if (method !== 'POST' || path !== '/chat/completions') return refuse(404, 'Not found');
    if (body.model !== 'small' || body.tools !== undefined) return refuse(400, 'The model does not exist');
    const content =
      body.response_format?.type === 'json_schema'
        ? jsonContent(body, translate)
        : plainContent(body, translate);
    return {
      status: 200,
      json: {
        id: 'chatcmpl-1',
        choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      },
    };
  },
};

type Translate = Parameters<Protocol['answer']>[1];

function jsonContent(body: ReceivedRequest['body'], translate: Translate): string {
  const { segments } = JSON.parse(body.messages.at(-1).content);
  const texts = translate(
    segments.map(({ text }: { text: string }) => text),
    false,
  );
  return JSON.stringify({ segments: texts.map((target, n) => ({ id: segments[n]?.id ?? 'more', target })) });
}

function plainContent(body: ReceivedRequest['body'], translate: Translate): string {
  const [, text = ''] =
    /^[^\n]*\n(?:English|Spanish): ([\s\S]*)\n(?:English|Spanish):$/.exec(body.messages[0].content) ?? [];
  return ` ${translate([text], false)[0]}`;
}

/** Returns whether the tags nest correctly and every ampersand starts an entity. */
function isWellFormed(text: string): boolean {
  const open: string[] = [];
  for (const [, slash, name, end] of text.matchAll(/<(\/?)(\w+)[^<>]*?(\/?)>/g)) {
    if (slash === '/') {
      if (open.pop() !== name) return false;
    } else if (end === '') open.push(name!);
  }
  const rest = text.replace(/<\/?\w+[^<>]*>/g, '');
  return open.length === 0 && !/[<>]|&(?!#?\w+;)|[\0-\x08]/.test(rest);
}
