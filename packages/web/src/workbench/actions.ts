/** What each key of `keys.ts` does. Returns false where it does nothing, and the browser may have it. */
import type { ActionId } from './keys.ts';
import { plainText } from './pieces.ts';
import type { Workbench } from './workbench.ts';

export function act(
  workbench: Workbench,
  action: ActionId,
  event: { target: EventTarget | null; key: string },
): boolean {
  const { page, live } = workbench;
  switch (action) {
    case 'confirm':
      // What stands in the plain field is read when it is left.
      if (page.plain) (event.target as HTMLElement | null)?.blur?.();
      workbench.confirm();
      return true;
    case 'reopen':
      workbench.reopen();
      return true;
    case 'previous':
    case 'rowPrevious':
      workbench.step(-1);
      return true;
    case 'next':
    case 'rowNext':
      workbench.step(1);
      return true;
    case 'previousOpen':
      workbench.stepOpen(-1);
      return true;
    case 'nextOpen':
      workbench.stepOpen(1);
      return true;
    case 'save':
      workbench.saveNow();
      return true;
    case 'find':
    case 'replace':
      workbench.update({
        find: { wanted: selected(workbench) || (page.find?.wanted ?? ''), replacing: action === 'replace' },
      });
      return true;
    case 'goTo':
    case 'help':
      workbench.update({ dialog: { dialog: action } });
      return true;
    case 'comment':
      workbench.update({ commenting: true });
      return true;
    case 'lineBreak':
      if (plainText(workbench.segment(page.active).segment.source).includes('\n')) live.insertText('\n');
      return true;
    case 'leave':
      workbench.activate(page.active, 'row');
      return true;
    case 'codes':
      if (page.plain || !workbench.canEdit(page.active) || !live.hasFocus) return false;
      // It is a character, too: typing it opens the list (`live.ts`), and Esc leaves it where it is.
      if (event.key === '<') return false;
      live.settle();
      workbench.update({ codes: { typed: false } });
      return true;
    case 'moveCodeBack':
    case 'moveCodeOn':
      if (page.plain) return false;
      live.moveCode(action === 'moveCodeBack' ? -1 : 1);
      return true;
    case 'use1':
    case 'use2':
    case 'use3':
    case 'use4':
    case 'use5':
      workbench.use(Number(action.slice(3)) - 1);
      return true;
    case 'cyclePrevious':
      workbench.cycle(-1);
      return true;
    case 'cycleNext':
      workbench.cycle(1);
      return true;
    case 'copySource':
      workbench.copySource();
      return true;
    case 'reset':
      workbench.reset();
      return true;
    case 'concordance':
      workbench.update({ concordance: selected(workbench) || (page.concordance ?? '') });
      return true;
    case 'plainText':
      workbench.update({ plain: !page.plain });
      workbench.activate(page.active, 'text');
      return true;
    case 'preview':
      workbench.update({ preview: !page.preview });
      return true;
    case 'issue':
      if (workbench.task.kind !== 'review' || page.readOnly) return false;
      workbench.askIssue();
      return true;
    case 'edit':
      workbench.activate(page.active, 'text');
      return true;
    case 'select':
      workbench.select(page.active);
      return true;
  }
}

const selected = (workbench: Workbench) =>
  workbench.live.selectedText() || (getSelection()?.toString().trim() ?? '').slice(0, 200);
