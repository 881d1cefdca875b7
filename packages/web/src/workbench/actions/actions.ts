/** The action of each keyboard shortcut of `keys.ts`. */
import { stepDoubt } from '../session/doubt.ts';
import { hasFlow, toggleView } from '../session/view.ts';
import type { Workbench } from '../session/workbench.ts';
import { isSplit, samePieces } from '../text/pieces.ts';
import { acceptCompletion } from './completing.ts';
import type { ActionId } from './keys.ts';
import { keepingPlace } from './reveal.ts';
import { openIssueDialog, openSplitDialog, openTermDialog } from './selection.ts';

interface ActionEvent {
  target: EventTarget | null;
  key: string;
}

/** Performs an action. Returns false when the action did nothing, so that the browser handles the key. */
export function performAction(workbench: Workbench, action: ActionId, event: ActionEvent): boolean {
  return actions[action](workbench, event) !== false;
}

/** Performs the action of a button, such as a button of the action bar. */
export function pressAction(workbench: Workbench, action: ActionId): void {
  if (action === 'codes') workbench.editor.focus();
  performAction(workbench, action, { target: document.activeElement, key: '' });
}

/** Takes the focus from the plain text field, because this field applies its text on blur. */
export function applyPlainText(workbench: Workbench): void {
  const field = document.activeElement;
  if (workbench.page.plain && field instanceof HTMLTextAreaElement) field.blur();
}

/** A function that performs an action. The function returns false when it did nothing. */
type Action = (workbench: Workbench, event: ActionEvent) => unknown;

const actions: Record<ActionId, Action> = {
  confirm(workbench) {
    applyPlainText(workbench);
    workbench.confirm();
  },
  reopen: (workbench) => workbench.reopen(),
  previous: (workbench) => workbench.step(-1),
  rowPrevious: (workbench) => workbench.step(-1),
  next: (workbench) => workbench.step(1),
  rowNext: (workbench) => workbench.step(1),
  previousOpen: (workbench) => void workbench.stepOpen(-1),
  nextOpen: (workbench) => void workbench.stepOpen(1),
  save: (workbench) => workbench.saveNow(),
  find: (workbench) => openFind(workbench, false),
  replace: (workbench) => openFind(workbench, true),
  filter: (workbench) => openFilters(workbench),
  goTo: (workbench) => workbench.update({ dialog: { dialog: 'goTo' } }),
  help: (workbench) => workbench.update({ dialog: { dialog: 'help' } }),
  comment(workbench) {
    workbench.update({ commenting: true });
    openField('comment')?.focus();
  },
  // Where no line break is possible, a space is inserted, so that two words are never joined.
  lineBreak: ({ editor, allowsLineBreaks }) => editor.insertText(allowsLineBreaks ? '\n' : ' '),
  complete: (workbench) => acceptCompletion(workbench),
  // The first Esc only removes the completion.
  leave: (workbench) =>
    workbench.completion
      ? workbench.setCompletion(undefined)
      : workbench.activate(workbench.page.active, 'row'),
  codes(workbench, { key }) {
    const { page, editor } = workbench;
    if (page.plain || !workbench.canEdit(page.active) || !editor.hasFocus) return false;
    // `segment-editor.ts` opens the list of codes after this character. If the user presses Esc, the
    // character stays.
    if (key === '<') return false;
    editor.syncSelection();
    return workbench.update({ codes: { typed: false } });
  },
  nextCode(workbench) {
    const { page, editor } = workbench;
    if (page.plain || !workbench.canEdit(page.active)) return false;
    editor.focus();
    if (!editor.placeNextCode()) workbench.announce({ type: 'codes-placed' });
    return true;
  },
  collapseCodes(workbench) {
    const collapsed = !workbench.page.collapsed;
    workbench.update({ collapsed });
    workbench.editor.refreshEditable();
    workbench.announce({ type: collapsed ? 'codes-collapsed' : 'codes-expanded' });
  },
  moveCodeBack: (workbench) => moveCode(workbench, -1),
  moveCodeOn: (workbench) => moveCode(workbench, 1),
  use1: (workbench) => applySuggestion(workbench, 0),
  use2: (workbench) => applySuggestion(workbench, 1),
  use3: (workbench) => applySuggestion(workbench, 2),
  use4: (workbench) => applySuggestion(workbench, 3),
  use5: (workbench) => applySuggestion(workbench, 4),
  cyclePrevious: (workbench) => cycleSuggestions(workbench, -1),
  cycleNext: (workbench) => cycleSuggestions(workbench, 1),
  copySource: (workbench) => workbench.copySource(),
  reset: (workbench) => workbench.reset(),
  concordance(workbench) {
    workbench.update({ concordance: selectedText(workbench) || (workbench.page.concordance ?? '') });
    selectField('concordance');
  },
  plainText(workbench) {
    workbench.update({ plain: !workbench.page.plain });
    workbench.activate(workbench.page.active, 'text');
  },
  preview: (workbench) => keepingPlace(() => workbench.update({ preview: !workbench.page.preview })),
  view(workbench) {
    if (!hasFlow(workbench.task.job.format)) return false;
    applyPlainText(workbench);
    return toggleView(workbench);
  },
  readOn: (workbench) => workbench.step(1),
  readBack: (workbench) => workbench.step(-1),
  nextDoubt: (workbench) => stepDoubt(workbench, 1),
  previousDoubt: (workbench) => stepDoubt(workbench, -1),
  issue(workbench) {
    if (workbench.task.kind !== 'review' || workbench.page.readOnly) return false;
    return openIssueDialog(workbench);
  },
  unsure: ({ page, session }) => void session.toggleUnsure(page.active),
  join(workbench) {
    const { page, task, session } = workbench;
    if (task.kind !== 'edit' || !workbench.canEdit(page.active)) return false;
    applyPlainText(workbench);
    const { source } = workbench.segment(page.active).segment;
    return void (isSplit(source) ? session.unsplit(page.active) : session.join(page.active));
  },
  separate(workbench) {
    const { page, task, session } = workbench;
    if (task.kind !== 'edit' || !workbench.canEdit(page.active)) return false;
    applyPlainText(workbench);
    if (workbench.segment(page.active).segment.joined_to === undefined) return openSplitDialog(workbench);
    return void session.separate(page.active);
  },
  term(workbench) {
    if (workbench.page.readOnly || workbench.task.job.brand === null) return false;
    return openTermDialog(workbench);
  },
  ask(workbench) {
    const { active } = workbench.page;
    if (!workbench.canEdit(active) || workbench.segment(active).asked) return false;
    return workbench.update({ dialog: { dialog: 'ask', position: active } });
  },
  edit: (workbench) => workbench.activate(workbench.page.active, 'text'),
  select: (workbench) => workbench.select(workbench.page.active),
};

