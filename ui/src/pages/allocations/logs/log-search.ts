/** Searches: in the lines that are held, as they come and go, and through the whole log. */
import { limits } from '../limits.ts';
import { withoutEscapes } from './ansi.ts';
import type { LogBuffer, LogLine } from './log-buffer.ts';

/** A text in small letters finds letters of any size. */
export function matcherOf(text: string): (line: string) => number {
  const isExact = text !== text.toLowerCase();
  return (line) => (isExact ? line : line.toLowerCase()).indexOf(text);
}

/** The numbers of the held lines that have the text. Lines are looked at once. */
export class HeldSearch {
  readonly #buffer: LogBuffer;
  #text = '';
  #numbers: number[] = [];
  #nextNumber = 0;

  constructor(buffer: LogBuffer) {
    this.#buffer = buffer;
  }

  find(text: string): readonly number[] {
    const buffer = this.#buffer;
    const first = buffer.at(0)?.number ?? 0;
    if (text !== this.#text) {
      this.#text = text;
      this.#numbers = [];
      this.#nextNumber = first;
    }
    if (text === '' || buffer.count === 0) return [];
    const finds = matcherOf(text);
    this.#numbers = this.#numbers.filter((number) => number >= first && number < this.#nextNumber);
    const from = Math.max(this.#nextNumber, first);
    for (let index = from - first; index < buffer.count; index += 1) {
      const line = buffer.at(index)!;
      if (hasMatch(line, buffer.at(index - 1), text, finds)) this.#numbers.push(line.number);
    }
    // The last line may still grow.
    this.#nextNumber = first + Math.max(0, buffer.count - 1);
    return this.#numbers;
  }
}

/** Also when the text begins in the part before. */
function hasMatch(
  line: LogLine,
  before: LogLine | undefined,
  text: string,
  finds: (line: string) => number,
): boolean {
  if (finds(line.plain) >= 0) return true;
  if (!line.isContinued || before === undefined || text.length < 2) return false;
  const edge = text.length - 1;
  return finds(before.plain.slice(-edge) + line.plain.slice(0, edge)) >= 0;
}

export interface Hit {
  /** Of the kept log, counted from 1. */
  readonly line: number;
  readonly text: string;
  readonly before: readonly string[];
  readonly after: string[];
}

export interface Found {
  /** Of all lines with the text; only the last are in `hits`. */
  readonly count: number;
  readonly hits: readonly Hit[];
  readonly bytesRead: number;
  readonly linesRead: number;
}

export interface WholeSearch {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly text: string;
  readonly nowMs: () => number;
  readonly pause: (delayMs: number) => Promise<void>;
  readonly progress: (found: Found) => void;
}

const { hitsShownMax, contextLines, sliceMs, drawEveryMs } = limits.logs;

/** Reads the log once, in slices between which the page can do other things. */
export async function searchWhole(search: WholeSearch): Promise<Found> {
  const finds = matcherOf(search.text);
  const decoder = new TextDecoder();
  const hits: Hit[] = [];
  const recent: string[] = [];
  let count = 0;
  let linesRead = 0;
  let bytesRead = 0;
  let rest = '';
  const found = (): Found => ({ count, hits: [...hits], bytesRead, linesRead });
  const look = (raw: string): void => {
    const text = withoutEscapes(raw);
    linesRead += 1;
    for (const hit of hits.slice(-contextLines)) {
      if (hit.after.length < contextLines && hit.line + contextLines >= linesRead)
        hit.after.push(cut(text));
    }
    if (finds(text) >= 0) {
      count += 1;
      hits.push({ line: linesRead, text: cut(text, finds(text)), before: [...recent], after: [] });
      if (hits.length > hitsShownMax) hits.shift();
    }
    recent.push(cut(text));
    if (recent.length > contextLines) recent.shift();
  };
  let sliceBeganMs = search.nowMs();
  let toldMs = sliceBeganMs;
  for await (const chunk of search.bytes) {
    bytesRead += chunk.length;
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop()!;
    for (const line of lines) look(line);
    if (rest.length > lineLengthMax) {
      look(rest);
      // Too short to have the text, and enough for a text that goes on in the next part.
      rest = rest.slice(rest.length - search.text.length + 1);
    }
    const nowMs = search.nowMs();
    if (nowMs - sliceBeganMs < sliceMs) continue;
    if (nowMs - toldMs > drawEveryMs) {
      search.progress(found());
      toldMs = nowMs;
    }
    await search.pause(0);
    sliceBeganMs = search.nowMs();
  }
  rest += decoder.decode();
  if (rest !== '') look(rest);
  return found();
}

const shownLength = 400;
/** A longer line is searched in parts, and counts as several. */
const lineLengthMax = 1024 * 1024;

/** The part of a long line around a place. */
function cut(text: string, at = 0): string {
  if (text.length <= shownLength) return text;
  const from = Math.max(0, Math.min(at - shownLength / 4, text.length - shownLength));
  return `${from > 0 ? '…' : ''}${text.slice(from, from + shownLength)}…`;
}
