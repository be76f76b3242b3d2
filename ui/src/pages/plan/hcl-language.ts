/** The colours of job files. */
import { indentService, StreamLanguage, type StringStream } from '@codemirror/language';

interface State {
  /** Inside of a heredoc: its mark. */
  heredoc: string | undefined;
  isComment: boolean;
  /** Inside of quotes, with as many braces of a template open. */
  text: readonly number[];
  /** The next word begins a statement. */
  isStart: boolean;
}

export const hcl = StreamLanguage.define<State>({
  name: 'hcl',
  startState: () => ({ heredoc: undefined, isComment: false, text: [], isStart: true }),
  copyState: (state) => ({ ...state }),
  token(stream, state) {
    if (state.heredoc !== undefined) return inHeredoc(stream, state);
    if (state.isComment) return inComment(stream, state);
    if (stream.sol()) {
      state.isStart = true;
      // A quoted text ends with its line.
      state.text = [];
    }
    if (state.text.at(-1) === 0) return inText(stream, state);
    return outside(stream, state);
  },
  languageData: {
    commentTokens: { line: '#', block: { open: '/*', close: '*/' } },
    closeBrackets: { brackets: ['(', '[', '{', '"'] },
    indentOnInput: /^\s*[\])}]$/,
  },
});

/** A level deeper after an open bracket, and back before a closing one. */
export const hclIndent = indentService.of((context, at) => {
  const line = context.lineAt(at, 1);
  // Where a line is about to be broken, its first half is the line above.
  let before = context.lineAt(at, -1);
  if (before.from === line.from) {
    do {
      if (before.from === 0) return 0;
      before = context.lineAt(before.from - 1, -1);
    } while (before.text.trim() === '');
  }
  const opens = /[[({]$/.test(before.text.replace(/(#|\/\/).*$/, '').trimEnd());
  const closes = /^\s*[\])}]/.test(line.text);
  const now = context.lineIndent(before.from, -1);
  return Math.max(0, now + (opens ? context.unit : 0) - (closes ? context.unit : 0));
});

function outside(stream: StringStream, state: State): string | null {
  if (stream.eatSpace()) return null;
  if (stream.match(/^(?:#|\/\/).*/)) return 'comment';
  if (stream.match('/*')) {
    state.isComment = true;
    return inComment(stream, state);
  }
  const heredoc = stream.match(/^<<-?([\p{L}_][\p{L}\p{N}_-]*)/u);
  if (heredoc && heredoc !== true) {
    state.heredoc = heredoc[1];
    stream.skipToEnd();
    return 'string';
  }
  if (stream.eat('"')) {
    state.text = [...state.text, 0];
    return 'string';
  }
  const isStart = state.isStart;
  state.isStart = false;
  if (stream.match(/^\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/)) return 'number';
  if (stream.match(/^[\p{L}_][\p{L}\p{N}_-]*/u)) {
    const word = stream.current();
    if (/^(?:true|false|null)$/.test(word)) return 'atom';
    if (isStart) return stream.match(/^\s*=/, false) ? 'propertyName' : 'keyword';
    return stream.match(/^\(/, false) ? 'variableName.function' : 'variableName';
  }
  const char = stream.next();
  if (char === '{' || char === '}') {
    if (state.text.length > 0) {
      const braces = state.text.at(-1)! + (char === '{' ? 1 : -1);
      state.text = [...state.text.slice(0, -1), braces];
    } else state.isStart = true;
  }
  return '[](){}'.includes(char ?? ' ') ? 'bracket' : 'operator';
}

function inText(stream: StringStream, state: State): string {
  while (!stream.eol()) {
    if (stream.match(/^[$%]\{/)) {
      state.text = [...state.text.slice(0, -1), 1];
      return 'string';
    }
    if (stream.eat('\\')) stream.next();
    else if (stream.next() === '"') {
      state.text = state.text.slice(0, -1);
      return 'string';
    }
  }
  return 'string';
}

function inHeredoc(stream: StringStream, state: State): string {
  if (stream.sol() && stream.string.trim() === state.heredoc) state.heredoc = undefined;
  stream.skipToEnd();
  return 'string';
}

function inComment(stream: StringStream, state: State): string {
  if (stream.match(/^.*?\*\//)) state.isComment = false;
  else stream.skipToEnd();
  return 'comment';
}
