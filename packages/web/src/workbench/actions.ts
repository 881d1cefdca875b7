/** The action of each keyboard shortcut of `keys.ts`. */
import { acceptCompletion } from './completing.ts';
import type { ActionId } from './keys.ts';
import { keepingPlace } from './reveal.ts';
import type { Workbench } from './workbench.ts';

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
  comment: (workbench) => workbench.update({ commenting: true }),
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
  use1: (workbench) => workbench.use(0),
  use2: (workbench) => workbench.use(1),
  use3: (workbench) => workbench.use(2),
  use4: (workbench) => workbench.use(3),
  use5: (workbench) => workbench.use(4),
  cyclePrevious: (workbench) => workbench.cycle(-1),
  cycleNext: (workbench) => workbench.cycle(1),
  copySource: (workbench) => workbench.copySource(),
  reset: (workbench) => workbench.reset(),
  concordance: (workbench) =>
    workbench.update({ concordance: selectedText(workbench) || (workbench.page.concordance ?? '') }),
  plainText(workbench) {
    workbench.update({ plain: !workbench.page.plain });
    workbench.activate(workbench.page.active, 'text');
  },
  preview: (workbench) => keepingPlace(() => workbench.update({ preview: !workbench.page.preview })),
  issue(workbench) {
    if (workbench.task.kind !== 'review' || workbench.page.readOnly) return false;
    return workbench.openIssueDialog();
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
}

function moveCode(workbench: Workbench, direction: -1 | 1): false | undefined {
  if (workbench.page.plain) return false;
  workbench.editor.moveCode(direction);
  return undefined;
}

const selectedText = (workbench: Workbench) =>
  workbench.editor.selectedText() || (getSelection()?.toString().trim() ?? '').slice(0, 200);
