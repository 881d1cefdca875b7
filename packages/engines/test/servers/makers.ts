/** A list of all HTTP engines, each with a test server for its protocol. */

import type { Engine } from '../../src/engines.ts';
import {
  createAzure,
  createDeepL,
  createGoogle,
  createGoogleProject,
  createLanguageModel,
  createLibreTranslate,
} from '../../src/engines.ts';
import type { RemoteOptions } from '../../src/remote/remote.ts';
import { azure, deepL, googleThree, googleTwo, languageModel, libreTranslate } from './protocols.ts';
import type { Protocol, TestService } from './service.ts';
import { serve } from './service.ts';

export type Make = (options?: Partial<RemoteOptions> & Record<string, unknown>) => Engine;

const maker = (
  name: string,
  protocol: Protocol,
  create: (options: RemoteOptions & { key: string }) => Engine,
) => ({
  name,
  async start(): Promise<{ service: TestService; make: Make }> {
    const service = await serve(protocol);
    return {
      service,
      make: (options = {}) => create({ baseUrl: service.url, key: service.key, retryMs: 1, ...options }),
    };
  },
});

const directions = ['en>es', 'es>en'];
/** The context length in tokens, enough for a segment of 10,000 characters. */
const context = 20_000;

export const makers = [
  maker('LibreTranslate', libreTranslate, createLibreTranslate),
  maker('DeepL', deepL, createDeepL),
  maker('Google, version 2', googleTwo, createGoogle),
  maker('Google, version 3', googleThree, ({ key, ...options }) =>
    createGoogleProject({ token: () => key, project: 'mine', ...options }),
  ),
  maker('Azure', azure, (options) => createAzure({ region: 'westeurope', ...options })),
  maker('a language model', languageModel, (options) =>
    createLanguageModel({ model: 'small', directions, context, ...options }),
  ),
  maker('a language model, one plain prompt', languageModel, (options) =>
    createLanguageModel({ model: 'small', directions, context, profile: 'plain', ...options }),
  ),
];

export const makerOf = (name: string) => {
  const found = makers.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found.start();
};
