/**
 * Tables of data, which the rules of length leave out. A table is an array or object literal of ten lines
 * or more that holds only constants, names and calls of functions with these: nothing that runs later,
 * nothing that is computed or chosen.
 */
import ts from 'typescript';
import { lineOf, type Source } from './rule.ts';

const linesMin = 10;

const leaves = new Set([
  ts.SyntaxKind.Identifier,
  ts.SyntaxKind.StringLiteral,
  ts.SyntaxKind.NumericLiteral,
  ts.SyntaxKind.BigIntLiteral,
  ts.SyntaxKind.NoSubstitutionTemplateLiteral,
  ts.SyntaxKind.RegularExpressionLiteral,
  ts.SyntaxKind.TrueKeyword,
  ts.SyntaxKind.FalseKeyword,
  ts.SyntaxKind.NullKeyword,
]);

function isData(node: ts.Node): boolean {
  if (leaves.has(node.kind)) return true;
  if (ts.isArrayLiteralExpression(node)) return node.elements.every(isData);
  if (ts.isObjectLiteralExpression(node)) return node.properties.every(isDataProperty);
  if (ts.isCallExpression(node)) return isName(node.expression) && node.arguments.every(isData);
  if (ts.isNewExpression(node)) {
    return isName(node.expression) && (node.arguments ?? []).every(isData);
  }
  if (ts.isSpreadElement(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) {
    return isData(node.expression);
  }
  if (ts.isPrefixUnaryExpression(node)) return isData(node.operand);
  return isName(node);
}

const isDataProperty = (property: ts.ObjectLiteralElementLike): boolean =>
  ts.isShorthandPropertyAssignment(property) ||
  (ts.isPropertyAssignment(property) && isData(property.initializer)) ||
  (ts.isSpreadAssignment(property) && isData(property.expression));

function isName(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return isName(node.expression);
  return ts.isIdentifier(node);
}

/** How many lines below `node` belong to tables of data, but for their first and last ones. */
export function linesOfTables(source: Source, node: ts.Node): number {
  const isLiteral = ts.isArrayLiteralExpression(node) || ts.isObjectLiteralExpression(node);
  if (isLiteral && isData(node)) {
    const first = lineOf(source, node.getStart(source.tree));
    const lines = lineOf(source, node.getEnd()) - first + 1;
    return lines >= linesMin ? lines - 2 : 0;
  }
  let sum = 0;
  ts.forEachChild(node, (child) => {
    sum += linesOfTables(source, child);
  });
  return sum;
}
