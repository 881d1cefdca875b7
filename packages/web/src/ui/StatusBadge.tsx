/** Shows a status by text and icon, never by colour alone. */
import {
  IconBan,
  IconCheck,
  IconChecks,
  IconCircle,
  IconCircleDashed,
  IconCircleHalf2,
  IconCirclePlus,
  IconClock,
  IconRotate2,
  IconX,
} from '@tabler/icons-react';
import { useTranslate } from '../i18n.tsx';
import css from './StatusBadge.module.css';

const STATUSES = {
  // Statuses of jobs and messages.
  new: ['neutral', IconCircle],
  translating: ['info', IconCircleHalf2],
  completed: ['success', IconCheck],
  failed: ['danger', IconX],
  canceled: ['neutral', IconBan],
  accepted: ['success', IconChecks],
  rejected: ['warning', IconRotate2],
  machine_translate_in_progress: ['info', IconCircleDashed],
  // Statuses of editing tasks.
  open: ['neutral', IconCircle],
  claimed: ['info', IconCircleHalf2],
  submitted: ['success', IconCheck],
  done: ['success', IconChecks],
  reported: ['warning', IconRotate2],
  // Statuses of deliveries.
  pending: ['info', IconClock],
  delivered: ['success', IconCheck],
  dead: ['danger', IconX],
  // Statuses of keys, users, subscriptions and requests.
  active: ['success', IconCheck],
  expiring: ['warning', IconClock],
  expired: ['neutral', IconBan],
  revoked: ['neutral', IconBan],
  disabled: ['neutral', IconBan],
  suspended: ['danger', IconBan],
  invited: ['info', IconClock],
  requested: ['info', IconClock],
  granted: ['success', IconCheck],
  refused: ['danger', IconX],
  // Statuses of brands and terms.
  published: ['success', IconCheck],
  draft: ['warning', IconCircleDashed],
  term_added: ['success', IconCirclePlus],
  term_changed: ['info', IconCircleHalf2],
  // engines
  engine_closed: ['success', IconCheck],
  engine_half_open: ['warning', IconClock],
  engine_open: ['danger', IconX],
  engine_away: ['danger', IconX],
} as const;
export type Status = keyof typeof STATUSES;

export function StatusBadge({ status }: { status: string }) {
  const t = useTranslate();
  const known = Object.hasOwn(STATUSES, status) ? (status as Status) : undefined;
  const [tone, Icon] = known === undefined ? (['neutral', IconCircle] as const) : STATUSES[known];
  return (
    <span className={css.badge} data-tone={tone} data-status={status}>
      <Icon size={14} stroke={2} aria-hidden className={css.icon} />
      {known === undefined ? status : t(`status.${known}`)}
    </span>
  );
}

/** A label that is not a status, such as an environment or a format. */
export function Tag({
  tone,
  children,
}: {
  tone?: 'info' | 'success' | 'warning' | 'danger';
  children: string;
}) {
  return (
    <span className={css.badge} data-tone={tone}>
      {children}
    </span>
  );
}
