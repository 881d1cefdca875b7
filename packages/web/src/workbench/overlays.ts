/**
 * The chunk with the header, the grid, the panel, the dialogs, the search, the list of tags, the labels of rows, the
 * bars around the grid and the reactions to keys. The chunk is loaded in parallel with the task, before the page can be
 * edited. If a dialog or a field of the panel were still loading when its shortcut is pressed, the next keys would reach
 * the translation.
 */
export { default as Dialogs } from './dialogs/Dialogs.tsx';
export { default as Leave } from './dialogs/Leave.tsx';
export { SignInAgain } from './dialogs/SignInAgain.tsx';
export { DocumentFlow } from './flow/DocumentFlow.tsx';
export { ActionBar } from './page/ActionBar.tsx';
export { Banners } from './page/Banners.tsx';
export { FilterBar } from './page/FilterBar.tsx';
export { default as Find } from './page/Find.tsx';
export { Header } from './page/Header.tsx';
export { KeyBar } from './page/KeyBar.tsx';
export { NoticeToast } from './page/NoticeToast.tsx';
export { usePageEvents } from './page/page-events.ts';
export { Panel } from './panel/Panel.tsx';
export { Grid } from './rows/Grid.tsx';
export * from './rows/overlays.ts';
