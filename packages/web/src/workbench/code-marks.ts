/** Draws the codes of crossing pairs as wrong, and the codes inside a selection as selected. */
import { Plugin, TextSelection } from 'prosemirror-state';
import { Decoration, DecorationSet } from 'prosemirror-view';
import { placedCodes } from './model.ts';
import { crossed } from './pieces.ts';

export const markCrossedCodes = new Plugin({
  props: {
    decorations(state) {
      const placed = placedCodes(state.doc);
      const wrong = crossed(placed.map(({ code }) => code));
      if (wrong.size === 0) return DecorationSet.empty;
      return DecorationSet.create(
        state.doc,
        placed
          .filter(({ code }) => (code.kind === 'open' || code.kind === 'close') && wrong.has(code.number))
          .map(({ at }) => Decoration.node(at, at + 1, { class: 'chip-crossed' })),
      );
    },
  },
});

/** Browsers do not highlight a chip, so a selection that has one would look smaller than it is. */
export const markSelectedCodes = new Plugin({
  props: {
    decorations({ doc, selection }) {
      if (!(selection instanceof TextSelection) || selection.empty) return DecorationSet.empty;
      return DecorationSet.create(
        doc,
        placedCodes(doc)
          .filter(({ at }) => at >= selection.from && at < selection.to)
          .map(({ at }) => Decoration.node(at, at + 1, { class: 'chip-selected' })),
      );
    },
  },
});
