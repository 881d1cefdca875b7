/**
 * The dialogs, the search and the list of tags, with the bars around the grid. They are one chunk, loaded in parallel
 * with the task and before the page can be edited: a part that is still loading when its key is pressed would let the
 * next keys reach the translation.
 */
export { ActionBar } from './ActionBar.tsx';
export { Banners } from './Banners.tsx';
export { default as CodeList } from './CodeList.tsx';
export { default as Dialogs } from './Dialogs.tsx';
export { default as Find } from './Find.tsx';
export { KeyBar } from './KeyBar.tsx';
export { default as Leave } from './Leave.tsx';
export { NoticeToast } from './NoticeToast.tsx';
export { RowFooter } from './RowFooter.tsx';
