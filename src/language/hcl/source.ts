import { HclError, type HclFault } from './errors.ts';

/** A place in a text. */
export interface Position {
  /** 0-based, in UTF-16 code units. */
  readonly offset: number;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 code units. */
  readonly column: number;
}

/** A range of text: its first character, and the place after its last character. */
export interface Range {
  readonly start: Position;
  readonly end: Position;
}

/** A text with the offsets of its lines, which finds the position of an offset in logarithmic time. */
export class Source {
  readonly text: string;
  readonly fileName: string | undefined;
  private readonly lineStarts: readonly number[];

  constructor(text: string, fileName?: string) {
    this.text = text;
    this.fileName = fileName;
    const starts = [0];
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    this.lineStarts = starts;
  }

  position(offset: number): Position {
    let low = 0;
    let high = this.lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.lineStarts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { offset, line: low + 1, column: offset - this.lineStarts[low]! + 1 };
  }

  range(start: number, end: number): Range {
    return { start: this.position(start), end: this.position(end) };
  }

  fault(sentence: string, offset: number): HclFault {
    const position = this.position(offset);
    const excerpt = excerptAt(this.text, position);
    const { fileName } = this;
    return { sentence, ...position, excerpt, ...(fileName !== undefined && { fileName }) };
  }

  error(sentence: string, offset: number): HclError {
    return new HclError([this.fault(sentence, offset)]);
  }
}

const excerptWidth = 72;

/** The part of the line around the place, and a caret below it. */
function excerptAt(text: string, { offset, column }: Position): string {
  const newline = text.indexOf('\n', offset);
  const lineStart = offset - column + 1;
  const lineEnd = newline < 0 ? text.length : newline;
  const start = Math.max(lineStart, offset - excerptWidth / 2);
  const end = Math.min(lineEnd, start + excerptWidth);
  const head = start > lineStart ? '…' : '';
  const tail = end < lineEnd ? '…' : '';
  // A tab would shift the caret.
  const shown = text.slice(start, end).replace(/[\t\r]/g, ' ');
  return `${head}${shown}${tail}\n${' '.repeat(head.length + offset - start)}^`;
}
