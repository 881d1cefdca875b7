/**
 * The chunk with the dialogs, the search, the list of tags and the bars around the grid. The chunk is loaded in parallel
 * with the task, before the page can be edited. If a dialog were still loading when its shortcut is pressed, the next
 * keys would reach the translation.
 */
export { ActionBar } from './ActionBar.tsx';
export { Banners } from './Banners.tsx';
export { default as CodeList } from './CodeList.tsx';
export { default as Dialogs } from './Dialogs.tsx';
export { FilterBar } from './FilterBar.tsx';
export { default as Find } from './Find.tsx';
export { KeyBar } from './KeyBar.tsx';
export { default as Leave } from './Leave.tsx';
export { NoticeToast } from './NoticeToast.tsx';
export { RowFooter } from './RowFooter.tsx';
export { SignInAgain } from './SignInAgain.tsx';
