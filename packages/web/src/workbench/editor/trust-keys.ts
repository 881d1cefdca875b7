/** A ProseMirror plugin: a key that is pressed right after the focus moves the caret. */
import { Plugin } from 'prosemirror-state';
import type { EditorView } from 'prosemirror-view';

/**
 * ProseMirror assumes that a caret which jumps to the start of the text within 200 ms of the focus was reset by the
 * browser, and puts it back. After a key, the user moved it. ProseMirror offers no option for this, so the plugin clears
 * the time of the focus in its internal record.
 */
export const trustKeys = new Plugin({
  props: {
    handleDOMEvents: {
      keydown: (view) => {
        (view as EditorView & { input: { lastFocus: number } }).input.lastFocus = 0;
        return false;
      },
    },
  },
});
