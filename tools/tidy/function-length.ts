/**
 * A function fits a screen. Tables of data (`data-tables.ts`) do not count, and neither do the functions
 * that are given to `describe`: they only gather tests.
 */
import ts from 'typescript';
import { linesOfTables } from './data-tables.ts';
import {
  calledFunction,
  type FunctionWithBody,
  faultsOfNodes,
  isFunctionWithBody,
  lineOf,
  nameOfFunction,
  type Rule,
} from './rule.ts';

const linesMax = 70;

export const functionLength: Rule = {
  name: 'function-length',
  prepare: () => (source) =>
    faultsOfNodes(source, (node) => {
      if (!isFunctionWithBody(node) || isGroupOfTests(node)) return undefined;
      const first = lineOf(source, node.getStart(source.tree));
      const lines = lineOf(source, node.getEnd()) - first + 1;
      if (lines <= linesMax) return undefined;
      const counted = lines - linesOfTables(source, node.body);
      if (counted <= linesMax) return undefined;
      return `${nameOfFunction(node)} has ${counted} lines: at most ${linesMax}`;
    }),
};

const isGroupOfTests = ({ parent }: FunctionWithBody): boolean =>
  ts.isCallExpression(parent) && calledFunction(parent) === 'describe';
