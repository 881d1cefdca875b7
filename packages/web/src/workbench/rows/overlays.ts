/** The components of the chunk `overlays.ts` that rows, bars and the preview use. */
export { CueTime, subtitlesClass } from '../flow/CueTime.tsx';
export { DoubtNote } from '../flow/DoubtNote.tsx';
export { HtmlPage } from '../flow/HtmlPage.tsx';
export { ViewSwitch } from '../flow/ViewSwitch.tsx';
export { default as CodeList } from './CodeList.tsx';
export { Completion } from './Completion.tsx';
export { ElementLabel } from './ElementLabel.tsx';
export { Join } from './Join.tsx';
export { Origin } from './Origin.tsx';
export { RowFooter } from './RowFooter.tsx';
