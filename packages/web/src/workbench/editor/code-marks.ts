/**
 * ProseMirror plugins that highlight parts of a text: crossing codes, selected codes, and the words that an issue marks.
 */
import { Plugin, TextSelection } from 'prosemirror-state';
import { Decoration, DecorationSet } from 'prosemirror-view';
import css from '../styles/workbench.module.css';
import {
  type Code,
  type CodeDescription,
  crossed,
  describeRun,
  plainText,
  type Range,
  runsOf,
} from '../text/pieces.ts';
import { piecesOf, placedCodes, placedRanges } from './model.ts';

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

/** Highlights selected codes, because browsers highlight only the selected text, not a chip. */
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

/**
 * Shows neighbouring tags as one chip, unless the caret is at one of them.
 *
 * @param enabled whether tags are collapsed now
 */
export function collapseCodes(enabled: () => boolean, describe: (code: Code) => CodeDescription): Plugin {
  return new Plugin({
    props: {
      decorations({ doc, selection }) {
        if (!enabled()) return DecorationSet.empty;
        const { from, to } = selection;
        const found: Decoration[] = [];
        for (const run of runsOf(placedCodes(doc), (one, next) => next.at === one.at + 1)) {
          const [first] = run;
          if (to >= first!.at && from <= run.at(-1)!.at + 1) continue;
          const { name, title, label } = describeRun(run.map(({ code }) => describe(code)));
          found.push(
            Decoration.node(first!.at, first!.at + 1, {
              class: css.run!,
              'data-run': name,
              title,
              'aria-label': label,
            }),
          );
          for (const { at } of run.slice(1))
            found.push(Decoration.node(at, at + 1, { class: css.collapsed!, 'aria-hidden': 'true' }));
        }
        return DecorationSet.create(doc, found);
      },
    },
  });
}

/**
 * Highlights the words that issues mark.
 *
 * @param ranges returns the ranges of a text that issues mark, in UTF-16 code units
 */
export function markIssues(ranges: (text: string) => Range[]): Plugin {
  return new Plugin({
    props: {
      decorations({ doc }) {
        const marked = placedRanges(doc, ranges(plainText(piecesOf(doc))));
        if (marked.length === 0) return DecorationSet.empty;
        return DecorationSet.create(
          doc,
          marked.map(({ from, to }) => Decoration.inline(from, to, { class: css.issue! })),
        );
      },
    },
  });
}
