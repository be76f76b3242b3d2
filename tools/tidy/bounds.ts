/**
 * Bounds and times of the product live in files `limits.ts` and folders `limits/`. A constant that is no such
 * bound, since a protocol fixes it, has a comment with "Not in limits:" and the reason.
 */
import ts from 'typescript';
import { faultsOfNodes, type Rule } from './rule.ts';

const boundName = /^[a-z]\w*(?:Ms|Seconds|Max|Most|Min|Bytes|Kept)$/;
/** Units (`src/base/units.ts`). */
const unitName =
  /^(?:second|minute|hour|day|week|year)Ms$|^(?:minute|hour|day|week)Seconds$|^(?:ki|me|gi)bibyte$/;
const excuse = /Not in limits: \S/;
const timerCalls = new Set(['after', 'delay', 'setTimeout', 'setInterval']);

const looksAt = (path: string): boolean =>
  path.startsWith('src/') &&
  !/\.(?:test|test-helper)\.ts$/.test(path) &&
  !/\/limits(?:\.ts$|\/)/.test(path);

export const bounds: Rule = {
  name: 'bounds',
  prepare: () => (source) => {
    if (!looksAt(source.path)) return [];
    return faultsOfNodes(source, (node) => {
      const bound = boundOf(node);
      if (bound === undefined || isExcused(node, source.text)) return undefined;
      return `${bound} is a bound or a time: move it to limits.ts, or say why not ("Not in limits: …")`;
    });
  },
};

function boundOf(node: ts.Node): string | undefined {
  if (ts.isCallExpression(node)) {
    const literal = node.arguments.find((argument) => isNumber(argument));
    const isTimer = timerCalls.has(lastName(node.expression) ?? '');
    return isTimer && literal !== undefined ? literal.getText() : undefined;
  }
  const isConstant =
    ts.isVariableDeclaration(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isPropertyAssignment(node);
  if (!isConstant || node.initializer === undefined || !isNumber(node.initializer))
    return undefined;
  const name = node.name.getText().replace(/^#/, '');
  return boundName.test(name) && !unitName.test(name) ? name : undefined;
}

function lastName(node: ts.Expression): string | undefined {
  if (ts.isIdentifier(node)) return node.text;
  return ts.isPropertyAccessExpression(node) ? node.name.text : undefined;
}

/** A number that is written out and is not 0, or a product or sum with such a number. */
function isNumber(node: ts.Expression): boolean {
  if (ts.isNumericLiteral(node)) return Number(node.text) !== 0;
  if (ts.isParenthesizedExpression(node)) return isNumber(node.expression);
  return ts.isBinaryExpression(node) && isConstant(node.left) && isConstant(node.right);
}

function isConstant(node: ts.Expression): boolean {
  if (ts.isNumericLiteral(node)) return true;
  if (ts.isIdentifier(node)) return unitName.test(node.text);
  if (ts.isParenthesizedExpression(node)) return isConstant(node.expression);
  return ts.isBinaryExpression(node) && isConstant(node.left) && isConstant(node.right);
}

/** A comment before the node, or before the statement or the group of constants that it stands in. */
function isExcused(node: ts.Node, text: string): boolean {
  for (let at = node; !ts.isSourceFile(at); at = at.parent) {
    const comments = ts.getLeadingCommentRanges(text, at.getFullStart()) ?? [];
    if (comments.some(({ pos, end }) => excuse.test(text.slice(pos, end)))) return true;
    if (ts.isStatement(at) || ts.isClassElement(at)) return false;
  }
  return false;
}
