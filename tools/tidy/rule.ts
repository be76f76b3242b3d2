/** The types that all rules of `tools/tidy.ts` share, and small questions about syntax trees. */
import ts from 'typescript';

/** A file as a rule sees it. */
export interface Source {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
}

export interface Fault {
  readonly line: number;
  /** A sentence without its full stop. */
  readonly message: string;
}

/** The whole repository, for rules that compare files. */
export interface Project {
  /** The text of every file that the rules look at, by its path. */
  readonly texts: ReadonlyMap<string, string>;
}

export interface Rule {
  /** The word with which its faults begin. */
  readonly name: string;
  /** Called once; the function that it returns is called for each file. */
  prepare(project: Project): (source: Source) => readonly Fault[];
}

export function parseSource(path: string, text: string): Source {
  const isComponent = path.endsWith('.svelte');
  const code = isComponent ? scriptsOf(text) : text;
  const name = isComponent ? `${path}.ts` : path;
  return { path, text, tree: ts.createSourceFile(name, code, ts.ScriptTarget.Latest, true) };
}

/** The scripts of a component, at their places: everything else is blank. */
function scriptsOf(text: string): string {
  let end = 0;
  let code = '';
  for (const { index, 0: whole, 1: script = '' } of text.matchAll(
    /<script[^>]*>([\s\S]*?)<\/script>/g,
  )) {
    const start = index + whole.indexOf(script, whole.indexOf('>'));
    code += blank(text.slice(end, start)) + script;
    end = start + script.length;
  }
  return code + blank(text.slice(end));
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

export const lineOf = ({ tree }: Source, position: number): number =>
  tree.getLineAndCharacterOfPosition(position).line + 1;

/** Calls `visit` with every node below `node`, parents first. */
export function forEachNode(node: ts.Node, visit: (node: ts.Node) => void): void {
  ts.forEachChild(node, (child) => {
    visit(child);
    forEachNode(child, visit);
  });
}

/** A fault for each node of a file in which `find` sees something wrong. */
export function faultsOfNodes(
  source: Source,
  find: (node: ts.Node) => string | undefined,
): readonly Fault[] {
  const faults: Fault[] = [];
  forEachNode(source.tree, (node) => {
    const message = find(node);
    if (message !== undefined) {
      faults.push({ line: lineOf(source, node.getStart(source.tree)), message });
    }
  });
  return faults;
}

export type FunctionWithBody = ts.FunctionLikeDeclaration & { readonly body: ts.Node };

export const isFunctionWithBody = (node: ts.Node): node is FunctionWithBody =>
  ts.isFunctionLike(node) && 'body' in node && node.body !== undefined;

/** The name that a reader would give the function. */
export function nameOfFunction(node: ts.SignatureDeclaration): string {
  if (node.name !== undefined) return node.name.getText();
  const { parent } = node;
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) {
    return parent.name.getText();
  }
  return ts.isConstructorDeclaration(node) ? 'constructor' : 'a function without a name';
}

/** `test` of `test.each(rows)('title', …)`, of `test.skipIf(…)('title', …)` and of `test('title', …)`. */
export function calledFunction(call: ts.CallExpression): string | undefined {
  let callee: ts.Expression = call.expression;
  for (;;) {
    if (ts.isIdentifier(callee)) return callee.text;
    if (ts.isPropertyAccessExpression(callee) || ts.isCallExpression(callee)) {
      callee = callee.expression;
    } else if (ts.isTaggedTemplateExpression(callee)) {
      callee = callee.tag;
    } else {
      return undefined;
    }
  }
}

/** The expression within parentheses, `as` and `satisfies`. */
export function unwrapped(expression: ts.Expression): ts.Expression {
  let inner = expression;
  while (
    ts.isParenthesizedExpression(inner) ||
    ts.isAsExpression(inner) ||
    ts.isSatisfiesExpression(inner)
  ) {
    inner = inner.expression;
  }
  return inner;
}
