/** The parts of lines of code, by their kind. */
export interface CodePart {
  readonly text: string;
  readonly kind: 'plain' | 'string' | 'number-literal' | 'word' | 'key' | 'comment';
}

const tokens = {
  json: /(?<key>"(?:[^"\\]|\\.)*"(?=\s*:))|(?<string>"(?:[^"\\]|\\.)*")|(?<number>-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|(?<word>\b(?:true|false|null)\b)/g,
  hcl: /(?<comment>(?:#|\/\/).*$)|(?<string>"(?:[^"\\]|\\.)*")|(?<number>\b\d+(?:\.\d+)?\b)|(?<word>\b(?:true|false|null)\b)|(?<key>^\s*[\w-]+)/g,
} as const;

/** Beyond this a line is shown without colours. Not in limits: nothing is cut. */
const colouredLengthMax = 2000;

export function codeLines(
  text: string,
  language: 'json' | 'hcl' | 'text',
): readonly (readonly CodePart[])[] {
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) =>
      language === 'text' || line.length > colouredLengthMax
        ? [{ text: line, kind: 'plain' as const }]
        : partsOf(line, tokens[language]),
    );
}

function partsOf(line: string, token: RegExp): readonly CodePart[] {
  const parts: CodePart[] = [];
  let from = 0;
  for (const match of line.matchAll(token)) {
    if (match.index > from) parts.push({ text: line.slice(from, match.index), kind: 'plain' });
    const found = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined)?.[0];
    const kind = found === 'number' ? 'number-literal' : (found as CodePart['kind']);
    parts.push({ text: match[0], kind });
    from = match.index + match[0].length;
  }
  if (from < line.length || parts.length === 0)
    parts.push({ text: line.slice(from), kind: 'plain' });
  return parts;
}
