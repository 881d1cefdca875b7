/**
 * The part below the target of the active segment: the figures of a subtitle, the findings that prevented a
 * confirmation, who confirmed the text elsewhere, and the button that confirms.
 */
import { IconHelp, IconUsers } from '@tabler/icons-react';
import { useIntl } from 'react-intl';
import { useTranslate } from '../../i18n.tsx';
import { pressAction } from '../actions/actions.ts';
import { Caps } from '../actions/Caps.tsx';
import { ariaKeys, hintOf } from '../actions/keys.ts';
import { keepFocus, mac, usePage, useSegment, useWorkbench } from '../session/context.tsx';
import { useSentence } from '../session/sentences.ts';
import { showsVote } from '../session/state.ts';
import { useVoteName } from '../session/vote-name.ts';
import css from '../styles/bar.module.css';
import { useOverlays } from './overlays-context.ts';

export function RowFooter({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const blocked = usePage((page) => page.blocked === position);
  const keeps = usePage(() => workbench.keepsWarnings);
  const { Join } = useOverlays();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a press keeps the focus in the text
    <div className={css.footer} onMouseDown={keepFocus}>
      <Figures position={position} />
      {blocked && <Findings position={position} />}
      <Vote position={position} />
      <span className={css.spacer} />
      <Join position={position} />
      <Unsure position={position} />
      <button
        type="button"
        className={css.confirm}
        data-tone={keeps ? 'warning' : undefined}
        aria-keyshortcuts={ariaKeys('confirm', mac)}
        onClick={() => pressAction(workbench, 'confirm')}
      >
        {t(keeps ? 'workbench.checks.accept' : 'workbench.confirm')} <Caps caps={hintOf('confirm', mac)} />
      </button>
    </div>
  );
}

/** Names the editors who confirmed the text that the segment got from other tasks or jobs. A button refuses the text. */
function Vote({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const voteName = useVoteName();
  const state = useSegment(position);
  const { vote } = state.segment;
  if (!vote || vote.state === 'offered' || !showsVote(state)) return null;
  return (
    <span className={css.vote}>
      <IconUsers size={16} aria-hidden /> <bdi>{voteName(vote)}</bdi>
      <button
        type="button"
        aria-keyshortcuts={ariaKeys('reset', mac)}
        onClick={() => pressAction(workbench, 'reset')}
      >
        {t('workbench.vote.refuse')} <Caps caps={hintOf('reset', mac)} />
      </button>
    </span>
  );
}

function Unsure({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const { unsure } = useSegment(position);
  return (
    <button
      type="button"
      className={css.flat}
      aria-pressed={unsure}
      aria-keyshortcuts={ariaKeys('unsure', mac)}
      title={t('workbench.unsure.mark')}
      onClick={() => pressAction(workbench, 'unsure')}
    >
      <IconHelp size={16} aria-hidden /> {t('workbench.unsure')} <Caps caps={hintOf('unsure', mac)} />
    </button>
  );
}

/** Shows the duration, reading speed and longest line of a subtitle. Speed and line length have a maximum. */
function Figures({ position }: { position: number }) {
  const workbench = useWorkbench();
  const t = useTranslate();
  const intl = useIntl();
  useSegment(position);
  const figures = workbench.subtitleFigures(position);
  if (!figures) return null;
  const { seconds, speed, mostSpeed, line, mostLine } = figures;
  return (
    <span className={css.figures}>
      <span>{t('workbench.figures.seconds', { seconds: intl.formatNumber(seconds) })}</span>
      <span data-over={speed > mostSpeed}>{t('workbench.figures.speed', { speed, most: mostSpeed })}</span>
      <span data-over={line > mostLine}>{t('workbench.figures.line', { line, most: mostLine })}</span>
    </span>
  );
}

/** Lists the findings of the checks on narrow screens, where the panel with the checks is folded away. */
function Findings({ position }: { position: number }) {
  const sentence = useSentence();
  const { findings = [] } = useSegment(position);
  return (
    <ul className={css.findings}>
      {findings.map((finding) => (
        <li key={`${finding.check} ${JSON.stringify(finding.values)}`} data-severity={finding.severity}>
          {sentence(finding, position)}
        </li>
      ))}
    </ul>
  );
}
