import {
  type ExpectationResult,
  parsePolicyTest,
  policyOf,
  runPolicyTest,
} from '../../acl/policy-test.ts';
import { describePermission } from '../../model/permission/permission.ts';
import type { LocalCommand } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { createScreen, type Screen } from '../render/screen.ts';
import { oneLine, plural } from '../render/text.ts';
import { readText } from '../text-file.ts';
import { besideOf, understood } from './policy-files.ts';
import { printRules } from './why.ts';

const details = `A test file has the permissions that rules should allow and deny:

  policies = ["web.hcl"]        # files of rules, tested together like the policies of a token
  allow    = ["service:write web", "namespace:read-job default"]
  deny     = ["operator:write"]
  namespace "team" {            # tested in another namespace
    deny = ["service:read web"]
  }

"rules" contains rules in the file itself; default = "allow" sets the decision where no rule
applies. Needs no agent. Exit code 1 if an expectation is not met.`;

export const aclPolicyTest: LocalCommand = {
  words: ['acl', 'policy', 'test'],
  summary: 'Test rules against the permissions that they should allow and deny.',
  definition: {
    arguments: [
      { name: 'FILE', kind: 'file', isRequired: true, description: 'The file of expectations.' },
    ],
    details,
  },
  async runLocally(environment, [path], options) {
    const text = await readText({ environment }, path!, 'expectations');
    const test = understood(path!, () => parsePolicyTest(text));
    const texts = new Map<string, string>();
    if (test.rules !== undefined) texts.set(path!, test.rules);
    for (const named of test.policies) {
      const file = besideOf(path!, named);
      texts.set(file, await readText({ environment }, file, 'rules'));
    }
    if (texts.size === 0) throw new CliError(`${path} names no policies and has no rules.`);
    for (const [file, rules] of texts) understood(file, () => policyOf(file, rules));
    const results = runPolicyTest(test, texts);
    const failed = results.filter(({ met }) => !met);
    const { stdout } = environment;
    if (options.flag('json')) {
      await stdout.write(`${JSON.stringify(results.map(shown), null, 2)}\n`);
    } else {
      await print(createScreen(stdout, stdout.isTerminal && !options.flag('noColor')), results);
    }
    return failed.length === 0 ? exitCodes.ok : exitCodes.error;
  },
};

const shown = ({ line, expected, met, permission, explanation }: ExpectationResult) => {
  const { Parts: _, ...why } = explanation;
  return {
    Line: line,
    Expected: expected,
    Met: met,
    ...why,
    Permission: describePermission(permission),
  };
};

async function print(screen: Screen, results: readonly ExpectationResult[]): Promise<void> {
  const { green, red, bold } = screen.colors;
  for (const { met, expected, line, explanation } of results) {
    const mark = met ? green('ok') : red('FAILED');
    await screen.line(`${mark}  line ${line}: ${expected} ${oneLine(explanation.Permission)}`);
    if (met) continue;
    await screen.line(`    ${explanation.Reason}`);
    await printRules(screen, explanation.Rules);
    if (explanation.Missing !== '') await screen.line(`  Missing: ${oneLine(explanation.Missing)}`);
    await screen.line();
  }
  const failed = results.filter(({ met }) => !met).length;
  const total = plural(results.length, 'expectation');
  await screen.line(bold(failed === 0 ? `${total} met.` : `${failed} of ${total} not met.`));
}
