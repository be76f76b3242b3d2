/** A job of two equal tasks, `app` and `side`, with the actions `greet` and `ask`. */
export const execJob = (id: string, args: readonly string[]) => ({
  ID: id,
  Type: 'batch',
  TaskGroups: [
    {
      Name: 'main',
      RestartPolicy: { Attempts: 0, Mode: 'fail' },
      EphemeralDisk: { SizeMB: 150 },
      Tasks: ['app', 'side'].map((Name) => ({
        Name,
        Driver: 'raw_exec',
        Config: { command: '/bin/sleep', args },
        Env: { COLOR: 'green' },
        Resources: { CPU: 20, MemoryMB: 16 },
        Actions: [
          { Name: 'greet', Command: '/bin/sh', Args: ['-c', 'echo hello from $ROSTER_TASK_NAME'] },
          { Name: 'ask', Command: 'sh', Args: ['-c', 'read name; echo hello $name; exit 4'] },
        ],
      })),
    },
  ],
});
