/**
 * Comments, titles of tests and pages say the noun: no sentence begins with "one", "what", "that", "those"
 * or "who" as its subject ("What the node says is held against …"). "One of two", "that file" and
 * questions are fine. Code, tables and headings of pages are not looked at.
 */
import ts from 'typescript';
import { calledFunction, type Fault, forEachNode, lineOf, type Rule, type Source } from './rule.ts';

const verbs =
  'is|isn’t|are|was|were|has|have|had|may|might|must|can|cannot|could|will|would|does|do|did|shall|should|' +
  'be|becomes|begins|belongs|came|comes|ends|fails|follows|gets|gives|goes|happens|holds|keeps|knows|leaves|' +
  'looks|makes|means|needs|runs|says|stands|stays|takes|tells|waits|wants|went|works';
const relative = 'that|who|which|whose|whom|of which|of whom';
/** `What it holds is …`: a clause before the verb, of a few words. */
const clause = String.raw`(?:[\w’'\`/#().-]+ ){0,7}?`;

const subjects: readonly RegExp[] = [
  new RegExp(String.raw`^(?:One|Those|Whoever|Whatever|Who|Whom) (?:${verbs}|${relative})\b`),
  new RegExp(String.raw`^Those ${clause}(?:${relative})\b`),
  new RegExp(String.raw`^That (?:${verbs})\b`),
  /^That (?:an?|the|its|their|it|they|there|no|nobody|nothing|all|each|every|\w+(?:body|thing)) /,
  new RegExp(String.raw`^(?:What|Whoever|Who|Whatever) ${clause}(?:${verbs})\b`),
];

export const sentences: Rule = {
  name: 'sentences',
  prepare: () => (source) =>
    [...comments(source), ...titles(source)].flatMap((text) => faultsOf(text)),
};

/** The faults of a page in Markdown. */
export function faultsOfPage(page: string): readonly Fault[] {
  const paragraphs: { line: number; lines: string[] }[] = [];
  let isCode = false;
  let isOpen = false;
  page.split('\n').forEach((row, index) => {
    const isFence = row.trimStart().startsWith('```');
    if (isFence) isCode = !isCode;
    const isProse = !isFence && !isCode && row.trim() !== '' && !/^[|#]/.test(row);
    const words = row.replace(/^\s*(?:[-*]|\d+\.)\s+/, '');
    if (isProse && (!isOpen || words !== row)) paragraphs.push({ line: index + 1, lines: [] });
    if (isProse) paragraphs.at(-1)!.lines.push(words.trim().replaceAll('**', ''));
    isOpen = isProse;
  });
  return paragraphs.flatMap(faultsOf);
}

interface Text {
  readonly line: number;
  /** Its lines, without the marks of a comment. */
  readonly lines: readonly string[];
}

/** From a capital, or a small letter after a colon or semicolon, up to the next mark. */
const sentence =
  /(?<=^|[.:;!?]["”)]?[ \n]|\n\n)(?:[A-Z“"]|(?<=[:;][ \n])[a-z])[\s\S]*?(?=[.;:!?]["”)]?(?:\s|$)|\n\n|$)/g;

function faultsOf({ line, lines }: Text): readonly Fault[] {
  const text = lines.join('\n');
  return [...text.matchAll(sentence)].flatMap(({ 0: found, index }) => {
    const isQuestion = text[index + found.length] === '?';
    const words = found.replace(/\s+/g, ' ');
    const capital = words.charAt(0).toUpperCase() + words.slice(1);
    if (isQuestion || !subjects.some((subject) => subject.test(capital))) return [];
    const at = line + text.slice(0, index).split('\n').length - 1;
    return [{ line: at, message: `say the noun: "${words.slice(0, 60)}"` }];
  });
}

/** Comments that follow each other line by line are one text. */
function comments(source: Source): readonly Text[] {
  const texts: { line: number; lines: string[]; end: number }[] = [];
  for (const { pos, end } of rangesOfComments(source)) {
    const line = lineOf(source, pos);
    const lines = source.text
      .slice(pos, end)
      .split('\n')
      .map((row) =>
        row.replace(/^\s*(?:\/\*\*?|\*\/|\*(?!\/)|\/\/)? ?/, '').replace(/ ?\*\/$/, ''),
      );
    const last = texts.at(-1);
    if (last !== undefined && last.end === line - 1 && source.text.startsWith('//', pos)) {
      last.lines.push(...lines);
      last.end += lines.length;
    } else {
      texts.push({ line, lines, end: line + lines.length - 1 });
    }
  }
  return texts;
}

function rangesOfComments({ text, tree }: Source): readonly ts.CommentRange[] {
  const found = new Map<number, ts.CommentRange>();
  const note = (ranges: readonly ts.CommentRange[] | undefined): void => {
    for (const range of ranges ?? []) found.set(range.pos, range);
  };
  note(ts.getLeadingCommentRanges(text, 0));
  const visit = (node: ts.Node): void => {
    note(ts.getLeadingCommentRanges(text, node.getFullStart()));
    note(ts.getTrailingCommentRanges(text, node.getEnd()));
    for (const child of node.getChildren(tree)) visit(child);
  };
  visit(tree);
  return [...found.values()].sort((left, right) => left.pos - right.pos);
}

const groups = new Set(['test', 'it', 'describe']);

function titles(source: Source): readonly Text[] {
  const texts: Text[] = [];
  forEachNode(source.tree, (node) => {
    if (!ts.isCallExpression(node) || !groups.has(calledFunction(node) ?? '')) return;
    const [title] = node.arguments;
    if (title === undefined || !ts.isStringLiteralLike(title)) return;
    // "That nobody wants is removed" goes on where the title of the group around it ends.
    const words = title.text.replace(/^(?!that )[a-z]/, (letter) => letter.toUpperCase());
    texts.push({ line: lineOf(source, title.getStart(source.tree)), lines: [words] });
  });
  return texts;
}
