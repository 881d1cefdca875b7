/**
 * `npm run bench [-- NAME …] [--rounds N] [--json]` runs the benchmarks. Each speed is compared with a limit, such as
 * the speed of PostgreSQL alone.
 */
import { killLeft } from '../scripts/program.ts';
import { benchApi } from './api.ts';
import { benchChat } from './chat.ts';
import { benchDocuments } from './documents.ts';
import { benchEngines } from './engines.ts';
import { runNamed } from './figures.ts';
import { benchLists } from './lists.ts';
import { MISSED } from './missed.ts';
import { benchWorkbench } from './workbench.ts';

await runNamed(
  {
    api: benchApi,
    chat: benchChat,
    documents: benchDocuments,
    engines: benchEngines,
    lists: benchLists,
    workbench: benchWorkbench,
  },
  {
    file: new URL('./report.md', import.meta.url),
    title: 'Benchmarks',
    lead: 'Written by `npm run bench`. Absolute times mean little on another machine. The ratios compare two sides that take turns in one run.',
    reasons: MISSED,
  },
  killLeft,
);
