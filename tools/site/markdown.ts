/** What the site changes in the markdown of a page, which reads well without a site, too. */
import { posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const docs = fileURLToPath(new URL('../../docs', import.meta.url));

/** The parts of markdown-it that are needed. */
interface Markdown {
  readonly core: {
    readonly ruler: { push(name: string, rule: (state: State) => void): void };
  };
}

interface State {
  tokens: Block[];
  readonly Token: new (type: string, tag: string, nesting: number) => Block;
  readonly env: { readonly path: string };
}

interface Block {
  readonly type: string;
  readonly level: number;
  readonly content: string;
  info: string;
  readonly children: readonly Inline[] | null;
  attrSet(name: string, value: string): void;
}

interface Inline {
  type: string;
  tag: string;
  content: string;
  attrs: [string, string][] | null;
  attrGet(name: string): string | null;
}

export function adapt(markdown: Markdown): void {
  markdown.core.ruler.push('pages of the site', (state) => {
    state.tokens = withoutOwnContents(state.tokens);
    for (const block of state.tokens) {
      // The output of commands is plain text.
      if (block.type === 'fence' && block.info === 'output') block.info = 'txt';
      nameOutside(block.children ?? [], state.env.path);
    }
    labelCells(state.tokens);
    // Braces in a text are no expressions.
    const raw = (content: string) =>
      Object.assign(new state.Token('html_block', '', 0), { content });
    state.tokens.unshift(raw('<div v-pre>\n'));
    state.tokens.push(raw('</div>\n'));
  });
}

/** Removes the list of the sections of a page, which the site shows beside each page. */
function withoutOwnContents(tokens: readonly Block[]): Block[] {
  const start = tokens.findIndex(({ type, level }) => type === 'bullet_list_open' && level === 0);
  const length = tokens.slice(start).findIndex(({ type }) => type === 'bullet_list_close') + 1;
  const items = tokens.slice(start, start + length).filter(({ type }) => type === 'inline');
  const isContents =
    start >= 0 &&
    items.length > 1 &&
    items.every(({ content }) => /^\[[^\]]+\]\(#[^)]+\)$/.test(content));
  return isContents ? tokens.toSpliced(start, length) : [...tokens];
}

/** A file of the repository that is no page of the site is named, and not linked. */
function nameOutside(inlines: readonly Inline[], page: string): void {
  let isOutside = false;
  for (const token of inlines) {
    if (token.type === 'link_open') {
      isOutside = leavesSite(page, token.attrGet('href') ?? '');
      if (isOutside) token.attrs = [['title', 'in the repository']];
    }
    if (isOutside && token.tag === 'a') token.tag = 'span';
    if (token.type === 'link_close') isOutside = false;
  }
}

/**
 * Tables of many columns become lists on a phone, where each cell begins with the title of its column. Names in cells
 * may be broken where they have a separator.
 */
function labelCells(tokens: readonly Block[]): void {
  let head: Block | undefined;
  let titles: string[] = [];
  let column = 0;
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'thead_open') [head, titles] = [token, []];
    if (token.type === 'tr_open') column = 0;
    if (token.type === 'th_open') titles.push(tokens[at + 1]!.content);
    if (token.type === 'thead_close' && titles.length >= columnsMin) {
      head!.attrSet('class', 'many-columns');
    }
    if (token.type !== 'td_open') continue;
    token.attrSet('data-title', titles[column++] ?? '');
    for (const inline of tokens[at + 1]!.children ?? []) {
      if (inline.type !== 'code_inline') continue;
      inline.type = 'html_inline';
      inline.content = `<code>${breakable(inline.content)}</code>`;
    }
  }
}

/** Not in limits: the number of columns that a phone has no room for. */
const columnsMin = 3;

const breakable = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/(?<=\w)[_./](?=[A-Za-z])/g, '$&<wbr>');

function leavesSite(page: string, href: string): boolean {
  if (/^(\w+:|#)/.test(href)) return false;
  const target = posix.join(posix.dirname(relative(docs, page)), href.split('#')[0]!);
  return target.startsWith('..');
}
