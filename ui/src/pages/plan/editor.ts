/** The editor of job files, which is loaded when it is needed. */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import {
  bracketMatching,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension, Prec } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { useStrictStyles } from '../../strict/styles.ts';
import type { Fault, Format } from './check.ts';
import { complete } from './completion.ts';
import { hcl, hclIndent } from './hcl-language.ts';

export interface Editor {
  /** Replaces the whole text, as one step that can be undone. */
  setText(text: string): void;
  setFormat(format: Format): void;
  setFaults(faults: readonly Fault[]): void;
  goTo(fault: Fault): void;
  focus(): void;
  destroy(): void;
}

interface Options {
  readonly text: string;
  readonly format: Format;
  readonly changed: (text: string) => void;
  /** Ctrl-Enter. */
  readonly submit: () => void;
}

const languages: Readonly<Record<Format, Extension>> = {
  hcl: [hcl, hclIndent, hcl.data.of({ autocomplete: complete })],
  json: json(),
};

/** The class of a token by the name of its tag. */
const classes: Readonly<Record<string, string>> = {
  comment: 'cm-comment',
  string: 'cm-string',
  number: 'cm-literal',
  bool: 'cm-literal',
  null: 'cm-literal',
  atom: 'cm-literal',
  keyword: 'cm-block',
  propertyName: 'cm-name',
  'function(variableName)': 'cm-function',
};
const colours: Parameters<typeof syntaxHighlighting>[0] = {
  style: (tags) => tags.map((tag) => classes[String(tag)]).find((one) => one !== undefined) ?? null,
};

const look = EditorView.theme({
  '.cm-comment': { color: 'var(--text-3)', fontStyle: 'italic' },
  '.cm-string': { color: 'var(--ok)' },
  '.cm-literal': { color: 'var(--info)' },
  '.cm-block': { color: 'var(--accent-text)', fontWeight: '600' },
  '.cm-name': { color: 'var(--accent-text)' },
  '.cm-function': { color: 'var(--warn)' },
  '&': { backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: 'var(--size-m)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'var(--mono)',
    lineHeight: '1.6',
    minHeight: '320px',
    maxHeight: '68vh',
  },
  '.cm-content': { caretColor: 'var(--accent-text)', paddingBlock: '8px' },
  '.cm-cursor': { borderLeftColor: 'var(--accent-text)', borderLeftWidth: '2px' },
  '.cm-gutters': {
    backgroundColor: 'var(--sunken)',
    color: 'var(--text-3)',
    borderRight: '1px solid var(--border)',
  },
  '.cm-activeLine, .cm-activeLineGutter': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 6%, transparent)',
  },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'color-mix(in srgb, var(--accent) 25%, transparent)' },
  '.cm-selectionMatch': { backgroundColor: 'var(--warn-soft)' },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--accent-soft)',
    outline: '1px solid var(--accent)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    border: '1px solid var(--border-strong)',
    borderRadius: 'var(--radius)',
    boxShadow: 'var(--shadow)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected] .cm-completionDetail': {
    color: 'var(--on-accent)',
  },
  '.cm-completionDetail': { color: 'var(--text-3)', fontStyle: 'normal' },
  '.cm-completionInfo': { maxWidth: '320px', padding: '6px 10px', fontFamily: 'var(--font)' },
  '.cm-diagnostic': { fontFamily: 'var(--font)', padding: '6px 10px' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad-solid)' },
  '.cm-panels': {
    backgroundColor: 'var(--sunken)',
    color: 'var(--text)',
    borderColor: 'var(--border)',
  },
  '.cm-textfield': {
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--border-control)',
    color: 'var(--text)',
  },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--border-strong)',
    color: 'var(--text)',
  },
});

/**
 * A selection that is typed over is replaced here: a browser gives what it inserts in its place a `style` attribute, which
 * the content security policy forbids.
 */
const replaceSelected = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { data, inputType, isComposing } = event;
    const selected = document.getSelection();
    if (inputType !== 'insertText' || data === null || isComposing || !selected?.rangeCount) {
      return false;
    }
    // The selection of the browser may be newer than that of the editor.
    const range = selected.getRangeAt(0);
    if (!view.contentDOM.contains(range.commonAncestorContainer)) return false;
    const from = view.posAtDOM(range.startContainer, range.startOffset);
    const to = view.posAtDOM(range.endContainer, range.endOffset);
    if (from === to || view.state.selection.ranges.length > 1) return false;
    event.preventDefault();
    const insert = () =>
      view.state.update({
        changes: { from, to, insert: data },
        selection: { anchor: from + data.length },
        userEvent: 'input.type',
        scrollIntoView: true,
      });
    const isHandled = view.state
      .facet(EditorView.inputHandler)
      .some((handle) => handle(view, from, to, data, insert));
    if (!isHandled) view.dispatch(insert());
    return true;
  },
});

const basics: readonly Extension[] = [
  lineNumbers(),
  highlightActiveLineGutter(),
  highlightSpecialChars({ addSpecialChars: /[\u202a-\u202e\u2066-\u2069]/g }),
  history(),
  drawSelection(),
  indentUnit.of('  '),
  EditorState.tabSize.of(2),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  autocompletion({ icons: false }),
  highlightActiveLine(),
  highlightSelectionMatches(),
  lintGutter(),
  replaceSelected,
  look,
  syntaxHighlighting(colours),
  EditorView.contentAttributes.of({
    'aria-label': 'Job file',
    spellcheck: 'false',
    tabindex: '0',
  }),
  keymap.of([
    ...closeBracketsKeymap,
    ...defaultKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...completionKeymap,
    indentWithTab,
  ]),
];

export function createEditor(
  parent: HTMLElement,
  { text, format, changed, submit }: Options,
): Editor {
  useStrictStyles();
  const language = new Compartment();
  const submitted = (): boolean => {
    submit();
    return true;
  };
  const heard: readonly Extension[] = [
    Prec.high(keymap.of([{ key: 'Mod-Enter', run: submitted }])),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) changed(update.state.doc.toString());
    }),
  ];
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [...basics, language.of(languages[format]), ...heard],
    }),
  });
  return {
    setText(next) {
      if (next === view.state.doc.toString()) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
    },
    setFormat: (next) => view.dispatch({ effects: language.reconfigure(languages[next]) }),
    setFaults(faults) {
      const end = view.state.doc.length;
      const marks = faults.flatMap(({ message, from, to }) =>
        from === undefined
          ? []
          : [
              {
                from: Math.min(from, end),
                to: Math.min(Math.max(to ?? from, from), end),
                severity: 'error' as const,
                message,
              },
            ],
      );
      view.dispatch(setDiagnostics(view.state, marks));
    },
    goTo({ from = 0 }) {
      const anchor = Math.min(from, view.state.doc.length);
      view.dispatch({
        selection: { anchor },
        effects: EditorView.scrollIntoView(anchor, { y: 'center' }),
      });
      view.focus();
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}
