/** A private method names the object of its verb: `#takeReport` and not `#take`. */
import ts from 'typescript';
import { faultsOfNodes, type Rule } from './rule.ts';

/** Verbs that say nothing without their object, and words that are no verb. */
const bare = new Set(
  (
    'act add append ask attach await call carry change check choose collect count cut decide detach do ' +
    'drop enter expect fail fill find follow forget gather get give go hand hold join judge keep know ' +
    'launch learn leave look make meet move note pass place prepare put raise react receive refuse ' +
    'register remember remove reserve resolve save set settle strike submit take tell turn update weigh ' +
    'after as done either ended failed forgotten found gone has here hides holds in inside joined judged ' +
    'known lost merged named noted of opened otherwise over reached refused removed replaced running ' +
    'settled shown soon struck taken there through told until untold whatever whole within without'
  ).split(' '),
);

export const bareMethods: Rule = {
  name: 'bare-methods',
  prepare: () => (source) =>
    faultsOfNodes(source, (node) => {
      if (!ts.isMethodDeclaration(node) && !isFunctionField(node)) return undefined;
      const name = node.name.getText();
      const isPrivate =
        name.startsWith('#') ||
        node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword) === true;
      if (!isPrivate || !bare.has(name.replace(/^#/, ''))) return undefined;
      return `${name} does not say of what: name its object`;
    }),
};

const isFunctionField = (node: ts.Node): node is ts.PropertyDeclaration =>
  ts.isPropertyDeclaration(node) &&
  node.initializer !== undefined &&
  (ts.isArrowFunction(node.initializer) || ts.isFunctionExpression(node.initializer));
