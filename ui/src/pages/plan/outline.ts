/**
 * The blocks and attributes of a job file that is being written. Unlike the parser of the language it goes on after
 * anything, so it tells where the cursor stands, and where a field of the job was written.
 */
import type { BodyForm, Form } from '../../../../src/language/jobspec/form.ts';

export interface Attribute {
  readonly name: string;
  readonly from: number;
  /** Of the whole attribute, with its value. */
  to: number;
}

export interface Block {
  readonly type: string;
  readonly labels: readonly string[];
  readonly from: number;
  /** The end of its head. */
  readonly headTo: number;
  /** After its closing brace, or the end of the text. */
  to: number;
  readonly attributes: Attribute[];
  readonly blocks: Block[];
}

const word = /[\p{L}_][\p{L}\p{N}_-]*/uy;
const space = /(?:[\s;,]|#[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))+/y;
const head = /(?:[ \t]*(?:"(?:[^"\\\n]|\\.)*"|[\p{L}_][\p{L}\p{N}_-]*))*[ \t]*/uy;
const label = /"((?:[^"\\\n]|\\.)*)"|([\p{L}_][\p{L}\p{N}_-]*)/gu;
const heredoc = /<<-?([\p{L}_][\p{L}\p{N}_-]*)[ \t]*\r?\n/uy;

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

export function outlineOf(text: string): Block {
  const root: Block = {
    type: '',
    labels: [],
    from: 0,
    headTo: 0,
    to: text.length,
    attributes: [],
    blocks: [],
  };
  const open: Block[] = [root];
  let at = 0;
  while (at < text.length) {
    at += matchAt(space, text, at)?.[0].length ?? 0;
    if (at >= text.length) break;
    const current = open.at(-1)!;
    if (text[at] === '}') {
      at += 1;
      if (open.length > 1) open.pop()!.to = at;
      continue;
    }
    const name = matchAt(word, text, at)?.[0];
    if (name === undefined) {
      at = afterValue(text, at);
      continue;
    }
    const labels = matchAt(head, text, at + name.length)?.[0] ?? '';
    const end = at + name.length + labels.length;
    if (text[end] === '{') {
      const block: Block = {
        type: name,
        labels: [...labels.matchAll(label)].map(([, quoted, bare]) => quoted ?? bare ?? ''),
        from: at,
        headTo: end,
        to: text.length,
        attributes: [],
        blocks: [],
      };
      current.blocks.push(block);
      open.push(block);
      at = end + 1;
    } else {
      const to = afterValue(text, end);
      if (text[end] === '=') current.attributes.push({ name, from: at, to });
      at = to;
    }
  }
  return root;
}

/** The end of an expression: the end of its line, outside of all brackets, texts and comments. */
function afterValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const char = text[at]!;
    if (char === '\n' && depth === 0) return at;
    if (char === '}' && depth === 0) return Math.max(at, from + 1);
    if (char === '"') at = afterText(text, at + 1);
    else if (char === '<' && matchAt(heredoc, text, at)) at = afterHeredoc(text, at);
    else if (char === '#' || (char === '/' && '/*'.includes(text[at + 1] ?? ' '))) {
      at += matchAt(space, text, at)?.[0].replace(/\n[\s\S]*$/, '').length || 1;
    } else {
      if ('([{'.includes(char)) depth += 1;
      else if (')]}'.includes(char)) depth -= 1;
      at += 1;
    }
  }
  return at;
}

/** The end of a quoted text that may have templates: `"${x ? "a" : "b"}"`. */
function afterText(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '\n') {
    if (text[at] === '\\') at += 2;
    else if (text[at] === '"') return at + 1;
    else if ((text[at] === '$' || text[at] === '%') && text[at + 1] === '{') {
      at = afterTemplate(text, at + 2);
    } else at += 1;
  }
  return at;
}

function afterTemplate(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '\n') {
    if (text[at] === '}') return at + 1;
    if (text[at] === '"') at = afterText(text, at + 1);
    else if (text[at] === '{') at = afterTemplate(text, at + 1);
    else at += 1;
  }
  return at;
}

function afterHeredoc(text: string, from: number): number {
  const [begin, mark] = matchAt(heredoc, text, from)!;
  const end = new RegExp(`^[ \\t]*${mark}[ \\t]*$`, 'm').exec(text.slice(from + begin!.length));
  return end === null ? text.length : from + begin!.length + end.index + end[0].length;
}

/** The blocks around a place, the outermost first; `undefined` inside of a value. */
export function blocksAround(root: Block, at: number): readonly Block[] | undefined {
  const around: Block[] = [root];
  for (;;) {
    const current = around.at(-1)!;
    const isInValue = current.attributes.some(
      ({ name, from, to }) => at > from + name.length && at <= to,
    );
    if (isInValue) return undefined;
    const inner = current.blocks.find(
      ({ headTo, to, from }) => at > from && at < to && at > headTo,
    );
    if (inner === undefined) return around;
    around.push(inner);
  }
}

/** The form of the body of a block within those around it; `undefined`: it has none, or it is free. */
export function bodyOf(job: BodyForm, around: readonly Block[]): BodyForm | undefined {
  let body: BodyForm | undefined;
  for (const [depth, { type, labels }] of around.entries()) {
    if (depth === 0) continue;
    if (depth === 1) {
      if (type !== 'job') return undefined;
      body = job;
      continue;
    }
    // The content of a dynamic block is that of the block which it makes.
    const name = type === 'dynamic' ? labels[0] : type;
    if (type === 'content') continue;
    const form: Form | undefined = body?.forms.get(name ?? '');
    if (form?.kind !== 'block') return undefined;
    body = form.body;
  }
  return body;
}

/** Where the field of the job was written, or the nearest block around it. `pointer` is that of the API. */
export function placeOf(
  root: Block,
  job: BodyForm,
  pointer: string,
): Attribute | Block | undefined {
  const parts = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  let block = root.blocks.find(({ type }) => type === 'job');
  let body: BodyForm | undefined = job;
  while (block !== undefined && parts.length > 0) {
    const part = parts.shift()!;
    const found: readonly [string, Form] | undefined = formOf(body, part);
    const [name, form] = found ?? [part, undefined];
    const attribute = block.attributes.find((one) => one.name === name);
    if (attribute !== undefined) return attribute;
    const inner: readonly Block[] = block.blocks.filter(({ type }) => type === name);
    const many = form?.kind === 'block' ? form.many : 'one';
    const next: Block | undefined =
      many === 'one'
        ? inner[0]
        : many === 'list'
          ? inner[Number(parts.shift() ?? 0)]
          : inner.find(({ labels }) => labels[0] === parts[0]);
    if (many === 'by-label') parts.shift();
    if (next === undefined) return block;
    block = next;
    body = form?.kind === 'block' ? form.body : undefined;
  }
  return block;
}

function formOf(body: BodyForm | undefined, field: string): readonly [string, Form] | undefined {
  const all = [...(body?.forms ?? [])];
  return (
    all.find(([, form]) => form.field === field) ??
    all.find(([, form]) => body?.finish?.restates[form.field]?.includes(field))
  );
}
