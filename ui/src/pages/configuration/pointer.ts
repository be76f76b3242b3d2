/**
 * The line of a JSON text on which the value of a JSON pointer begins, so that a fault of the server can be shown at its
 * field. The text may be faulty: the line of the deepest part that is there is given.
 */
export function lineOfPointer(text: string, pointer: string): number {
  const wanted = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  let at = 0;
  let best = { depth: 0, line: 1 };
  const path: (string | number)[] = [];

  const lineAt = (offset: number): number => text.slice(0, offset).split('\n').length;
  const note = (offset: number): void => {
    const fits = path.every((part, index) => String(part) === wanted[index]);
    if (fits && path.length > best.depth) best = { depth: path.length, line: lineAt(offset) };
  };
  const space = (): void => {
    while (/\s/.test(text[at] ?? '')) at += 1;
  };
  const word = (): string => {
    const from = at;
    at += 1;
    while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    at += 1;
    return unquoted(text.slice(from, at));
  };
  /** Reads a value. False: the text ends or is faulty. */
  const value = (depth: number): boolean => {
    space();
    const opening = text[at];
    if (opening === undefined || depth > nestingMax) return false;
    if (opening === '"') {
      word();
      return true;
    }
    if (opening !== '{' && opening !== '[') {
      const plain = /^[\w.+-]+/.exec(text.slice(at, at + plainLengthMax));
      at += plain?.[0].length ?? 0;
      return plain !== null;
    }
    return members(opening, depth);
  };
  const members = (opening: string, depth: number): boolean => {
    at += 1;
    for (let index = 0; ; index += 1) {
      space();
      if (text[at] === '}' || text[at] === ']') {
        at += 1;
        return true;
      }
      const from = at;
      if (opening === '[') path.push(index);
      else if (text[at] === '"') path.push(word());
      else return false;
      note(from);
      if (opening === '{') {
        space();
        if (text[at] !== ':') return false;
        at += 1;
      }
      if (!value(depth + 1)) return false;
      path.pop();
      space();
      if (text[at] === ',') at += 1;
    }
  };
  value(0);
  return best.line;
}

/** Not in limits: entries are not nested deeper, and numbers not longer. */
const nestingMax = 64;
const plainLengthMax = 64;

function unquoted(text: string): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    return text;
  }
}

export interface TextFault {
  readonly message: string;
  readonly line: number;
  readonly pointer: string;
}

/** Why the text is no JSON object; `undefined`: it is. */
export function jsonFault(text: string): TextFault | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined;
    return {
      message: 'An entry is a JSON object: { "Kind": …, "Name": … }.',
      line: 1,
      pointer: '',
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const line = /line (\d+)/.exec(message)?.[1];
    const position = /position (\d+)/.exec(message)?.[1];
    const ofPosition = text.slice(0, Number(position ?? text.length)).split('\n').length;
    return { message, line: line === undefined ? ofPosition : Number(line), pointer: '' };
  }
}
