/**
 * The chunk with the header, the grid, the panel, the dialogs, the search, the list of tags, the labels of rows, the
 * bars around the grid and the reactions to keys. The chunk is loaded in parallel with the task, before the page can be
 * edited. If a dialog or a field of the panel were still loading when its shortcut is pressed, the next keys would reach
 * the translation.
 */
export { ActionBar } from './ActionBar.tsx';
export { Banners } from './Banners.tsx';
export { default as CodeList } from './CodeList.tsx';
export { Completion } from './Completion.tsx';
export { default as Dialogs } from './Dialogs.tsx';
export { ElementLabel } from './ElementLabel.tsx';
export { FilterBar } from './FilterBar.tsx';
export { default as Find } from './Find.tsx';
export { CueTime, subtitlesClass } from './flow/CueTime.tsx';
export { DocumentFlow } from './flow/DocumentFlow.tsx';
export { DoubtNote } from './flow/DoubtNote.tsx';
export { HtmlPage } from './flow/HtmlPage.tsx';
export { ViewSwitch } from './flow/ViewSwitch.tsx';
export { Grid } from './Grid.tsx';
export { Header } from './Header.tsx';
export { Join } from './Join.tsx';
export { KeyBar } from './KeyBar.tsx';
export { default as Leave } from './Leave.tsx';
export { NoticeToast } from './NoticeToast.tsx';
export { Origin } from './Origin.tsx';
export { usePageEvents } from './page-events.ts';
export { Panel } from './panel/Panel.tsx';
export { RowFooter } from './RowFooter.tsx';
export { SignInAgain } from './SignInAgain.tsx';
