/** The names of all engines. `DRAGOMAN_ENGINES` and engine routes use these names. */
export const ENGINE_NAMES = [
  'apertium',
  'bergamot',
  'deepl',
  'libretranslate',
  'google',
  'azure',
  'llm',
] as const;

/**
 * The engines that send texts to a service on the network. A test compares this list with the engines'
 * capabilities.
 */
export const REMOTE_ENGINES: readonly string[] = ['deepl', 'libretranslate', 'google', 'azure', 'llm'];

/**
 * Returns whether an engine may translate texts of the sandbox. If `DRAGOMAN_SANDBOX_ENGINES` names no
 * engines, only engines that run on this machine may translate such texts.
 */
export function servesSandbox(
  { sandboxEngines }: { sandboxEngines: readonly string[] },
  engine: string,
): boolean {
  return sandboxEngines.length > 0 ? sandboxEngines.includes(engine) : !REMOTE_ENGINES.includes(engine);
}

export type EngineName = (typeof ENGINE_NAMES)[number];
