import { argument, type LocalCommand } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';

export const nodePoolExample = `# Create it with "roster node pool apply FILE".
node_pool "example" {
  description = "Machines of the example team"

  meta {
    owner = "example"
  }

  # How nodes of the pool are chosen: binpack or spread. Default: as for the whole cluster.
  # scheduler_config {
  #   scheduler_algorithm = "spread"
  # }
}
`;

export const nodePoolInit: LocalCommand = {
  words: ['node', 'pool', 'init'],
  summary: 'Write an example of a node pool file.',
  definition: {
    arguments: [argument('FILE', 'The file to write; pool.hcl by default.', 'file', false)],
    details: 'An existing file is never overwritten.',
  },
  async runLocally({ stdout, writeFile }, [file = 'pool.hcl']) {
    try {
      await writeFile(file, nodePoolExample, 'new');
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const reason = code === 'EEXIST' ? 'it exists already' : message;
      throw new CliError(`"${file}" cannot be written: ${reason}.`);
    }
    await stdout.write(
      `${file} is written. Create the pool with "roster node pool apply ${file}".\n`,
    );
    return exitCodes.ok;
  },
};
