import { expandBlocks } from '../hcl/expand-blocks.ts';
import { parseJsonBody } from '../hcl/json.ts';
import { parseHcl } from '../hcl/parse.ts';
import { Source } from '../hcl/source.ts';
import { type RulesLimits, rulesLimits } from './limits.ts';
import { shapeOf } from './resources.ts';
import type { Rules } from './rule.ts';
import { RuleReader } from './rule-reader.ts';

/**
 * Policy rules in HCL or JSON. HCL1's blocks on one line are understood. An empty text has no
 * rules, and is valid. Source: docs/behaviour/access-control.md#how-rules-are-read.
 * @throws HclError with every fault there is, each with its line and column
 */
export function parseRules(text: string, options: Partial<RulesLimits> = {}): Rules {
  const limits: RulesLimits = { ...rulesLimits, ...options };
  const { textLengthMax, faultsMax } = limits;
  // No HCL begins with a brace, so this is what the writer meant; the faults are named accordingly.
  const written = /^\uFEFF?\s*\{/.test(text)
    ? parseJsonBody(text, { textLengthMax, faultsMax })
    : parseHcl(text, { textLengthMax, faultsMax, hcl1Blocks: true });
  const reader = new RuleReader(new Source(text), limits);
  return reader.read(expandBlocks(written, shapeOf('top')));
}
