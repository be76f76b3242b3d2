/** Prints a template in a single form, for tests. */
import type { Command, Operand, Pipeline, Template, TemplateBody, TemplateNode } from './syntax.ts';

export function printTemplate({ body, named }: Template): string {
  const defined = [...named].map(
    ([name, nodes]) => `{{define ${JSON.stringify(name)}}}${bodyText(nodes)}{{end}}`,
  );
  return `${defined.join('')}${bodyText(body)}`;
}

const bodyText = (body: TemplateBody): string => body.map(nodeText).join('');

function nodeText(node: TemplateNode): string {
  switch (node.kind) {
    case 'text':
      return node.text;
    case 'action':
      return `{{${pipelineText(node.pipeline)}}}`;
    case 'break':
    case 'continue':
      return `{{${node.kind}}}`;
    case 'template': {
      const { name, pipeline } = node;
      const argument = pipeline === undefined ? '' : ` ${pipelineText(pipeline)}`;
      return `{{template ${JSON.stringify(name)}${argument}}}`;
    }
    default: {
      const { kind, pipeline, body, otherwise } = node;
      const rest = otherwise.length === 0 ? '' : `{{else}}${bodyText(otherwise)}`;
      return `{{${kind} ${pipelineText(pipeline)}}}${bodyText(body)}${rest}{{end}}`;
    }
  }
}

function pipelineText({ variables, declares, commands }: Pipeline): string {
  const sets = variables.length === 0 ? '' : `${variables.join(', ')} ${declares ? ':=' : '='} `;
  return sets + commands.map(commandText).join(' | ');
}

const commandText = ({ operands }: Command): string => operands.map(operandText).join(' ');

function operandText(operand: Operand): string {
  switch (operand.kind) {
    case 'nil':
      return 'nil';
    case 'dot':
      return '.';
    case 'variable':
    case 'function':
      return operand.name;
    case 'pipeline':
      return `(${pipelineText(operand.pipeline)})`;
    case 'fields': {
      const of = operand.of.kind === 'dot' ? '' : operandText(operand.of);
      return `${of}.${operand.names.join('.')}`;
    }
    case 'literal': {
      const { value } = operand;
      if (typeof value === 'string') return JSON.stringify(value);
      if (typeof value !== 'number') return String(value);
      return `${Object.is(value, -0) ? '-' : ''}${value.toExponential()}`;
    }
  }
}
