/** Buttons of a dialog that go to segments. Those of other editors have no row on the page. */
import { Button } from '@mantine/core';
import { useTranslate } from '../i18n.tsx';
import { useWorkbench } from './context.tsx';
import css from './dialogs.module.css';

/** The maximum number of buttons. */
const MAX_BUTTONS = 20;

export function JumpButtons({ positions }: { positions: readonly number[] }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  return (
    <span className={css.jumps}>
      {positions.slice(0, MAX_BUTTONS).map((position) => (
        <Button
          key={position}
          size="xs"
          disabled={!workbench.has(position)}
          title={workbench.has(position) ? undefined : t('workbench.inconsistencies.elsewhere')}
          onClick={() => {
            workbench.close('dialog');
            workbench.activate(position, 'text');
          }}
        >
          {workbench.numberOf(position)}
        </Button>
      ))}
    </span>
  );
}
