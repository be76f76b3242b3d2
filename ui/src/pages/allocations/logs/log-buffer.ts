/** The part of a log that is held: at most so many lines and characters, the newest. */
import { limits } from '../limits.ts';
import { withoutEscapes } from './ansi.ts';

const { linesMax, charactersMax, lineLengthMax } = limits.logs;

export interface LogLine {
  /** Counts all lines since the log was opened; it stays when older lines are let go. */
  readonly number: number;
  /** With the escape sequences of the task. */
  readonly raw: string;
  /** Without them, as it is searched. */
  readonly plain: string;
  /** It goes on with the line before, which was too long to hold as one. */
  readonly isContinued: boolean;
  /** In place of a line: bytes that are not shown. */
  readonly gap?: Gap | undefined;
}

export interface Gap {
  readonly bytes: number;
  /** False: at least so many. */
  readonly isExact: boolean;
}

export class LogBuffer {
  #lines: LogLine[] = [];
  /** Where the held lines begin in `#lines`. They are not moved for each line that is let go. */
  #start = 0;
  #characters = 0;
  #nextNumber = 0;
  #decoder = new TextDecoder();
  #rest = '';
  #isRestContinued = false;
  #skipped: Gap = { bytes: 0, isExact: true };
  #letGo = 0;

  /** Held lines, and the last one as far as it has come. */
  get count(): number {
    return this.#lines.length - this.#start + (this.#rest === '' ? 0 : 1);
  }

  at(index: number): LogLine | undefined {
    return (
      this.#lines[this.#start + index] ?? (index === this.count - 1 ? this.#last() : undefined)
    );
  }

  /** Lines that were shown and are not held any more. */
  get letGo(): number {
    return this.#letGo;
  }

  get skipped(): Gap {
    return this.#skipped;
  }

  push(bytes: Uint8Array): void {
    this.#takeText(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Bytes of the log between the last that were pushed and the next. */
  skip(gap: Gap): void {
    this.#endRest();
    const { bytes, isExact } = this.#skipped;
    this.#skipped = { bytes: bytes + gap.bytes, isExact: isExact && gap.isExact };
    const last = this.#lines.at(-1);
    const before = this.#lines.length > this.#start ? last?.gap : undefined;
    if (before !== undefined) this.#lines.pop();
    this.#addLine('', false, {
      bytes: gap.bytes + (before?.bytes ?? 0),
      isExact: gap.isExact && (before?.isExact ?? true),
    });
  }

  clear(): void {
    this.#lines = [];
    this.#start = 0;
    this.#characters = 0;
    this.#rest = '';
    this.#decoder = new TextDecoder();
    this.#skipped = { bytes: 0, isExact: true };
    this.#letGo = 0;
  }

  #takeText(text: string): void {
    const lines = text.split('\n');
    lines[0] = this.#rest + lines[0];
    this.#rest = lines.pop()!;
    for (const line of lines) {
      this.#addLong(line);
      this.#isRestContinued = false;
    }
    while (this.#rest.length > lineLengthMax) {
      this.#addLine(this.#rest.slice(0, lineLengthMax), this.#isRestContinued);
      this.#rest = this.#rest.slice(lineLengthMax);
      this.#isRestContinued = true;
    }
    this.#letGoOld();
  }

  /** A line in parts of at most so many characters. */
  #addLong(line: string): void {
    let isContinued = this.#isRestContinued;
    let rest = line;
    do {
      this.#addLine(rest.slice(0, lineLengthMax), isContinued);
      rest = rest.slice(lineLengthMax);
      isContinued = true;
    } while (rest.length > 0);
  }

  #endRest(): void {
    this.#rest += this.#decoder.decode();
    if (this.#rest !== '') this.#addLong(this.#rest);
    this.#rest = '';
    this.#isRestContinued = false;
  }

  #addLine(raw: string, isContinued: boolean, gap?: Gap): void {
    this.#lines.push({ ...lineOf(raw, this.#nextNumber, isContinued), gap });
    this.#nextNumber += 1;
    this.#characters += raw.length;
  }

  #last(): LogLine | undefined {
    if (this.#rest === '') return undefined;
    return lineOf(this.#rest, this.#nextNumber, this.#isRestContinued);
  }

  #letGoOld(): void {
    while (
      this.#lines.length - this.#start > linesMax ||
      (this.#characters > charactersMax && this.#lines.length - this.#start > 1)
    ) {
      this.#characters -= this.#lines[this.#start]!.raw.length;
      this.#start += 1;
      this.#letGo += 1;
    }
    if (this.#start > linesMax) {
      this.#lines = this.#lines.slice(this.#start);
      this.#start = 0;
    }
  }
}

function lineOf(text: string, number: number, isContinued: boolean): LogLine {
  const raw = text.endsWith('\r') ? text.slice(0, -1) : text;
  return { number, raw, plain: withoutEscapes(raw), isContinued };
}
