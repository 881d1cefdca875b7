/** `npm run bench [-- NAME …] [--rounds N] [--json]`: every figure of speed, as a ratio to its limit. */
import { benchApi } from './api.ts';
import { benchChat } from './chat.ts';
import { benchDocuments } from './documents.ts';
import { benchEngines } from './engines.ts';
import { runNamed } from './figures.ts';
import { benchLists } from './lists.ts';

await runNamed({
  api: benchApi,
  chat: benchChat,
  documents: benchDocuments,
  engines: benchEngines,
  lists: benchLists,
});
