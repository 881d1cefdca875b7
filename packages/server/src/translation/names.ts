/** Every engine that there is; `DRAGOMAN_ENGINES` and routes name them so. */
export const ENGINE_NAMES = [
  'apertium',
  'bergamot',
  'deepl',
  'libretranslate',
  'google',
  'azure',
  'llm',
] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];
