/** The names of all engines, as in `DRAGOMAN_ENGINES` and engine routes. */
export const ENGINE_NAMES = [
  'apertium',
  'bergamot',
  'deepl',
  'libretranslate',
  'google',
  'azure',
  'llm',
] as const;

/** Engines that send texts to a service. A test compares the list with the engines' capabilities. */
export const REMOTE_ENGINES: readonly string[] = ['deepl', 'libretranslate', 'google', 'azure', 'llm'];

/**
 * Returns whether an engine may translate texts of the sandbox. Without `DRAGOMAN_SANDBOX_ENGINES` these are the engines
 * that run on this machine.
 */
export function servesSandbox(
  { sandboxEngines }: { sandboxEngines: readonly string[] },
  engine: string,
): boolean {
  return sandboxEngines.length > 0 ? sandboxEngines.includes(engine) : !REMOTE_ENGINES.includes(engine);
}

export type EngineName = (typeof ENGINE_NAMES)[number];
