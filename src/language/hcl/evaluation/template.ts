import { boolOf, textOf } from '../convert.ts';
import type { HclTemplate, HclTemplatePart } from '../syntax.ts';
import type { Value } from '../value.ts';
import type { Context } from './context.ts';
import { loopOver } from './loop.ts';
import { operandOf } from './operators.ts';

/** The text of a template. A single interpolation is its value itself. */
export function template({ parts }: HclTemplate, context: Context): Value {
  const only = parts.length === 1 ? parts[0]! : undefined;
  if (only?.kind === 'interpolation') return context.value(only.expression);
  return render(parts, context);
}

export function render(parts: readonly HclTemplatePart[], context: Context): string {
  let text = '';
  for (const part of parts) {
    const more = renderPart(part, context);
    context.budget.make(more.length);
    text += more;
  }
  return text;
}

function renderPart(part: HclTemplatePart, context: Context): string {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'interpolation': {
      const { expression } = part;
      return operandOf(
        context.value(expression),
        textOf,
        { name: textNeeded, node: expression },
        context,
      );
    }
    case 'if-directive': {
      const { condition, whenTrue, whenFalse } = part;
      const value = context.value(condition);
      const holds = operandOf(value, boolOf, { name: 'The condition', node: condition }, context);
      return render(holds ? whenTrue : whenFalse, context);
    }
    case 'for-directive': {
      let text = '';
      for (const round of loopOver(part, context)) {
        round.budget.work(1);
        text += render(part.parts, round);
      }
      return text;
    }
  }
}

const textNeeded = 'A value within a text';