/** Opens the bar with the filters, or takes the focus to it. */
function openFilters(workbench: Workbench): void {
  if (!workbench.page.filtering) workbench.update({ filtering: true });
  else document.querySelector<HTMLElement>('[data-filters] [aria-pressed=true]')?.focus();
}

function openFind(workbench: Workbench, replacing: boolean): void {
  const query = selectedText(workbench) || (workbench.page.find?.query ?? '');
  workbench.update({ find: { query, replacing } });
  selectField('find');
}

/** Returns a field of the page if it is already open. A field that opens takes the focus by itself. */
const openField = (name: 'find' | 'concordance' | 'comment') =>
  document.querySelector<HTMLInputElement | HTMLTextAreaElement>(`[data-field=${name}]`);

function selectField(name: 'find' | 'concordance'): void {
  openField(name)?.focus();
  openField(name)?.select();
}

function moveCode(workbench: Workbench, direction: -1 | 1): false | undefined {
  if (workbench.page.plain) return false;
  workbench.editor.moveCode(direction);
  return undefined;
}

const selectedText = (workbench: Workbench) =>
  workbench.editor.selectedText() || (getSelection()?.toString().trim() ?? '').slice(0, 200);

/** Replaces the target with the suggestion at `index`, counted from 0. */
function applySuggestion(workbench: Workbench, index: number): void {
  const suggestion = workbench.suggestions[index];
  if (suggestion) workbench.setTarget(workbench.page.active, suggestion);
}

/** Replaces the target with the suggestion before or after the one that equals the current target. */
function cycleSuggestions(workbench: Workbench, by: -1 | 1): void {
  const suggestions = workbench.suggestions.filter((one) => one !== undefined);
  const { length } = suggestions;
  if (length === 0) return;
  const { active } = workbench.page;
  const { target } = workbench.segment(active);
  const now = suggestions.findIndex((one) => samePieces(one, target));
  const next = now === -1 ? (by === 1 ? 0 : length - 1) : (now + by + length) % length;
  workbench.setTarget(active, suggestions[next]!);
}
