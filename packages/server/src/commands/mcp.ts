/** The command `dragoman mcp`: tools for an agent that starts this process, over standard input and output. */
import { createDragoman } from '@dragoman/client';
import { CommandError, say } from './output.ts';

/**
 * Serves the tools until standard input ends. They call the API of a server.
 * @throws CommandError if a variable of the environment is missing
 */
export async function serveAgent({
  DRAGOMAN_URL: baseUrl,
  DRAGOMAN_KEY: key,
}: NodeJS.ProcessEnv): Promise<void> {
  if (!baseUrl || !URL.canParse(baseUrl)) {
    throw new CommandError(
      'DRAGOMAN_URL must be the address of a server, such as https://translate.example.com.',
    );
  }
  if (!key) throw new CommandError('DRAGOMAN_KEY must be an API key in the form USERNAME:KEY.');
  const [{ serveStdio }, { createAgentServer }] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    import('../agents/tools.ts'),
  ]);
  const dragoman = createDragoman({ baseUrl, key });
  const onError = (error: unknown) => say(error instanceof Error ? error.message : String(error));
  serveStdio(() => createAgentServer(dragoman, { onError }), { maxSubscriptions: 0, onerror: onError });
}
