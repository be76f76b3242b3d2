/** A function has at most four parameters. The columns of a table of tests (`test.each`) do not count. */
import ts from 'typescript';
import { calledFunction, faultsOfNodes, nameOfFunction, type Rule } from './rule.ts';

const parametersMax = 4;

export const parameters: Rule = {
  name: 'parameters',
  prepare: () => (source) =>
    faultsOfNodes(source, (node) => {
      if (!ts.isFunctionLike(node) || ts.isJSDocSignature(node)) return undefined;
      const count = node.parameters.filter(({ name }) => name.getText() !== 'this').length;
      if (count <= parametersMax || isRowOfTests(node)) return undefined;
      return `${nameOfFunction(node)} has ${count} parameters: at most ${parametersMax}, then an object with names`;
    }),
};

const groups = new Set(['test', 'it', 'describe']);

const isRowOfTests = ({ parent }: ts.Node): boolean =>
  ts.isCallExpression(parent) && groups.has(calledFunction(parent) ?? '');
