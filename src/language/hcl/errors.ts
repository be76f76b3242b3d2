/** One thing that is wrong with a text, where, and how to see it. */
export interface HclFault {
  /** What is wrong, without the place. */
  readonly sentence: string;
  /** 0-based, in UTF-16 code units of the text. */
  readonly offset: number;
  /** Both 1-based. */
  readonly line: number;
  readonly column: number;
  /** Two lines: the part of the text around the place, and a caret below the place. */
  readonly excerpt: string;
}

/**
 * Everything that is wrong with a text, in the order of the text. The one kind of error that the
 * `hcl` and `rules` folders throw; callers answer it with 400. The error itself reads as its first
 * fault.
 */
export class HclError extends Error implements HclFault {
  override readonly name = 'HclError';
  /** At least one. */
  readonly faults: readonly HclFault[];
  readonly sentence: string;
  readonly offset: number;
  readonly line: number;
  readonly column: number;
  readonly excerpt: string;

  constructor(faults: readonly HclFault[]) {
    const ordered = [...faults].sort((left, right) => left.offset - right.offset);
    const first = ordered[0]!;
    const more = ordered.length > 1 ? ` and ${ordered.length - 1} more` : '';
    super(`${first.sentence} (line ${first.line}, column ${first.column})${more}`);
    this.faults = ordered;
    this.sentence = first.sentence;
    this.offset = first.offset;
    this.line = first.line;
    this.column = first.column;
    this.excerpt = first.excerpt;
  }
}
