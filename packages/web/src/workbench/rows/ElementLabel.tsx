/** The label of a row with the kind of its segment, such as a heading or a link, or with the time of a subtitle. */
import { IconClick, IconCode, IconHeading, IconLink, IconList, IconTable } from '@tabler/icons-react';
import { useTranslate } from '../../i18n.tsx';
import type { Segment } from '../session/task.ts';
import { timeLabel } from '../text/subtitles.ts';
import css from './edge.module.css';

const ICONS = {
  heading: IconHeading,
  list_item: IconList,
  table_cell: IconTable,
  link: IconLink,
  button: IconClick,
  attribute: IconCode,
} as const;

export function ElementLabel({ segment: { element, time } }: { segment: Segment }) {
  const t = useTranslate();
  if (time) {
    const name = t('workbench.element.subtitle', { from: timeLabel(time.from), to: timeLabel(time.to) });
    return (
      <span className={css.element} title={name}>
        <span aria-hidden dir="ltr">
          {timeLabel(time.from)}
        </span>
        <span className="visually-hidden">{name}</span>
      </span>
    );
  }
  if (!element) return null;
  const Icon = ICONS[element];
  const name = t(`workbench.element.${element}`);
  return (
    <span className={css.element} title={name}>
      <Icon size={14} aria-hidden />
      <span className="visually-hidden">{name}</span>
    </span>
  );
}
