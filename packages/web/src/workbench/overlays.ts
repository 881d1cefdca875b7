/**
 * The parts that take the focus from the text. They are one chunk, loaded before the page can be edited: a part that
 * is still loading when its key is pressed would let the next keys reach the translation.
 */
export { default as CodeList } from './CodeList.tsx';
export { default as Dialogs } from './Dialogs.tsx';
export { default as Find } from './Find.tsx';
export { default as Leave } from './Leave.tsx';
