/** The options and functions that a page passes to its workbench. */
import type { Code, CodeDescription } from '../text/pieces.ts';
import type * as checking from './checking.ts';
import type { Drafts } from './drafts.ts';
import type { Announcement, TaskServer } from './state.ts';
import type { Task } from './task.ts';

export interface WorkbenchOptions {
  task: Task;
  /** The module of the checks, which is loaded in parallel with the task. */
  checks: typeof checking;
  server: TaskServer;
  drafts: Drafts;
  announce: (what: Announcement) => void;
  /**
   * Describes a code in the language of the app.
   *
   * @param code with the number that the page shows
   * @param source the code's text in the document, if known
   */
  describeCode: (code: Code, source: string | undefined) => CodeDescription;
}
