/**
 * The components that take the focus from the text. They are one chunk, which is loaded before the page can
 * be edited. If a component were still loading when its shortcut is pressed, the next keys would reach the
 * translation.
 */
export { default as CodeList } from './CodeList.tsx';
export { default as Dialogs } from './Dialogs.tsx';
export { default as Find } from './Find.tsx';
export { default as Leave } from './Leave.tsx';
