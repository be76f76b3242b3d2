/**
 * `npm run docs`: writes every file of the checkout that is made from the code, and the site of the
 * documentation (`site/`). A test of each file says when it is old.
 */
import { runStep } from './steps.ts';

const tools = [
  'command-list',
  'job-reference',
  'job-file-reference',
  'config-reference',
  'limits-reference',
  'agent-configuration-reference',
  'command-reference',
  'api-reference',
  'metrics-reference',
  'site/build',
];

for (const tool of tools) {
  const { exitCode } = await runStep({ title: tool, command: [`tools/${tool}.ts`] });
  if (exitCode !== 0) process.exitCode = exitCode;
}
