/** Nothing is spread that is written out on the spot: `{ ...{ a, b }, c }` is `{ a, b, c }`. */
import ts from 'typescript';
import { faultsOfNodes, forEachNode, parseSource, type Rule, unwrapped } from './rule.ts';

type Literal = ts.ArrayLiteralExpression | ts.ObjectLiteralExpression;

export const spreadLiterals: Rule = {
  name: 'spread-literals',
  prepare: () => (source) =>
    faultsOfNodes(source, (node) => {
      const literal = spreadLiteral(node);
      if (literal === undefined) return undefined;
      const noun = ts.isObjectLiteralExpression(literal) ? 'an object' : 'an array';
      return `${noun} literal is spread: write its parts where they are wanted (tidy --fix does)`;
    }),
};

function spreadLiteral(node: ts.Node): Literal | undefined {
  if (!ts.isSpreadElement(node) && !ts.isSpreadAssignment(node)) return undefined;
  const spread = unwrapped(node.expression);
  const isLiteral = ts.isObjectLiteralExpression(spread) || ts.isArrayLiteralExpression(spread);
  return isLiteral ? spread : undefined;
}

/** The text with the parts of such literals where these stood. The formatter has to see it. */
export function withoutSpreadLiterals(path: string, text: string): string {
  let fixed = text;
  // The outermost ones at a time: there may be others within.
  for (;;) {
    const { tree } = parseSource(path, fixed);
    const edits: { readonly start: number; readonly end: number; readonly parts: string }[] = [];
    forEachNode(tree, (node) => {
      const literal = spreadLiteral(node);
      const start = node.getStart(tree);
      if (literal === undefined || start < (edits.at(-1)?.end ?? 0)) return;
      const parts = fixed.slice(literal.getStart(tree) + 1, literal.getEnd() - 1).trim();
      const after = /^\s*,/.exec(fixed.slice(node.getEnd()))?.[0].length ?? 0;
      const end = node.getEnd() + (parts === '' ? after : 0);
      edits.push({ start, end, parts: parts.replace(/,$/, '') });
    });
    if (edits.length === 0) return fixed;
    for (const { start, end, parts } of edits.reverse()) {
      fixed = fixed.slice(0, start) + parts + fixed.slice(end);
    }
  }
}
