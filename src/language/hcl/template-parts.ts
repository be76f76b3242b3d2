import { spaceBefore, trimEnd, trimStart } from '../functions/white-space.ts';
import type { HclExpression } from './syntax.ts';

/** A part of a template before its directives are matched: a line of text, or a sequence. */
export type FlatPart = FlatText | Sequence;

export interface FlatText {
  readonly kind: 'text';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export type Sequence = SequenceContent & {
  /** `${~`: the spaces before the sequence are cut off. */
  readonly trimBefore: boolean;
  /** `~}`: the spaces after the sequence are cut off. */
  readonly trimAfter: boolean;
  readonly start: number;
  readonly end: number;
};

type SequenceContent =
  | { readonly kind: 'interpolation'; readonly expression: HclExpression }
  | { readonly kind: 'if'; readonly condition: HclExpression }
  | {
      readonly kind: 'for';
      readonly keyName: string | undefined;
      readonly valueName: string;
      readonly collection: HclExpression;
    }
  | { readonly kind: 'else' | 'endif' | 'endfor' };

/** Applies the trim markers, each to the piece of text that it touches. */
export function trimMarked(parts: readonly FlatPart[]): readonly FlatPart[] {
  return parts.map((part, index) => {
    if (part.kind !== 'text') return part;
    const before = parts[index - 1];
    const after = parts[index + 1];
    let { text } = part;
    if (before !== undefined && before.kind !== 'text' && before.trimAfter) text = trimStart(text);
    if (after !== undefined && after.kind !== 'text' && after.trimBefore) text = trimEnd(text);
    return { ...part, text };
  });
}

/**
 * Cuts the common spaces at the beginning of all lines of a `<<-` heredoc. Blank lines do not count and stay
 * as they are. A line that begins with a sequence has no spaces.
 */
export function cutIndentation(parts: readonly FlatPart[]): readonly FlatPart[] {
  const cut = new Set<FlatPart>();
  let common = Number.POSITIVE_INFINITY;
  let lineStart = true;
  for (const part of parts) {
    const text = part.kind === 'text' ? part.text : '';
    if (lineStart) {
      lineStart = false;
      const spaces = spaceBefore(text);
      if (spaces < text.length || !text.endsWith('\n')) {
        common = Math.min(common, spaces);
        cut.add(part);
      }
    }
    if (text.endsWith('\n')) lineStart = true;
  }
  return parts.map((part) =>
    part.kind === 'text' && cut.has(part) ? { ...part, text: part.text.slice(common) } : part,
  );
}
