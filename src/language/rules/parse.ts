import { expandBlocks } from '../hcl/expand-blocks.ts';
import { parseJsonBody } from '../hcl/json.ts';
import { parseHcl } from '../hcl/parse.ts';
import { Source } from '../hcl/source.ts';
import { type RulesLimits, rulesLimits } from './limits.ts';
import { shapeOf } from './resources.ts';
import type { Rules } from './rule.ts';
import { RuleReader } from './rule-reader.ts';

/**
 * Parses policy rules in HCL or JSON. Blocks may be on one line, as in HCL1. An empty text is valid and has
 * no rules. Source: docs/behaviour/access-control.md#how-rules-are-read.
 * @throws HclError with every fault
 */
export function parseRules(text: string, options: Partial<RulesLimits> = {}): Rules {
  const limits: RulesLimits = { ...rulesLimits, ...options };
  const { textLengthMax, faultsMax } = limits;
  // No HCL begins with a brace, so the text is meant to be JSON, and its faults are faults of JSON.
  const written = /^\uFEFF?\s*\{/.test(text)
    ? parseJsonBody(text, { textLengthMax, faultsMax })
    : parseHcl(text, { textLengthMax, faultsMax, hcl1Blocks: true });
  const reader = new RuleReader(new Source(text), limits);
  return reader.read(expandBlocks(written, shapeOf('top')));
}
