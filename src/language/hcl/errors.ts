/** A fault of a text, with its place. */
export interface HclFault {
  /** The fault, without its place. */
  readonly sentence: string;
  /** 0-based, in UTF-16 code units of the text. */
  readonly offset: number;
  /** Both 1-based. */
  readonly line: number;
  readonly column: number;
  /** Two lines: the part of the text around the place, and a caret below the place. */
  readonly excerpt: string;
  /** The name of the text, where there are several: a path, or `-var name`. */
  readonly fileName?: string;
}

/**
 * The faults of a text, in the order of the text. The folders `hcl` and `rules` throw no other errors.
 * Callers answer it with 400. The message of the error is that of its first fault.
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
  readonly fileName?: string;

  constructor(faults: readonly HclFault[]) {
    const files = [...new Set(faults.map(({ fileName }) => fileName))];
    const rank = ({ fileName }: HclFault) => files.indexOf(fileName);
    const ordered = [...faults].sort(
      (left, right) => rank(left) - rank(right) || left.offset - right.offset,
    );
    const first = ordered[0]!;
    const more = ordered.length > 1 ? ` and ${ordered.length - 1} more` : '';
    const file = first.fileName === undefined ? '' : `${first.fileName}, `;
    super(`${first.sentence} (${file}line ${first.line}, column ${first.column})${more}`);
    this.faults = ordered;
    this.sentence = first.sentence;
    this.offset = first.offset;
    this.line = first.line;
    this.column = first.column;
    this.excerpt = first.excerpt;
    if (first.fileName !== undefined) this.fileName = first.fileName;
  }
}

/** The evaluation met a bound. Code that catches other faults of evaluation does not catch this error. */
export class HclLimitError extends HclError {}

/**
 * A fault as a terminal shows it: place, sentence, and the line with a caret.
 *
 *     web.hcl:3:11: Unknown variable "regoin"; did you mean "region"?
 *       3 |   count = regoin
 *         |           ^
 */
export function renderFault(fault: HclFault): string {
  const { fileName, line, column, sentence, excerpt } = fault;
  const place = fileName === undefined ? `${line}:${column}` : `${fileName}:${line}:${column}`;
  const [shown = '', caret = ''] = excerpt.split('\n');
  const number = String(line);
  const blank = ' '.repeat(number.length);
  return `${place}: ${sentence}\n  ${number} | ${shown}\n  ${blank} | ${caret}`;
}

/** All faults of an error, in lines of a terminal. */
export const renderFaults = ({ faults }: HclError): string => faults.map(renderFault).join('\n\n');
